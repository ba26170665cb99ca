"""Deploys revisions: which one is active, what triggers it, and the way back in one step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from steward.broker import Grant, bound_to
from steward.core import Conflict, Invalid, NotFound, Problem
from steward.identity import Access, Role
from steward.playbooks.cards import Card, Revision, State
from steward.playbooks.comparison import Comparison
from steward.playbooks.deployments import Deployment, Deployments, Finding, Way, differing
from steward.playbooks.documents import as_json
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests
from steward.playbooks.people import People
from steward.playbooks.pins import Changed, Pin, changes_of
from steward.playbooks.rehearsals import Rehearsals
from steward.playbooks.running import Running
from steward.playbooks.shadows import Shadows
from steward.playbooks.subscriptions import Armed, Subscription, Subscriptions
from steward.playbooks.trigger import TRIGGERS, Trigger
from steward.runs import Json, RunRequest
from steward.store import Transaction

_MOST_HISTORY: Final = 100
_TRIED: Final = frozenset({"canary", "shadow"})
"""Ways of a version to run that do not make it the one for everyone."""


@dataclass(frozen=True)
class Preparation:
    """What deploying a revision would mean."""

    revision: int
    checks: list[Finding]
    pins: list[Pin]
    changed: list[Changed]
    """Parts that are not what they are in the deployment in force."""

    @property
    def may_deploy(self) -> bool:
        return all(each.state != "failed" for each in self.checks)


@dataclass(eq=False, repr=False)
class Deployer:
    _library: Library
    _people: People
    _running: Running
    _subscriptions: Subscriptions
    _manifests: Manifests
    _deployments: Deployments
    _rehearsals: Rehearsals
    _shadows: Shadows

    def prepare(self, access: Access, named: str, number: int | None = None) -> Preparation:
        """The checks before a deployment, what it would pin, and which parts differ from what runs now."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        revision = self._library.revision_of(access.scope, card, number or card.head)
        checks = self._manifests.checks(access, revision)
        if any(each.state == "failed" for each in checks):
            return Preparation(revision.number, checks, [], [])
        count = len(self._rehearsals.kept(access, card.id))
        if count:
            told = f"{_tests(count)} will run first; another result holds the deployment up."
            checks.append(Finding("test", "passed", told))
        pins = self._manifests.pins(access, card, revision)
        before = self._in_force(access, card)
        changed = changes_of(before.pins, pins) if before is not None else []
        return Preparation(revision.number, [*checks, *differing(changed)], pins, changed)

    def deploy(
        self,
        access: Access,
        named: str,
        number: int | None = None,
        message: str = "",
        *,
        despite_tests: bool = False,
    ) -> Card:
        """Makes a revision the active one (the newest, unless another is named); its triggers start it from now on.

        Its tests run first. One with another result holds the deployment up, unless that is wanted.
        """
        access.require(Role.editor)
        card = self._library.get(access, named)
        _refuse_archived(card)
        chosen = number or card.head
        history = [*card.history, chosen][-_MOST_HISTORY:]
        revision = self._library.revision_of(access.scope, card, chosen)
        self._checked(access, revision)
        tested = self._rehearsals.checked(access, card, revision)
        failed = [each for each in tested if each.state == "failed"]
        if failed and not despite_tests:
            raise Conflict(
                f"Not deployed: {len(failed)} of {_tests(len(tested))} gave another result. "
                + " ".join(each.message for each in failed[:5]),
                code="tests-differ",
            )
        return self._activate(access, card, chosen, history, "deploy", message, tested=tested)

    def roll_back(
        self, access: Access, named: str, *, to: int | None = None, message: str = ""
    ) -> Card:
        """Goes back to what was deployed before, with every part as it was pinned then.

        `to` is the number of a deployment; unset: the last one of another revision.
        """
        access.require(Role.editor)
        card = self._library.get(access, named)
        _refuse_archived(card)
        history = card.history
        if to is not None:
            target = self._deployments.get(access.scope, card.id, to)
            if target.kind in _TRIED:
                raise Conflict(
                    f"Deployment {to} never ran for everyone: it was only tried. "
                    f"Deploy revision {target.revision} instead; its tests run first."
                )
            history = [*history, target.revision][-_MOST_HISTORY:]
        else:
            if card.previous is None:
                raise Conflict(
                    "There is no revision that was deployed before; deploy one by its number."
                )
            while history[-1] == card.deployed:
                history.pop()
            found = self._deployments.latest_of(access.scope, card.id, card.previous)
            if found is None:
                # It was deployed before deployments were kept: what is there now is pinned.
                return self._activate(access, card, card.previous, history, "rollback", message)
            target = found
        return self._activate(access, card, target.revision, history, "rollback", message, target)

    def listed(
        self, access: Access, named: str, *, before: int | None = None, limit: int = 50
    ) -> list[Deployment]:
        card = self._library.get(access, named)
        return self._deployments.listed(access.scope, card.id, before=before, limit=limit)

    def look(self, access: Access, named: str, number: int) -> tuple[Deployment, list[Changed]]:
        """A deployment, and which of its parts are no longer what they were."""
        card = self._library.get(access, named)
        found = self._deployments.get(access.scope, card.id, number)
        revision = self._library.revision_of(access.scope, card, found.revision)
        try:
            now = self._manifests.pins(access, card, revision)
        except Invalid:
            return found, []
        return found, changes_of(found.pins, now)

    def comparison(self, access: Access, named: str, left: int, right: int) -> Comparison:
        """Two revisions side by side, with the parts around them."""
        found = self._library.comparison(access, named, left, right)
        card = self._library.get(access, named)
        before, after = (self._pins_of(access, card, number) for number in (left, right))
        # What is in the documents themselves is compared field by field.
        changed = [each for each in changes_of(before, after) if not each.is_in_document]
        return replace(found, parts=changed)

    def _pins_of(self, access: Access, card: Card, number: int) -> Sequence[Pin]:
        """What a revision pinned when it was last deployed; one that never was, what it would pin now."""
        deployment = (
            self._in_force(access, card)
            if number == card.deployed
            else self._deployments.latest_of(access.scope, card.id, number)
        )
        if deployment is not None:
            return deployment.pins
        try:
            revision = self._library.revision_of(access.scope, card, number)
            return self._manifests.pins(access, card, revision)
        except Invalid:
            return ()

    def try_out(
        self,
        access: Access,
        named: str,
        number: int | None,
        *,
        percent: int,
        message: str = "",
    ) -> Card:
        """Gives a revision a share of the runs."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is not State.active:
            raise Conflict("Deploy a version first; then another one can be tried beside it.")
        revision = self._library.revision_of(access.scope, card, number or card.head)
        if revision.number == card.deployed:
            raise Conflict(
                f"Revision {revision.number} is deployed already; choose another one to try."
            )
        checks = self._checked(access, revision)
        pins = self._manifests.pins(access, card, revision)

        def keep(tx: Transaction) -> Json:
            made = self._deployments.add_within(
                tx, access, card.id, revision.number, "canary", pins, checks, message
            )
            return {"canary": {"deployment": made, "revision": revision.number, "percent": percent}}

        return self._library.try_out(access, card, card.armed, keep)

    def end_trial(self, access: Access, named: str) -> Card:
        """Ends a trial: all runs are of the deployed version again."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if not card.armed.get("canary"):
            return card
        return self._library.try_out(access, card, card.armed, lambda _tx: {"canary": None})

    def archive(self, access: Access, named: str) -> Card:
        """The first step of deleting: it does not run any more, and nothing is lost."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is State.archived:
            return card
        return self._library.mark(
            access,
            card,
            State.archived,
            card.armed,
            lambda tx: self._subscriptions.disarm_within(tx, card.id),
        )

    def bring_back(self, access: Access, named: str) -> Card:
        """Takes it out of the archive, deployed as it was."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is not State.archived:
            return card
        draft = self._library.mark(access, card, State.draft, card.armed)
        if card.deployed is None:
            return draft
        before = self._in_force(access, card)
        said = "Brought back from the archive"
        return self._activate(
            access, draft, card.deployed, card.history, "deploy", said, target=before
        )

    def triggers(self, access: Access, named: str) -> list[Subscription]:
        """The triggers of the deployed revision."""
        card = self._library.get(access, named)
        if card.state is not State.active or card.deployed is None:
            return []
        return self._subscriptions.listed(access.scope, card.id)

    def switch(
        self, access: Access, named: str, trigger: str, *, enabled: bool
    ) -> list[Subscription]:
        """Pauses a trigger of the deployed revision, or lets it go on."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is not State.active or card.deployed is None:
            raise NotFound("Nothing is deployed, so there is no trigger to switch.")
        found = self._subscriptions.named(access.scope, card.id, trigger)
        self._subscriptions.switch(access.scope, found.id, enabled=enabled, by=access.user_id)
        return self.triggers(access, named)

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

    def _in_force(self, access: Access, card: Card) -> Deployment | None:
        number = card.deployment
        return None if number is None else self._deployments.get(access.scope, card.id, number)

    def _checked(self, access: Access, revision: Revision) -> list[Finding]:
        """What the checks found, if nothing of it forbids a deployment."""
        checks = self._manifests.checks(access, revision)
        # What was right when it was saved may name a tool that is gone.
        failed = [each for each in checks if each.state == "failed"]
        if failed:
            said = " ".join(each.message for each in failed)
            raise Invalid(
                f"Revision {revision.number} cannot be deployed. {said}",
                problems=[Problem(f"/{each.check}", each.message) for each in failed],
            )
        return checks

    def _activate(
        self,
        access: Access,
        card: Card,
        number: int,
        history: list[int],
        way: Way,
        message: str,
        target: Deployment | None = None,
        tested: Sequence[Finding] = (),
    ) -> Card:
        """With a `target`, its pins count again; otherwise those of this moment."""
        revision = self._library.revision_of(access.scope, card, number)
        playbook = revision.playbook
        pins = target.pins if target else self._manifests.pins(access, card, revision)
        checks = [*self._checked(access, revision), *tested]
        if target is not None:
            # What runs now would do, beside what they would do with the parts that count again.
            now = self._manifests.pins(access, card, revision)
            checks += differing(changes_of(now, pins), keeps=True)
        elif (before := self._in_force(access, card)) is not None:
            checks += differing(changes_of(before.pins, pins))
        number_of_target = target.number if target else None

        viewer = self._people.viewer(access)
        armed: list[Armed] = []
        # Also where nothing is armed: what could not run is not put in force.
        request = self._running.request(access.scope, viewer, card, revision, None, pins=pins)
        if any(each.is_subscribed for each in playbook.triggers):
            request = bound_to(access, request, lasting=True)
            armed = [Armed(trigger, request) for trigger in playbook.triggers]

        def keep(tx: Transaction) -> int:
            self._subscriptions.arm_within(tx, card.id, number, access.user_id, armed)
            self._shadows.end_within(tx, card.id)
            return self._deployments.add_within(
                tx, access, card.id, number, way, pins, checks, message, number_of_target
            )

        return self._library.deploy(access, card, number, {"history": history}, keep, message)

    def pinned(self, subscription: Subscription, number: int) -> tuple[Trigger, RunRequest]:
        """A trigger and what it starts as one revision has it, for events sent to the address of that revision."""
        scope = subscription.scope
        viewer = self._people.author(scope, subscription.author)
        card = self._library.seen_by(scope, viewer, subscription.playbook_id)
        revision = self._library.revision_of(scope, card, number)
        deployment = self._deployments.latest_of(scope, card.id, number)
        if deployment is None:
            raise NotFound(f"Revision {number} was never deployed.")
        for trigger in revision.playbook.triggers:
            if trigger.name == subscription.name and trigger.type == subscription.type:
                request = self._running.request(
                    scope, viewer, card, revision, None, deployment=deployment
                )
                limits = Grant.from_json(subscription.request.grant)
                grant = Grant.from_json(request.grant).like(limits)
                return trigger, replace(request, grant=grant.to_json())
        raise NotFound(f"Revision {number} has no trigger {subscription.name!r}.")


def _tests(count: int) -> str:
    return "1 kept test" if count == 1 else f"{count} kept tests"


def _refuse_archived(card: Card) -> None:
    if card.state is State.archived:
        raise Conflict("An archived playbook is not deployed; bring it back first.")


def _name(trigger: Mapping[str, Any]) -> str:
    fallback = TRIGGERS.get(str(trigger["type"])).model_fields["name"].default
    return str(trigger.get("name", fallback))
