"""What of runs, schedules, approvals and events a caller sees: nothing that belongs to a playbook hidden from them.

Runners see of runs their own alone, and of the rest what these are about.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from steward.app import Steward
from steward.broker import Approval, Waiting
from steward.core import TYPE_PREFIX, Event, NotFound, is_id
from steward.identity import Access, Role
from steward.playbooks import EVENT, EVENTS, MOMENT, subject_of
from steward.runs import Schedule

T = TypeVar("T")
_ASKING = frozenset({"run.blocked", "run.waiting_for_approval", "run.reviewing"})
Fetch = Callable[[str | None, int], Sequence[T]]


class Visibility:
    """One caller's view, as it is at this moment."""

    def __init__(self, steward: Steward, access: Access) -> None:
        self._steward = steward
        self._access = access
        self._is_runner = access.role is Role.runner
        self.sight = steward.playbooks.people.sight(access)
        self._run = lru_cache(maxsize=1_000)(self._shows_run)

    def run(self, run_id: str) -> bool:
        """Whether a run is there for the caller; one that is not there at all is nobody's secret."""
        return self.sight.everything or self._run(run_id)

    def waiting(self, item: Waiting) -> bool:
        """What was put to the caller, and what runs wait for that they see.

        Of runs that a trigger started, a question for anybody reaches the runners they are shared with:
        nobody else may be there to answer. Of those that somebody else started it does not.
        """
        if item.approval is not None:
            return self.approval(item.approval)
        return item.named or self.run(item.run_id) or self._is_unattended(item.run_id)

    def asked(self, run_id: str, key: str | None = None) -> bool:
        """Whether a run, whoever sees it, waits for an answer of the caller's."""
        waiting = self._steward.governing.inbox.waiting(self._access)
        return any(
            item.run_id == run_id and key in {None, item.key} and self.waiting(item)
            for item in waiting
        )

    def refuse_unasked(self, run_id: str, key: str) -> None:
        """NotFound for what a hidden run does not ask of the caller."""
        if not (self.run(run_id) or self.asked(run_id, key)):
            raise NotFound(f"There is no run {run_id!r} in this project.")

    def schedule(self, schedule: Schedule) -> bool:
        return not self._is_runner and self.sight.shows(schedule.request.subject)

    def approval(self, approval: Approval) -> bool:
        """Those of runs the caller sees, and those that were put to them by name or by group."""
        if self.run(approval.run_id):
            return True
        me = self._access.user_id
        groups = self._steward.governing.groups.of(self._access.scope, me)
        asked = bool(approval.approvers) and set(approval.approvers) <= groups
        return asked or me in {approval.delegated_to, approval.decided_by}

    def event(self, event: Event) -> bool:
        if self.sight.everything:
            return True
        subject, scope = event.subject, self._access.scope
        if is_id(subject, "pbk"):
            return self.sight.shows(subject_of(subject))
        if self._is_runner and event.type == TYPE_PREFIX + "notification.created":
            return event.data.get("user") == self._access.user_id
        try:
            if is_id(subject, "run"):
                is_asking = event.type.removeprefix(TYPE_PREFIX) in _ASKING
                return self.run(subject) or (is_asking and self.asked(subject))
            if is_id(subject, "sch"):
                return self.schedule(self._steward.runs.schedules.get(scope, subject))
            if is_id(subject, "apr"):
                return self.approval(self._steward.governing.approvals.get(self._access, subject))
        except NotFound:
            # Of what is gone nobody can say any more whose it was.
            return False
        return not self._is_runner

    def refuse_hidden(
        self,
        *,
        runs: Sequence[str] = (),
        schedule: str | None = None,
        approval: str | None = None,
        asked: bool = False,
    ) -> None:
        """NotFound, as if there were no such thing; with `asked`, a run that waits for the caller is there."""
        if self.sight.everything:
            return
        hidden = [
            run_id for run_id in runs if not (self.run(run_id) or (asked and self.asked(run_id)))
        ]
        if hidden:
            raise NotFound(f"There is no run {hidden[0]!r} in this project.")
        steward, scope = self._steward, self._access.scope
        if schedule is not None and not self.schedule(steward.runs.schedules.get(scope, schedule)):
            raise NotFound(f"There is no schedule {schedule!r} in this project.")
        if approval is not None and not self.approval(
            steward.governing.approvals.get(self._access, approval)
        ):
            raise NotFound(f"There is no approval {approval!r} in this project.")

    def _shows_run(self, run_id: str) -> bool:
        try:
            run = self._steward.runs.get(self._access.scope, run_id)
        except NotFound:
            return True
        mine = not self._is_runner or run.created_by == self._access.user_id
        return mine and self.sight.shows(run.subject)

    def _is_unattended(self, run_id: str) -> bool:
        """Whether a trigger started it, of a playbook that the caller sees."""
        if not self._is_runner:
            return False
        runs, scope = self._steward.runs, self._access.scope
        subject = runs.get(scope, run_id).subject
        if subject is None or subject not in self.sight.seen:
            return False
        inputs = runs.request(scope, run_id).inputs
        return isinstance(inputs, dict) and bool(inputs.keys() & {MOMENT, EVENT, EVENTS})


def kept(fetch: Fetch[T], keep: Callable[[T], bool], key: Callable[[T], str]) -> Fetch[T]:
    """A page of what is kept: fetches on until it is full or there is no more."""

    def filled(position: str | None, count: int) -> list[T]:
        found: list[T] = []
        while len(found) < count:
            batch = fetch(position, count)
            found += [item for item in batch if keep(item)]
            if len(batch) < count:
                break
            position = key(batch[-1])
        return found[:count]

    return filled
