"""Deploys revisions: which one is active, what triggers it, and the way back in one step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from steward.core.documents import Lined
from steward.core.errors import Conflict, NotFound, Problem, StewardError
from steward.identity import Access, Role
from steward.playbooks.cards import Card, Revision, State
from steward.playbooks.documents import as_json, refusal
from steward.playbooks.library import Check, Library
from steward.playbooks.people import People, subject_of
from steward.playbooks.running import Running
from steward.playbooks.trigger import TRIGGERS, Armed, Arming, Trigger
from steward.runs import Json, Runs

_MOST_HISTORY: Final = 100
_PAGE: Final = 200


@dataclass(frozen=True)
class _Watch:
    """A trigger with what it needs to be taken back."""

    trigger: Trigger
    state: Json


class Deploying:
    def __init__(
        self, library: Library, people: People, running: Running, runs: Runs, check: Check
    ) -> None:
        self._library = library
        self._people = people
        self._running = running
        self._runs = runs
        self._check = check

    def deploy(self, access: Access, named: str, number: int | None = None) -> Card:
        """Makes a revision the active one (the newest, unless another is named); its triggers start it from now on."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is State.archived:
            raise Conflict("An archived playbook is not deployed; bring it back first.")
        chosen = number or card.head
        history = [*card.history, chosen][-_MOST_HISTORY:]
        return self._activate(access, card, chosen, history)

    def roll_back(self, access: Access, named: str) -> Card:
        """Goes back to the revision that was deployed before this one."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.previous is None:
            raise Conflict(
                "There is no revision that was deployed before; deploy one by its number."
            )
        history = card.history
        while history[-1] == card.deployed:
            history.pop()
        return self._activate(access, card, card.previous, history)

    def archive(self, access: Access, named: str) -> Card:
        """The first step of deleting: it does not run any more, and nothing is lost."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is State.archived:
            return card
        kept = {**card.armed, "triggers": {}}
        archived = self._library.mark(access, card, State.archived, kept)
        self._disarm(access, card)
        return archived

    def bring_back(self, access: Access, named: str) -> Card:
        """Takes it out of the archive, deployed as it was."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is not State.archived:
            return card
        draft = self._library.mark(access, card, State.draft, card.armed)
        if card.deployed is None:
            return draft
        return self._activate(access, draft, card.deployed, card.history)

    def triggers(self, access: Access, named: str) -> list[Armed]:
        """The triggers of the deployed revision, with their next moments."""
        card = self._library.get(access, named)
        if card.state is not State.active or card.deployed is None:
            return []
        revision = self._library.revision_of(access.scope, card, card.deployed)
        arming = self._arming(access, card, revision)
        return [watch.trigger.shown(arming, watch.state) for watch in _watches(card, revision)]

    def switch(self, access: Access, named: str, trigger: str, *, enabled: bool) -> list[Armed]:
        """Pauses a trigger of the deployed revision, or lets it go on."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is not State.active or card.deployed is None:
            raise NotFound("Nothing is deployed, so there is no trigger to switch.")
        revision = self._library.revision_of(access.scope, card, card.deployed)
        for watch in _watches(card, revision):
            if watch.trigger.name == trigger:
                watch.trigger.switch(
                    self._arming(access, card, revision), watch.state, enabled=enabled
                )
                return self.triggers(access, named)
        raise NotFound(f"The deployed revision has no trigger {trigger!r}.")

    def schedule(
        self,
        access: Access,
        named: str,
        version: int,
        name: str,
        trigger: Mapping[str, Any] | None,
    ) -> Card:
        """Sets one trigger of the newest revision, or takes it away; deployed at once where nothing else would be."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        document = as_json(self._library.revision_of(access.scope, card, card.head).playbook)
        others = [each for each in document.get("triggers", []) if _name(each) != name]
        kept = others if trigger is None else [*others, {**trigger, "name": name}]
        document = {**document, "triggers": kept}
        said = f"Trigger {name} {'removed' if trigger is None else 'set'}"
        saved = self._library.save(access, named, version, document, message=said)
        if card.state is State.active and card.deployed == card.head and saved.head != card.head:
            return self.deploy(access, named)
        return saved

    def _activate(self, access: Access, card: Card, number: int, history: list[int]) -> Card:
        revision = self._library.revision_of(access.scope, card, number)
        playbook = revision.playbook
        # What was right when it was saved may name a tool that is gone.
        problems: list[Problem] = list(self._check(access, playbook))
        if problems:
            raise refusal(f"Revision {number} cannot be deployed", problems, Lined(None, {}))
        arming = self._arming(access, card, revision)
        states = {
            trigger.name: state
            for trigger in playbook.triggers
            if (state := trigger.arm(arming)) is not None
        }
        armed = {"triggers": states, "history": history}
        try:
            deployed = self._library.deploy(access, card, number, armed)
        except StewardError:
            for trigger in playbook.triggers:
                if trigger.name in states:
                    trigger.disarm(arming, states[trigger.name])
            raise
        self._disarm(access, card, keeping=frozenset(_schedules(states)))
        return deployed

    def _disarm(self, access: Access, card: Card, keeping: frozenset[str] = frozenset()) -> None:
        """Stops what started the revision that was deployed before, and what a crash left behind of others."""
        if card.deployed is not None:
            revision = self._library.revision_of(access.scope, card, card.deployed)
            arming = self._arming(access, card, revision)
            for watch in _watches(card, revision):
                watch.trigger.disarm(arming, watch.state)
        schedules = self._runs.schedules
        before: str | None = None
        found: list[str] = []
        while page := schedules.listed(access.scope, before, _PAGE):
            found += [each.id for each in page if each.request.subject == subject_of(card.id)]
            before = page[-1].id
        for schedule_id in found:
            if schedule_id not in keeping:
                schedules.delete(access.scope, schedule_id)

    def _arming(self, access: Access, card: Card, revision: Revision) -> Arming:
        viewer = self._people.viewer(access)
        return Arming(
            access.scope,
            access.user_id,
            card.title,
            self._runs,
            lambda inputs: self._running.request(access.scope, viewer, card, revision, inputs),
        )


def _name(trigger: Mapping[str, Any]) -> str:
    fallback = TRIGGERS.get(str(trigger["type"])).model_fields["name"].default
    return str(trigger.get("name", fallback))


def _watches(card: Card, revision: Revision) -> Iterator[_Watch]:
    states: Mapping[str, Any] = card.armed.get("triggers", {})
    for trigger in revision.playbook.triggers:
        if trigger.name in states:
            yield _Watch(trigger, states[trigger.name])


def _schedules(states: Mapping[str, Any]) -> Iterator[str]:
    for state in states.values():
        if isinstance(state, dict) and "schedule" in state:
            yield str(state["schedule"])
