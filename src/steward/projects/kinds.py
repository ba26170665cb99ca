"""The kinds of things that a project as code consists of: each is read from a file, checked, put in place and removed."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Final
from urllib.parse import quote

from pydantic import ValidationError

from steward.agents import Agent, agent_from_document, agent_to_yaml
from steward.agents.composed import ComposedAgents
from steward.broker import (
    DEFAULT_PRESET,
    PRESETS,
    BudgetLimits,
    PeriodBudget,
    PeriodBudgets,
    Rulebook,
    faults,
)
from steward.connections import Desk, Draft, load_connectors, parse_settings
from steward.core import Invalid, NotFound, Problem, dump_yaml, in_words, mistakes, read_yaml
from steward.definitions import (
    DefinitionStore,
    checked_entry,
    parts_of,
    planned_changes,
    pointer,
    to_entries,
)
from steward.identity import Access, Role
from steward.playbooks import (
    SUBJECT,
    Allowed,
    Card,
    Playbook,
    Playbooks,
    State,
    as_json,
    as_yaml,
    file_text,
    layout_name,
    layout_text,
    read,
    read_layout,
    source_of,
    without_people,
)
from steward.projects.parts import Part
from steward.runs import Json
from steward.store import SecretStore

Expected = Mapping[str, Mapping[str, Part]]
"""What will be there by kind and name, once everything is in place."""
_APPLIED: Final = "Applied from a folder"


class Kind(ABC):
    name: ClassVar[str]
    folder: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = (".yaml", ".yml")
    role: ClassVar[Role] = Role.editor
    """What somebody needs to change it."""

    @abstractmethod
    def part(self, content: Any, path: str = "") -> Part:
        """The part of a content; Invalid says what is wrong with its form."""

    def read(self, path: str, files: Mapping[str, str]) -> Part:
        return self.part(_fields(read_yaml(files[path])), path)

    def files(self, part: Part) -> dict[str, str]:
        return {part.path: dump_yaml(part.content)}

    @abstractmethod
    def present(self, access: Access) -> Iterator[Part]:
        """What the project has of it, as far as the person sees it."""

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:  # noqa: ARG002
        """Invalid where it cannot be put in place; otherwise what somebody should know beforehand."""
        return []

    @abstractmethod
    def put(self, access: Access, part: Part) -> None: ...

    def finish(self, access: Access, parts: list[Part]) -> None:  # noqa: B027
        """What is left to do when everything is in place."""

    @abstractmethod
    def remove(self, access: Access, name: str) -> None: ...


@dataclass(frozen=True)
class ConnectionKind(Kind):
    desk: Desk
    secrets: SecretStore
    name = "connection"
    folder = "connections"
    role = Role.admin

    def part(self, content: Any, path: str = "") -> Part:
        unknown = sorted(content.keys() - {"name", "kind", "settings", "secrets", "hint"})
        if unknown or not all(isinstance(content.get(each), str) for each in ("name", "kind")):
            said = (
                f"a connection has no field {unknown[0]!r}"
                if unknown
                else "name and kind are texts"
            )
            raise Invalid(f"This is not a connection: {said}.")
        if content["kind"] not in load_connectors():
            raise Invalid(
                f"There is no kind of connection {content['kind']!r}. See: steward connections kinds"
            )
        parsed = parse_settings(
            load_connectors().get(content["kind"]), content.get("settings") or {}
        )
        kept = {"name": content["name"], "kind": content["kind"]}
        kept["settings"] = parsed.model_dump(mode="json", exclude_defaults=True)
        kept |= {name: content[name] for name in ("secrets", "hint") if content.get(name)}
        path = path or f"connections/{_file(content['name'])}.yaml"
        return Part(self.name, content["name"], path, kept, kept)

    def present(self, access: Access) -> Iterator[Part]:
        after: str | None = None
        while page := self.desk.documents.listed(access.scope, after):
            for each in page:
                secrets = dict(sorted(each.secrets.items()))
                content = {"name": each.name, "kind": each.kind, "settings": each.settings}
                yield self.part({**content, "secrets": secrets, "hint": each.scope_hint})
            after = page[-1].name

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:  # noqa: ARG002
        self.desk.documents.checked(_draft(part))
        wanted = part.content.get("secrets", {}).values()
        known = {each.name for each in self.secrets.page(access.scope, limit=10_000)}
        return [
            f'The connection "{part.name}" needs the secret "{each}", which this project does not have yet.'
            for each in wanted
            if each not in known
        ]

    def put(self, access: Access, part: Part) -> None:
        documents = self.desk.documents
        try:
            found = documents.named(access.scope, part.name)
        except NotFound:
            documents.create(access, _draft(part))
        else:
            documents.change(access, found.id, found.revision, _draft(part))

    def remove(self, access: Access, name: str) -> None:
        documents = self.desk.documents
        documents.delete(access, documents.named(access.scope, name).id)


def _draft(part: Part) -> Draft:
    given = part.content
    return Draft(
        name=part.name,
        kind=given["kind"],
        settings=given["settings"],
        secrets=given.get("secrets", {}),
        scope_hint=given.get("hint", ""),
    )


@dataclass(frozen=True)
class PolicyKind(Kind):
    """The policy of the project and those of single playbooks; that of the organisation belongs to no project."""

    rulebook: Rulebook
    playbooks: Playbooks
    name = "policy"
    folder = "policies"
    endings = (".cedar",)
    role = Role.admin

    def part(self, content: Any, path: str = "") -> Part:
        name = content["name"]
        return Part(
            self.name, name, path or f"policies/{name}.cedar", content, {"text": content["text"]}
        )

    def read(self, path: str, files: Mapping[str, str]) -> Part:
        name = path.removeprefix("policies/").removesuffix(".cedar")
        if name != "project" and (not name.startswith("playbooks/") or name.count("/") != 1):
            raise Invalid("A policy is policies/project.cedar or policies/playbooks/ID.cedar.")
        return self.part({"name": name, "text": files[path]}, path)

    def files(self, part: Part) -> dict[str, str]:
        return {part.path: part.content["text"]}

    def present(self, access: Access) -> Iterator[Part]:
        slugs = sorted(each.slug for each in self.playbooks.exchange.everything(access))
        for name in ["project", *(f"playbooks/{slug}" for slug in slugs)]:
            found = self.rulebook.current(access.scope, *_level(name)).text
            if found != _unset(name):
                yield self.part({"name": name, "text": found})

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:  # noqa: ARG002
        wrong = faults(part.content["text"])
        if wrong:
            problems = [
                Problem("", f"line {each.line}, column {each.column}: {each.message}")
                for each in wrong
            ]
            raise Invalid(f"This is not a policy: {in_words(problems)}.", problems=problems)
        slug = part.name.partition("/")[2]
        if slug and slug not in expected["playbook"]:
            raise Invalid(f"It is the policy of the playbook {slug!r}, which is not there.")
        return []

    def put(self, access: Access, part: Part) -> None:
        self._save(access, part.name, part.content["text"])

    def remove(self, access: Access, name: str) -> None:
        self._save(access, name, _unset(name))

    def _save(self, access: Access, name: str, text: str) -> None:
        level, subject = _level(name)
        revision = self.rulebook.current(access.scope, level, subject).revision
        self.rulebook.save(access, level, text, revision, subject=subject, message=_APPLIED)


def _level(name: str) -> tuple[str, str | None]:
    return ("project", None) if name == "project" else ("playbook", name.partition("/")[2])


def _unset(name: str) -> str:
    """What counts where nobody wrote a policy."""
    return PRESETS[DEFAULT_PRESET] if name == "project" else ""


@dataclass(frozen=True)
class ToolsKind(Kind):
    """What the project allows its tools."""

    rulebook: Rulebook
    name = "settings"
    folder = "settings"
    role = Role.admin

    def part(self, content: Any, path: str = "") -> Part:
        if content.keys() != {"tools"} or not isinstance(content["tools"], dict):
            raise Invalid("This file has one field `tools`: for each tool what it is allowed.")
        return Part(self.name, "tools", path or "settings/tools.yaml", content, content)

    def present(self, access: Access) -> Iterator[Part]:
        found = dict(self.rulebook.settings(access.scope).tools)
        if found:
            yield self.part({"tools": dict(sorted(found.items()))})

    def put(self, access: Access, part: Part) -> None:
        self._save(access, part.content["tools"])

    def remove(self, access: Access, name: str) -> None:  # noqa: ARG002
        self._save(access, {})

    def _save(self, access: Access, tools: Mapping[str, Any]) -> None:
        revision = self.rulebook.settings(access.scope).revision
        self.rulebook.change_settings(access, revision, tools=tools)


@dataclass(frozen=True)
class AgentKind(Kind):
    agents: ComposedAgents
    name = "agent"
    folder = "agents"

    def part(self, content: Any, path: str = "") -> Part:
        return _agent_part(agent_from_document(content), path)

    def files(self, part: Part) -> dict[str, str]:
        return {part.path: agent_to_yaml(Agent.model_validate(part.content))}

    def present(self, access: Access) -> Iterator[Part]:
        for each in self.agents.listed(access.scope):
            if each.origin == "project":
                yield _agent_part(each.agent)

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:
        coming = {
            name: Agent.model_validate(each.content) for name, each in expected["agent"].items()
        }
        self.agents.checked(access.scope, part.content, coming=coming)
        return []

    def put(self, access: Access, part: Part) -> None:
        agent = Agent.model_validate(part.content)
        self.agents.save(access.scope, access.user_id, part.name, agent, message=_APPLIED, call="")

    def remove(self, access: Access, name: str) -> None:
        self.agents.save(access.scope, access.user_id, name, None, message=_APPLIED, call="")


def _agent_part(agent: Agent, path: str = "") -> Part:
    content = agent.model_dump(mode="json", exclude_defaults=True)
    return Part("agent", agent.name, path or f"agents/{agent.name}.yaml", content, content)


@dataclass(frozen=True)
class DefinitionKind(Kind):
    """Definitions that people confirmed or changed: a file for each table, one for metrics, relationships, questions."""

    store: DefinitionStore
    name = "definitions"
    folder = "definitions"

    def part(self, content: Any, path: str = "") -> Part:
        entries = content.get("entries")
        if content.get("format") != 1 or not isinstance(entries, dict) or not entries:
            raise Invalid(
                "Definitions have `format: 1` and `entries`, as 'steward definitions export' writes them."
            )
        kept = dict(_entry(name, value) for name, value in entries.items())
        groups = sorted({_group(name) for name in kept})
        if len(groups) > 1:
            raise Invalid(
                f"A file has one table, or one of metrics, relationships and questions; not {groups[0]} and {groups[1]}."
            )
        path = path or f"definitions/{quote(groups[0], safe='/ ')}.yaml"
        return Part(self.name, groups[0], path, {"format": 1, "entries": kept}, kept)

    def present(self, access: Access) -> Iterator[Part]:
        groups: dict[str, dict[str, Any]] = {}
        for name, value in to_entries(self.store.current(access.scope).definitions).items():
            groups.setdefault(_group(name), {})[name] = value
        for entries in groups.values():
            yield self.part({"format": 1, "entries": entries})

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:  # noqa: ARG002
        changes = planned_changes(
            self.store.current(access.scope).definitions, part.meaning.items()
        )
        known = self.store.proposed(access.scope, access.user_id).tables
        over = {each.entry: (each.after or {}).get("over") for each in changes}
        later = [each for each in changes if over[each.entry] not in {None, *known}]
        self.store.check(
            access.scope, access.user_id, [each for each in changes if each not in later]
        )
        return [
            f'The definition {each.entry} is over "{over[each.entry]}", which this project does not have yet.'
            for each in later
        ]

    def put(self, access: Access, part: Part) -> None:
        self._save(access, part.name, dict(part.meaning))

    def remove(self, access: Access, name: str) -> None:
        self._save(access, name, {})

    def _save(self, access: Access, group: str, wanted: Mapping[str, Any]) -> None:
        current = self.store.current(access.scope).definitions
        gone: dict[str, Any] = {each: None for each in to_entries(current) if _group(each) == group}
        signed = {name: _signed(access, value) for name, value in wanted.items()}
        changes = planned_changes(current, {**gone, **signed}.items())
        self.store.save(access.scope, access.user_id, changes, message=_APPLIED, call="")


def _entry(name: str, value: Any) -> tuple[str, dict[str, Any]]:
    kept_name, kept = checked_entry(name, _fields(value))
    # Who confirmed it is known to this installation alone.
    return kept_name, {field: each for field, each in kept.items() if field != "by"}


def _signed(access: Access, value: Mapping[str, Any]) -> dict[str, Any]:
    decided = value.get("state") in ("confirmed", "rejected")
    return {**value, "by": access.principal.name} if decided else dict(value)


def _group(entry: str) -> str:
    kind, name = parts_of(entry)[:2]
    return f"tables/{pointer(name)[1:]}" if kind == "tables" else kind


@dataclass(frozen=True)
class PlaybookKind(Kind):
    """Playbooks with their drawings; who owns them and single people they are shared with stay with the installation."""

    playbooks: Playbooks
    name = "playbook"
    folder = "playbooks"

    def part(self, content: Any, path: str = "") -> Part:
        playbook, _ = read(content["yaml"])
        allowed = _reach(playbook.allowed)
        meaning = as_json(without_people(playbook)) | ({"allowed": allowed} if allowed else {})
        meaning |= {"drawing": content["layout"]} if content.get("layout") else {}
        meaning |= {"deployed": True} if content.get("deploy") else {}
        path = path or f"playbooks/{playbook.folder}/{playbook.id}.yaml".replace("//", "/")
        return Part(self.name, playbook.id, path, dict(content), meaning)

    def read(self, path: str, files: Mapping[str, str]) -> Part:
        beside = layout_name(path)
        layout = read_layout(files[beside], beside) if beside in files else None
        drawn = {name: each for name, each in (layout or {}).items() if each}
        return self.part({"yaml": files[path], **({"layout": drawn} if drawn else {})}, path)

    def files(self, part: Part) -> dict[str, str]:
        found = {part.path: part.content["yaml"]}
        drawn = layout_text(part.name, part.content.get("layout"))
        return found if drawn is None else {**found, layout_name(part.path): drawn}

    def present(self, access: Access) -> Iterator[Part]:
        for card in self.playbooks.exchange.everything(access):
            if card.state is State.archived:
                continue
            revision = self.playbooks.library.revision_of(access.scope, card, card.head)
            shared = _reach(Allowed.model_validate({**card.allowed, "users": []}))
            playbook = revision.playbook.model_copy(
                update={"owner": None, "allowed": Allowed(**shared) if shared else None}
            )
            content: dict[str, Any] = {"yaml": file_text(revision.source, playbook)}
            drawn = layout_text(card.slug, revision.layout)
            if drawn is not None:
                content["layout"] = read_layout(drawn, card.slug)
            if card.state is State.active and card.deployed == card.head:
                content["deploy"] = True
            yield self.part(content)

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:
        playbook, text = _bare(part)
        try:
            self.playbooks.library.checked(access, text)
        except Invalid as problem:
            left = [each for each in problem.problems if not _comes(playbook, each, expected)]
            if left or not problem.problems:
                raise Invalid(
                    f"The playbook is not valid: {in_words(left)}.", problems=left
                ) from None
        reach = Allowed(**_reach(playbook.allowed))
        wrong = self.playbooks.people.resolve(access, None, reach)[2]
        if wrong:
            raise Invalid(f"The playbook cannot be shared so: {in_words(wrong)}.", problems=wrong)
        if self._card(access, part.name) is None:
            free = self.playbooks.library.free_slug(access, part.name)
            if free != part.name:
                raise Invalid(f"The id {part.name!r} is taken in this project. Choose another one.")
        named = playbook.owner or (playbook.allowed and playbook.allowed.users)
        said = f'The playbook "{part.name}" names people. Its owner and the people it is shared with stay as they are.'
        return [said] if named else []

    def put(self, access: Access, part: Part) -> None:
        library = self.playbooks.library
        playbook, text = _bare(part)
        layout = part.content.get("layout")
        card = self._card(access, part.name)
        if card is None:
            card = library.create(access, text, message=_APPLIED, layout=layout)
        else:
            if card.state is State.archived:
                card = library.mark(access, card, State.draft, card.armed)
            kept = library.revision_of(access.scope, card, card.head).layout
            drawn = {**(kept or {}), **layout} if layout else None
            card = library.save(access, card.id, card.version, text, message=_APPLIED, layout=drawn)
        wanted = _reach(playbook.allowed)
        if _reach(Allowed.model_validate({**card.allowed, "users": []})) != wanted:
            people = library.with_people(access, card, playbook)
            users = people.allowed.users if people.allowed is not None else []
            owner = people.owner or access.principal.email
            library.share(access, card.id, card.version, Allowed(users=users, **wanted), owner)

    def finish(self, access: Access, parts: list[Part]) -> None:
        """Deploys when all are saved; one that calls another is deployed after it."""
        waiting = [each for each in parts if each.content.get("deploy")]
        while waiting:
            left, first = [], None
            for part in waiting:
                card = self.playbooks.library.get(access, part.name)
                if card.state is State.active and card.deployed == card.head:
                    continue
                try:
                    self.playbooks.deploying.deploy(access, card.id, None, _APPLIED)
                except (Invalid, NotFound) as problem:
                    left.append(part)
                    first = first or problem
            if first is not None and len(left) == len(waiting):
                raise first
            waiting = left

    def remove(self, access: Access, name: str) -> None:
        """Archives it, so that it can be brought back."""
        self.playbooks.deploying.archive(access, self.playbooks.library.get(access, name).id)

    def _card(self, access: Access, slug: str) -> Card | None:
        try:
            return self.playbooks.library.get(access, slug)
        except NotFound:
            return None


def _reach(allowed: Allowed | None) -> dict[str, Any]:
    """Who besides single people sees it."""
    found: dict[str, Any] = {}
    if allowed is not None and allowed.groups:
        found["groups"] = list(allowed.groups)
    if allowed is not None and allowed.everyone:
        found["everyone"] = True
    return found


def _bare(part: Part) -> tuple[Playbook, str]:
    """The playbook, and its text without people."""
    playbook, _ = read(part.content["yaml"])
    text = source_of(part.content["yaml"], playbook) or as_yaml(without_people(playbook))
    return playbook, text


def _comes(playbook: Playbook, problem: Problem, expected: Expected) -> bool:
    """Whether a missing name will be there, as the same folder brings it."""
    _, field, *index = problem.pointer.split("/")
    if field not in {"agents", "connections"} or len(index) != 1:
        return False
    return getattr(playbook, field)[int(index[0])] in expected[field.removesuffix("s")]


@dataclass(frozen=True)
class BudgetKind(Kind):
    """Budgets of the project, its agents and its playbooks; those of people stay with the installation."""

    budgets: PeriodBudgets
    playbooks: Playbooks
    name = "budget"
    folder = "budgets"
    role = Role.admin

    def part(self, content: Any, path: str = "") -> Part:
        try:
            document = PeriodBudget.model_validate(content)
        except ValidationError as error:
            raise Invalid(f"This is not a budget: {in_words(mistakes(error))}.") from None
        if document.kind == "person":
            raise Invalid("Budgets of people stay with the installation. Remove the file.")
        kept = document.model_dump(
            mode="json", exclude_defaults=True, include={"kind", "name", "period", "tokens"}
        )
        kept |= {"usd": _number(document.usd)} if document.usd is not None else {}
        name = "-".join(each for each in (document.kind, document.name, document.period) if each)
        return Part(self.name, name, path or f"budgets/{_file(name)}.yaml", kept, kept)

    def present(self, access: Access) -> Iterator[Part]:
        sight = self.playbooks.people.sight(access)
        for each in self.budgets.listed(access.scope):
            document = each.document
            if document.kind == "person" or (
                document.kind == "flow" and not sight.shows(document.name)
            ):
                continue
            name = document.name
            if name.startswith(SUBJECT):
                try:
                    name = (
                        SUBJECT
                        + self.playbooks.library.get(access, name.removeprefix(SUBJECT)).slug
                    )
                except NotFound:
                    continue
            yield self.part(document.model_copy(update={"name": name}).model_dump(mode="json"))

    def check(self, access: Access, part: Part, expected: Expected) -> list[str]:  # noqa: ARG002
        name = part.content.get("name", "")
        if name.startswith(SUBJECT) and name.removeprefix(SUBJECT) not in expected["playbook"]:
            raise Invalid(f"It is the budget of {name}, which is not there.")
        return []

    def put(self, access: Access, part: Part) -> None:
        document = self._with_id(access, PeriodBudget.model_validate(part.content))
        for each in self.budgets.listed(access.scope):
            if _same(each.document, document):
                limits = BudgetLimits(usd=document.usd, tokens=document.tokens)
                self.budgets.change(access, each.id, limits, each.revision)
                return
        self.budgets.add(access, document)

    def remove(self, access: Access, name: str) -> None:
        (found,) = [each for each in self.present(access) if each.name == name]
        document = self._with_id(access, PeriodBudget.model_validate(found.content))
        for each in self.budgets.listed(access.scope):
            if _same(each.document, document):
                self.budgets.delete(access, each.id, each.revision)

    def _with_id(self, access: Access, document: PeriodBudget) -> PeriodBudget:
        if not document.name.startswith(SUBJECT):
            return document
        card = self.playbooks.library.get(access, document.name.removeprefix(SUBJECT))
        return document.model_copy(update={"name": SUBJECT + card.id})


def _same(one: PeriodBudget, other: PeriodBudget) -> bool:
    return (one.kind, one.name, one.period) == (other.kind, other.name, other.period)


def _number(usd: Decimal) -> Json:
    if usd == usd.to_integral_value():
        return int(usd)
    return float(usd) if Decimal(str(float(usd))) == usd else str(usd)


def _file(name: str) -> str:
    """A name as that of a file, on every file system."""
    return quote(name, safe=" ")


def _fields(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise Invalid("The file must have fields with values.")
    return document
