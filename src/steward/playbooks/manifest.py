"""The manifest of a deployment: looks up every part that a revision uses, and checks what could keep it from running."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from steward.broker import FixedParts
from steward.core import Conflict, Invalid, NotFound
from steward.flows import Flow
from steward.identity import Access
from steward.playbooks.cards import Card, Revision, State
from steward.playbooks.compiling import policy_text
from steward.playbooks.deployments import Finding
from steward.playbooks.library import Check, Library
from steward.playbooks.model import Playbook
from steward.playbooks.needs import Needs, branches_of
from steward.playbooks.people import People
from steward.playbooks.pins import Named, Pin, PinSource, code_in, named_in, prompts_in
from steward.store import Scope
from steward.versions import MAIN


class Manifests:
    def __init__(
        self,
        library: Library,
        people: People,
        needs: Needs,
        check: Check,
        sources: Mapping[str, PinSource],
    ) -> None:
        """`sources`: where the parts that are no playbooks are looked up, by kind."""
        self._library = library
        self._people = people
        self._needs = needs
        self._check = check
        self._sources = sources

    def pins(self, access: Access, card: Card, revision: Revision) -> list[Pin]:
        """Everything that decides what a run of the revision does, as it is now."""
        playbook = revision.playbook
        flow = revision.flow
        pins = [Pin("graph", card.slug, revision.hash, str(revision.number), fixed=True)]
        own = policy_text(playbook)
        if own:
            pins.append(Pin("policy", card.slug, _text_hash(own), fixed=True))
        pins += _texts("prompt", prompts_in(flow))
        pins += _texts("code", {f"step {node}": code for node, code in code_in(flow).items()})
        flows = dict(self._flows(access, named_in(playbook, flow), {}))
        pins += [pin for pin, _ in flows.values()]
        named = [named_in(playbook, flow), *(each for _, each in flows.values())]
        wanted = {
            "agent": _all(each.agents for each in named),
            "skill": _all(each.skills for each in named),
            "tool": _all(each.tools for each in named),
            "connection": _all(each.connections for each in named),
            "model": _asked_models(named),
            "policy": [card.slug],
            "code": _all(each.parts for each in named),
        }
        for kind, names in wanted.items():
            if names or kind == "code":
                pins += self._sources[kind](access.scope, sorted(names))
        return pins

    def code_problem(self, scope: Scope, fixed: FixedParts) -> str | None:
        """Why plug-ins are not what was deployed; None where they are."""
        if not fixed.code:
            return None
        found = self._sources["plugin"](scope, sorted(fixed.code))
        installed = {pin.name: {"version": pin.version, "sha256": pin.hash} for pin in found}
        return fixed.code_problem(installed)

    def _flows(
        self, access: Access, named: Named, known: dict[str, tuple[Pin, Named]]
    ) -> Iterator[tuple[str, tuple[Pin, Named]]]:
        """The playbooks that a flow calls, and those that they call, by the name that it uses."""
        for ref in named.flows:
            if ref in known:
                continue
            try:
                revision = self.called(access, ref)
            except (NotFound, Conflict, Invalid):
                continue
            found = named_in(revision.playbook, revision.flow)
            known[ref] = (Pin("flow", ref, revision.hash, str(revision.number), fixed=True), found)
            yield ref, known[ref]
            yield from self._flows(access, found, known)

    def called(self, access: Access, ref: str) -> Revision:
        """The revision that a call of this name runs: `costs` the deployed one, `costs@3` the third."""
        slug, _, number = ref.partition("@")
        card = self._library.get(access, slug)
        return self._library.revision_of(access.scope, card, called_revision(card, number))

    def checks(self, access: Access, revision: Revision) -> list[Finding]:
        """What could keep the revision from running, each with how grave it is."""
        playbook = revision.playbook
        problems = list(self._check(access, playbook))
        if problems:
            said = "; ".join(f"{each.pointer} {each.message}" for each in problems[:5])
            return [Finding("document", "failed", f"The document is not valid: {said}.")]
        found = [Finding("document", "passed", "The document is valid.")]
        flow = revision.flow
        found += list(self._data(access, playbook, flow))
        found += self._calls(access, named_in(playbook, flow))
        if named_in(playbook, flow).has_agents:
            wanted = sorted(_asked_models([named_in(playbook, flow)]))
            models = list(self._sources["model"](access.scope, wanted))
            found += [
                Finding("model", "passed", f"Its agents ask {each.version} ({each.name}).")
                for each in models
            ] or [Finding("model", "warning", "It uses agents, and no model is set up.")]
        return found

    def _data(self, access: Access, playbook: Playbook, flow: Flow) -> Iterator[Finding]:
        """Whether the data is there, on each branch that its triggers have it work on."""
        branches = branches_of(playbook)
        missing = [
            (branch, each.message)
            for branch in branches
            for each in self._needs.missing(access.scope, playbook, flow, branch)
        ]
        for branch, said in missing:
            where = "" if branch == MAIN else f"On the branch {branch}: "
            told = f"{where}{said}" if where else f"{said[:1].upper()}{said[1:]}"
            yield Finding("data", "warning", f"{told}.")
        if not missing:
            others = "" if branches == [MAIN] else f" on the branch {' and '.join(branches)}"
            told = f"Every dataset and connection that it names is there{others}."
            yield Finding("data", "passed", told)

    def _calls(self, access: Access, named: Named) -> Iterator[Finding]:
        for ref in named.flows:
            try:
                revision = self.called(access, ref)
            except (NotFound, Conflict, Invalid) as problem:
                yield Finding("flow", "warning", f"A step calls {ref!r}: {problem.message}")
            else:
                yield Finding("flow", "passed", f"Calls revision {revision.number} of {ref}.")


def called_revision(card: Card, number: str, pinned: int | None = None) -> int:
    """Which revision of a playbook a call runs: the one it names, the pinned one, or the deployed one."""
    if card.state is State.archived:
        raise Conflict(f"{card.title} is archived; bring it back first.")
    if number:
        if not number.isdigit() or int(number) > card.head or int(number) < 1:
            raise Invalid(
                f"{card.title} has no version {number[:20]!r}; name one from 1 to {card.head}."
            )
        return int(number)
    if pinned is not None:
        return pinned
    if card.state is not State.active or card.deployed is None:
        raise Conflict(f"{card.title} is not deployed; an editor deploys it first.")
    return card.deployed


def _texts(kind: str, texts: Mapping[str, str]) -> list[Pin]:
    """They are in the graph, which is fixed as a whole; listed, so that people see which of them changed."""
    return [Pin(kind, name, _text_hash(text), fixed=True) for name, text in texts.items()]


def _asked_models(named: Sequence[Named]) -> set[str]:
    """Agents whose models are asked; those that a flow describes by itself have no name and use the operator's."""
    drawn = {"operator"} if any(each.has_agents for each in named) else set()
    return drawn | {f"agent {name}" for each in named for name in each.agents}


def _text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _all(lists: Iterator[Sequence[str]]) -> set[str]:
    return {name for each in lists for name in each}
