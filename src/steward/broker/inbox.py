"""The inbox: everything that waits for a person, across runs, and the one way to answer what is not an approval."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from steward.broker.approvals import Approval, Approvals
from steward.broker.groups import Groups
from steward.broker.schemas import first_problem
from steward.core import Clock, Conflict, Denied, Invalid, NotFound
from steward.identity import Access
from steward.runs import Json, Run, Runs

_MOST: Final = 200
QUESTION, GATE, BUDGET, UNCERTAIN = "question", "approval", "budget", "uncertain"
PLAN = "plan"
_ANSWERED_HERE: Final = frozenset({QUESTION, GATE, BUDGET, UNCERTAIN, PLAN})
_DECISIONS: Final = {
    GATE: frozenset({"approve", "reject"}),
    BUDGET: frozenset({"raise", "abort"}),
    UNCERTAIN: frozenset({"happened", "retry", "give_up"}),
    # To leave steps out or to change a plan, people go to where it was made.
    PLAN: frozenset({"approve", "reject"}),
}


@dataclass(frozen=True)
class Waiting:
    """One thing that waits for somebody."""

    kind: str
    run_id: str
    run_title: str
    key: str
    title: str
    asked_at: datetime
    expires_at: datetime | None
    request: Json
    approval: Approval | None
    named: bool = False
    """Whether it was put to this person, by name or by group, rather than to whoever sees the run."""


class Inbox:
    def __init__(self, runs: Runs, approvals: Approvals, groups: Groups, clock: Clock) -> None:
        self._runs = runs
        self._approvals = approvals
        self._groups = groups
        self._clock = clock

    def waiting(self, access: Access) -> list[Waiting]:
        """What this person can answer now, what ends soonest first."""
        if not access.role.acts:
            return []
        member_of = self._groups.of(access.scope, access.user_id)
        titles: dict[str, str] = {}
        found: list[Waiting] = []
        runs = self._runs.records.waiting(access.scope, limit=_MOST)
        opened = self._runs.journal.waits_opened(access.scope, [run.id for run in runs])
        for run in runs:
            titles[run.id] = run.title
            found += [
                replace(item, asked_at=opened.get((run.id, item.key), item.asked_at))
                for wait in run.waits or ()
                if (item := _asked(access, run, wait, member_of)) is not None
            ]
        found += [
            self._approval(access, approval, titles)
            for approval in self._approvals.listed(access, mine=True, limit=_MOST)
        ]
        now = self._clock.now()
        live = [item for item in found if item.expires_at is None or item.expires_at > now]
        return sorted(
            live,
            key=lambda item: (
                item.expires_at or datetime.max.replace(tzinfo=now.tzinfo),
                item.asked_at,
            ),
        )

    def asked(self, access: Access, run_id: str, key: str) -> Waiting:
        """What a run waits for under this key, if this person may answer it now."""
        access.require_acting()
        run = self._runs.get(access.scope, run_id)
        wait = next((each for each in run.waits or () if each["key"] == key), None)
        if wait is None or (item := _waiting(run, wait)) is None:
            raise NotFound("The run does not wait for an answer to this.")
        if item.expires_at is not None and item.expires_at <= self._clock.now():
            raise Conflict("The time for an answer is over; the run was told so.", code="expired")
        member_of = self._groups.of(access.scope, access.user_id)
        found = _asked(access, run, wait, member_of)
        if found is None:
            raise Denied(
                "The run asks other people or groups, and only they can answer. Ask one of them."
            )
        return found

    def answer(self, access: Access, run_id: str, key: str, answer: Json) -> None:
        """Answers a question, a gate, a budget request or an uncertain effect; the first answer counts."""
        given = _checked(self.asked(access, run_id, key), answer)
        self._runs.records.signal(access.scope, run_id, key, {**given, "by": access.user_id})

    def _approval(self, access: Access, approval: Approval, titles: dict[str, str]) -> Waiting:
        if approval.run_id not in titles:
            titles[approval.run_id] = self._runs.get(access.scope, approval.run_id).title
        return Waiting(
            kind="approval",
            run_id=approval.run_id,
            run_title=titles[approval.run_id],
            key=approval.wait_key,
            title=approval.title,
            asked_at=approval.requested_at,
            expires_at=approval.expires_at,
            request=None,
            approval=approval,
        )


def _waiting(run: Run, wait: Mapping[str, Any]) -> Waiting | None:
    if wait["kind"] not in _ANSWERED_HERE or "request" not in wait:
        return None
    until = wait["expires_at"]
    return Waiting(
        kind="gate" if wait["kind"] == GATE else wait["kind"],
        run_id=run.id,
        run_title=run.title,
        key=wait["key"],
        title=wait["reason"],
        asked_at=run.started_at or run.created_at,
        expires_at=datetime.fromisoformat(until) if until else None,
        request=wait["request"],
        approval=None,
    )


def _asked(
    access: Access, run: Run, wait: Mapping[str, Any], member_of: frozenset[str]
) -> Waiting | None:
    """Whom a flow names, by id, address or group; where nobody is named, it is for all who may see the run."""
    item = _waiting(run, wait)
    if item is None:
        return None
    named = {
        str(each) for each in (*item.request.get("to", ()), *item.request.get("approvers", ()))
    }
    me = {access.user_id, access.principal.email, *member_of}
    if named and not named & me:
        return None
    return replace(item, named=bool(named))


def _checked(item: Waiting, answer: Json) -> dict[str, Any]:
    kind = GATE if item.kind == "gate" else item.kind
    if kind == QUESTION:
        return {"answer": answer}
    if not isinstance(answer, dict) or answer.get("decision") not in _DECISIONS[kind]:
        known = ", ".join(sorted(_DECISIONS[kind]))
        raise Invalid(f"The answer names a decision: {known}.", code="invalid-answer")
    if kind == GATE:
        if answer.get("body_hash") != item.request["body_hash"]:
            raise Conflict(
                "What you saw is not what is asked now. Read it again.", code="other-payload"
            )
        given = {"decision": answer["decision"], "reason": str(answer.get("reason", ""))[:1000]}
        return given | _edited(item.request, answer)
    if kind == PLAN:
        return {"decision": answer["decision"], "skip": []}
    if kind == BUDGET:
        return {"decision": answer["decision"], "limits": answer.get("limits", {})}
    # What a person tells of an effect is told, never taken for what the broker recorded.
    told = {"result": {"told": answer["result"]}} if "result" in answer else {}
    return {"decision": answer["decision"], **told}


def _edited(request: Json, answer: Mapping[str, Any]) -> dict[str, Any]:
    """A payload that was changed before approving it, where the gate says what it may be."""
    if "payload" not in answer:
        return {}
    if request.get("edit") is None:
        raise Invalid("What this asks for can be approved as it is only.", code="not-editable")
    wrong = first_problem(request["edit"], answer["payload"])
    if wrong is not None:
        raise Invalid(f"The changed payload does not fit: {wrong}.", code="invalid-answer")
    return {"payload": answer["payload"]}
