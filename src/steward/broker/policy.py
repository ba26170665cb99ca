"""Decides by policy what may happen with a call: Cedar texts at three levels, of which the strictest wins.

Every level that has a text must permit a call, else it is denied; a level without a text says nothing.
Where several rules match, in one level or in several, the strictest verdict counts: so a lower level,
and every further rule, can only narrow. A rule that cannot be evaluated denies.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

import cedarpy

from steward.broker.policy_text import Parsed, PolicyVerdict, parse
from steward.broker.presets import BUILT_IN
from steward.broker.tool import TOOLS, Effects, Risk
from steward.core import Invalid
from steward.identity import Role
from steward.store import Scope

BUILT_IN_LEVEL: Final = "built-in"
PINNED_LEVEL: Final = "revision"
DEPLOYED_LEVEL: Final = "deployment"
LEVELS: Final = ("organisation", "project", "playbook")
_MOST_LONG: Final = 2**63 - 1
_MOST_DECIMAL: Final = Decimal("922337203685477.5807")
_MAIL: Final = re.compile(r"(?<![^\s@<>,;:\"'()/])[^\s@<>,;:\"'()/]++@[^\s@<>,;:\"'()/]+")
_WEB: Final = re.compile(r"://([^\s/\\?#]+)")
_RESOURCES: Final = {
    "project": "Project",
    "dataset": "Dataset",
    "branch": "Branch",
    "destination": "Destination",
}


@dataclass(frozen=True)
class PolicySet:
    """The texts that apply to a call; None where a level has none."""

    organisation: str | None = None
    project: str | None = None
    playbook: str | None = None
    pinned: tuple[str, ...] = ()
    """Texts that came with what is run; each is a level of its own below the playbook's."""
    deployed: tuple[str, ...] = ()
    """Texts that were in force when what is run was deployed; each is a level of its own."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Level and text, highest first; a text without rules counts as none."""
        yield BUILT_IN_LEVEL, BUILT_IN
        for level in LEVELS:
            text: str | None = getattr(self, level)
            if text and text.strip():
                yield level, text
        for text in self.pinned:
            if text.strip():
                yield PINNED_LEVEL, text
        for text in self.deployed:
            # What is still in force is asked once.
            if text.strip() and text not in (self.organisation, self.project, self.playbook):
                yield DEPLOYED_LEVEL, text

    def version(self, *, safe_mode: bool) -> str:
        """Names exactly these rules: an approval for later calls ends when they change."""
        rules = json.dumps([*self.texts(), safe_mode])
        return hashlib.sha256(rules.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Asker:
    """On whose behalf a call is made."""

    user_id: str
    role: Role
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Resource:
    """What a call is about: the project itself, or a `dataset`, `branch` or `destination` in it."""

    kind: str = "project"
    id: str = ""

    @classmethod
    def named(cls, destination: str | None) -> "Resource":
        return cls("destination", destination) if destination else cls()


@dataclass(frozen=True)
class Origin:
    """Where the arguments come from, and whether foreign text was read before."""

    untrusted_arguments: bool = False
    read_untrusted: bool = False
    sources: tuple[str, ...] = ()
    asked_for: bool = False
    """Whether enforcement of a plan found that it does what a person asked for, and no more."""


@dataclass(frozen=True)
class Amounts:
    """How much a call moves; None where nobody knows, which no upper limit lets through."""

    rows: int | None = None
    bytes: int | None = None
    usd: Decimal | None = None
    highest: Decimal | None = None
    """The highest amount among the arguments; None where no argument is an amount."""


@dataclass(frozen=True)
class Question:
    """Everything a policy may look at."""

    asker: Asker
    scope: Scope
    tool: str
    risk: Risk
    resource: Resource = Resource()
    effects: Effects = field(default_factory=Effects)
    playbook: str | None = None
    branch: str | None = None
    destination: str | None = None
    places: tuple[str, ...] = ()
    """Every place where the call goes, where there are several: each of them is decided about."""
    recipients: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    """What is opened or reached, by the roles of the arguments."""
    safe_mode: bool = False
    origin: Origin = Origin()
    amounts: Amounts = Amounts()
    direct: bool = False
    """Whether a person, or a token of theirs, makes the call themselves: no agent, flow or playbook."""
    acts_as: tuple[str, ...] = ()
    """Tools whose work the call does itself: it is decided about as a call of each of them, too."""

    def each(self) -> "list[Question]":
        """The question about each tool and each place: what is true of one says nothing about the others."""
        tools = [
            replace(self, tool=tool, risk=_risk_as(tool, self.risk), acts_as=())
            for tool in self.acts_as
        ]
        if len(self.places) < 2:
            return [self, *tools]
        return [
            replace(question, destination=place, resource=Resource.named(place))
            for question in (self, *tools)
            for place in self.places
        ]

    def __post_init__(self) -> None:
        if self.resource.kind not in _RESOURCES:
            raise Invalid(f"A policy knows no resource of kind {self.resource.kind!r}.")
        if self.tool in list(Risk):
            raise Invalid(f"A tool cannot be called {self.tool!r}: that names a risk class.")


def _risk_as(tool: str, risk: Risk) -> Risk:
    """What would need permission to see secrets needs it in every other way as well."""
    return Risk.secret if tool in TOOLS and TOOLS.get(tool).risk is Risk.secret else risk


@dataclass(frozen=True)
class Ruling:
    """A rule that decided; `id` is empty where a level has no rule that permits the call."""

    level: str
    id: str
    effect: str
    verdict: PolicyVerdict
    reason: str | None = None


@dataclass(frozen=True)
class Decision:
    verdict: PolicyVerdict
    rules: tuple[Ruling, ...]
    """Those that gave this verdict, highest level first."""
    approvers: tuple[str, ...] = ()
    """Groups; who approves must belong to every one of them. Empty: anyone who may approve runs at all."""
    errors: tuple[str, ...] = ()
    four_eyes: bool = False
    """Whether somebody other than those who asked must approve."""
    policy: str = ""
    """The version of the rules that decided."""

    @property
    def needs(self) -> tuple[PolicyVerdict, tuple[str, ...], bool]:
        """What has to happen before the call."""
        return self.verdict, self.approvers, self.four_eyes

    @property
    def reason(self) -> str:
        return " ".join(dict.fromkeys(rule.reason for rule in self.rules if rule.reason))

    def to_json(self) -> dict[str, Any]:
        """As it stands in a journal."""
        return {
            "outcome": self.verdict.value,
            "rules": [
                {"level": r.level, "id": r.id, "effect": r.effect, "reason": r.reason}
                for r in self.rules
            ],
            "approvers": list(self.approvers),
            "four_eyes": self.four_eyes,
            "reason": self.reason,
            "errors": list(self.errors),
            "policy": self.policy,
        }


@dataclass(frozen=True)
class Change:
    """A past call that a new policy would decide otherwise."""

    question: Question
    before: Decision
    after: Decision

    @property
    def is_looser(self) -> bool:
        return self.after.verdict.rank < self.before.verdict.rank


def decide(policies: PolicySet, question: Question) -> Decision:
    version = policies.version(safe_mode=question.safe_mode)
    return replace(_decision(policies, question), policy=version)


def _decision(policies: PolicySet, question: Question) -> Decision:
    levels = [(level, parse(text)) for level, text in policies.texts()]
    # A text of nothing but comments has no rules and says nothing either.
    speaking = [(level, parsed) for level, parsed in levels if parsed.rules]
    if len(speaking) == 1:
        nothing = Ruling(LEVELS[0], "", "default", PolicyVerdict.deny, "There is no policy at all.")
        return Decision(PolicyVerdict.deny, (nothing,))
    try:
        requests = [_Request.of(each) for each in question.each()]
    except ValueError as error:
        # Text that is no Unicode, say: what cannot be asked cannot be permitted.
        unasked = Ruling(
            BUILT_IN_LEVEL, "", "error", PolicyVerdict.deny, "The call cannot be judged."
        )
        return Decision(PolicyVerdict.deny, (unasked,), errors=(str(error),))
    votes = _Votes()
    for level, parsed in speaking:
        for request in requests:
            _ask_level(votes, level, parsed, request)
    return votes.decision()


def simulate(old: PolicySet, new: PolicySet, questions: Iterable[Question]) -> list[Change]:
    """What a change of policy would have meant for past calls: those decided otherwise, in their order."""
    changes = []
    for question in questions:
        before, after = decide(old, question), decide(new, question)
        if before.needs != after.needs:
            changes.append(Change(question, before, after))
    return changes


@dataclass
class _Votes:
    rulings: list[Ruling] = field(default_factory=list)
    approvers: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    four_eyes: bool = False

    def decision(self) -> Decision:
        verdict = max((ruling.verdict for ruling in self.rulings), key=lambda each: each.rank)
        return Decision(
            verdict,
            tuple(dict.fromkeys(each for each in self.rulings if each.verdict is verdict)),
            tuple(sorted(self.approvers)) if verdict is PolicyVerdict.ask else (),
            tuple(self.errors),
            four_eyes=self.four_eyes and verdict is PolicyVerdict.ask,
        )


@dataclass(frozen=True)
class _Request:
    body: dict[str, Any]
    entities: cedarpy.Entities

    @classmethod
    def of(cls, question: Question) -> "_Request":
        body = {
            "principal": {"type": "User", "id": question.asker.user_id},
            "action": {"type": "Action", "id": question.tool},
            "resource": _resource_uid(question),
            "context": json.dumps(_context(question)),
        }
        entities = cedarpy.Entities.from_json_str(json.dumps(list(_entities(question))))
        return cls(body, entities)


def _ask_level(votes: _Votes, level: str, parsed: Parsed, request: _Request) -> None:
    answer = cedarpy.is_authorized(request.body, parsed.handle, request.entities)
    errors = [_named(error, parsed) for error in answer.diagnostics.errors]
    if errors or answer.decision is cedarpy.Decision.NoDecision:
        votes.errors += [f"{level}: {error}" for error in errors or ["the engine gave no answer"]]
        reason = f"A rule of the {level} policy could not be evaluated."
        votes.rulings.append(Ruling(level, "", "error", PolicyVerdict.deny, reason))
        return
    for name in sorted(answer.diagnostics.reasons, key=list(parsed.rules).index):
        rule = parsed.rules[name]
        votes.rulings.append(Ruling(level, rule.id, rule.effect, rule.verdict, rule.reason))
        if rule.verdict is PolicyVerdict.ask:
            votes.four_eyes |= rule.four_eyes
            votes.approvers |= {rule.approvers} if rule.approvers else set()
    if not answer.diagnostics.reasons:
        votes.rulings.append(Ruling(level, "", "default", PolicyVerdict.deny))


def _named(error: str, parsed: Parsed) -> str:
    """The engine numbers the rules; people named them."""
    for name, rule in parsed.rules.items():
        error = error.replace(f"`{name}`", f"`{rule.id}`")
    return error


def _resource_uid(question: Question) -> dict[str, str]:
    resource = question.resource
    if resource.kind == "project":
        return {"type": "Project", "id": question.scope.project_id}
    return {"type": _RESOURCES[resource.kind], "id": resource.id}


def _entities(question: Question) -> Iterator[dict[str, Any]]:
    asker, scope = question.asker, question.scope
    roles = [role for role in Role if role is not Role.runner]
    # An owner is in Role::"admin" too: `principal in Role::"editor"` reads "an editor at least".
    for lower, higher in zip([None, *roles], roles, strict=False):
        parents = [] if lower is None else [_uid("Role", lower.name)]
        yield _entity(_uid("Role", higher.name), parents)
    # A runner starts nothing but playbooks that were deployed and shared: what these do is judged as an operator's.
    yield _entity(_uid("Role", Role.runner.name), [_uid("Role", Role.operator.name)])
    groups = sorted(asker.groups)
    yield from (_entity(_uid("Group", group)) for group in groups)
    yield _entity(
        _uid("User", asker.user_id),
        [_uid("Role", asker.role.name), *(_uid("Group", group) for group in groups)],
        {"role": asker.role.name, "groups": groups},
    )
    yield _entity(_uid("Action", question.tool), [_uid("Action", question.risk.value)])
    project = _uid("Project", scope.project_id)
    yield _entity(project, [_uid("Organisation", scope.org_id)])
    if question.resource.kind != "project":
        known = {"address": question.resource.id} if question.resource.kind == "destination" else {}
        yield _entity(_resource_uid(question), [project], known)


def _context(question: Question) -> dict[str, Any]:
    effects, origin = question.effects, question.origin
    named = {
        "playbook": question.playbook,
        "branch": question.branch,
        "destination": question.destination,
    }
    return {
        "risk": question.risk.value,
        "risk_rank": question.risk.rank,
        "effects": {**vars(effects)},
        "destinations": _spellings((*question.places, question.destination, *question.addresses)),
        "recipients": _spellings(question.recipients),
        "safe_mode": question.safe_mode,
        "direct": question.direct,
        "provenance": {
            "untrusted_arguments": origin.untrusted_arguments,
            "read_untrusted": origin.read_untrusted,
            "asked_for": origin.asked_for,
            "sources": sorted(set(origin.sources)),
        },
        "amounts": _amounts(question.amounts),
        **{name: value for name, value in named.items() if value is not None},
    }


def _amounts(amounts: Amounts) -> dict[str, Any]:
    """Clamped to what the engine counts in, and rounded up: an amount never looks smaller than it is."""
    known: dict[str, Any] = {}
    if amounts.rows is not None:
        known["rows"] = min(amounts.rows, _MOST_LONG)
    if amounts.bytes is not None:
        known["bytes"] = min(amounts.bytes, _MOST_LONG)
    for name, amount in (("usd", amounts.usd), ("highest", amounts.highest)):
        if amount is not None:
            most = max(-_MOST_DECIMAL, min(amount, _MOST_DECIMAL))
            exact = most.quantize(Decimal("0.0001"), ROUND_CEILING)
            known[name] = {"__extn": {"fn": "decimal", "arg": f"{exact:f}"}}
    return known


def _spellings(values: Iterable[str | None]) -> list[str]:
    """Each value as it was given, in small letters, and the mail addresses and hosts in it.

    So a rule that names `eve@example.com` or `example.com` also knows them as `"Eve" <EVE@Example.com>, ann@x.org`
    and as `https://user@EXAMPLE.com/way`.
    """
    found: set[str] = set()
    for value in values:
        if value is not None:
            found |= {value, *_plain_spellings(value)}
    return sorted(found)


def _plain_spellings(value: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", value).strip().lower()
    yield folded
    yield from _MAIL.findall(folded)
    for address in _WEB.findall(folded):
        # What stands before the last @ is a name to sign in with, and what follows the host its port.
        host = address.rpartition("@")[2]
        host = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        yield host.rstrip(".")


def _uid(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "id": name}


def _entity(
    uid: dict[str, str],
    parents: Iterable[dict[str, str]] = (),
    attributes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    return {"uid": uid, "attrs": dict(attributes or {}), "parents": list(parents)}
