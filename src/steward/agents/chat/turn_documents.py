"""A turn for people, read from the journal of its run: plans, steps, calls, answer, cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from steward.agents.chat.threads import Turn
from steward.agents.rules.rhythm import rhythm_in
from steward.runs import (
    Call,
    Entry,
    EntryType,
    Json,
    MadePlan,
    Payload,
    Projection,
    Run,
    Spent,
    is_within,
    plan_prefix,
    project,
)

SHOWN_ROWS: Final = 100
_DECIDED: Final = {"approve": "approved", "reject": "rejected", "change": "changed"}
_QUERY: Final = "call"

About = Callable[[str], tuple[str, str]]
"""Title and risk of a tool by its name."""


def turn_document(
    turn: Turn, run: Run, entries: Sequence[Entry], payload: Payload, about: About
) -> dict[str, Any]:
    told, took = project(entries, payload), _Seconds()
    for entry in entries:
        took.take(entry)
    calls = told.calls
    plans = [_plan_document(told.plans[branch]) for branch in sorted(told.plans)]
    steps = _steps(told, plans, run, about)
    answer: dict[str, Any] = told.answer or {}
    said = answer.get("answer") or (_said(calls, steps) if turn.query_type else None)
    return {
        "run_id": run.id,
        "thread_id": turn.thread_id,
        "parent": turn.parent,
        "siblings": list(turn.siblings),
        "message": turn.message,
        "mentions": list(turn.mentions),
        "attachments": [vars(item) for item in turn.attachments],
        "query_type": turn.query_type,
        "status": run.status.value,
        "waits": run.waits or [],
        "plans": plans,
        "steps": steps,
        "answer": said,
        "figures": answer.get("figures", []),
        "reading": _reading(answer, plans),
        "chart": answer.get("chart"),
        "deviations": [
            {"branch": each.step.branch, "step": each.step.id, **each.data}
            for each in told.deviations
            if each.step is not None
        ],
        "suggestions": answer.get("suggestions", []),
        "rhythm": rhythm_in(turn.message),
        "cost": _cost(told, took.seconds),
        "error": told.error,
        "created_by": turn.created_by,
        "created_at": turn.created_at,
        "ended_at": run.ended_at,
        "undoable": any(call.commits and not call.undone for call in calls.values()),
    }


def _reading(answer: Mapping[str, Any], plans: Sequence[Mapping[str, Any]]) -> Json:
    """What the question was taken to ask: known with the plan, and as the answer tells it in the end."""
    planned = plans[-1].get("asked") if plans else None
    return answer.get("reading") or planned


@dataclass
class _Seconds:
    """How long a turn took, without the time in which it waited for people."""

    seconds: float = 0.0
    _began: datetime | None = None
    _waits: dict[str, datetime] = field(default_factory=dict)
    _waited: float = 0.0

    def take(self, entry: Entry) -> None:
        if entry.type in {EntryType.call_undone, EntryType.call_redone}:
            # Days may have passed; the turn did not take longer for it.
            return
        moment = datetime.fromisoformat(entry.at)
        self._began = self._began or moment
        if entry.type == EntryType.wait_opened:
            self._waits[entry.key] = moment
        elif entry.type == EntryType.wait_closed and entry.key in self._waits:
            self._waited += (moment - self._waits.pop(entry.key)).total_seconds()
        took = (moment - self._began).total_seconds()
        self.seconds = round(max(took - self._waited, 0.0), 3)


def _cost(told: Projection, seconds: float) -> dict[str, Any]:
    spent = [_priced(each, told.payload) for each in told.spent]
    costs = [*spent, *(call.cost for call in told.calls.values() if call.cost)]
    known = [Decimal(cost["usd"]) for cost in costs if cost["usd"] is not None]
    total, is_priced = sum(known, Decimal(0)), len(known) == len(costs)
    return {
        # Nothing but unknown prices is not nothing.
        "usd": format(total, "f") if is_priced or total else None,
        "is_priced": is_priced,
        "tokens": sum(cost["tokens"] for cost in costs),
        "seconds": seconds,
    }


def _priced(spent: Spent, payload: Payload) -> dict[str, Any]:
    """What a request to a model took; without an amount where nobody knows its price."""
    cost = spent.cost
    if spent.answer is None or not cost["tokens"] or Decimal(cost["usd"]):
        return cost
    found = payload(spent.answer)
    usage = found.get("usage") if isinstance(found, dict) else None
    return {**cost, "usd": None} if usage and usage["cost"] is None else cost


def _plan_document(made: MadePlan) -> dict[str, Any]:
    """A plan as it stands after its reviews."""
    plan: dict[str, Any] = {
        "branch": made.branch,
        **made.planned,
        "proposed": None,
        "review": {"state": "none", "by": None, "skip": []},
    }
    for review in made.reviews:
        if review.answered_at is None:
            plan["review"] = {"state": "waiting", "by": None, "skip": []}
            continue
        answer = review.answer
        decision = answer.get("decision")
        plan["review"] = {
            "state": _DECIDED.get(decision, "rejected"),
            "by": answer.get("by"),
            "skip": answer.get("skip") or [],
        }
        if decision == "change" and isinstance(answer.get("plan"), dict):
            # What was planned at first stays, so that people see what somebody changed.
            plan["proposed"] = plan["proposed"] or plan["plan"]
            plan["plan"] = answer["plan"]
    return plan


def _steps(
    told: Projection, plans: Sequence[Mapping[str, Any]], run: Run, about: About
) -> list[dict[str, Any]]:
    steps = []
    for plan in plans:
        branch = plan["branch"]
        over = (
            run.status.is_final or branch < max(told.plans) or told.plans[branch].failed is not None
        )
        for step in plan["plan"]["steps"]:
            key = f"{plan_prefix(branch)}{step['id']}"
            own = [
                call
                for call in told.calls.values()
                if call.tool is not None and is_within(call.key, key)
            ]
            seen = told.steps.get(key)
            skipped = step["id"] in plan["review"]["skip"]
            state = "skipped" if skipped else _state(seen.state if seen else None, over)
            steps.append(
                {
                    "branch": branch,
                    "id": step["id"],
                    "title": step["title"],
                    "agent": step["agent"],
                    "tools": step.get("tools", []),
                    "fallback_tools": step.get("fallback_tools", []),
                    "status": "rolled_back" if state == "done" and _is_undone(own) else state,
                    "summary": seen.summary if seen else "",
                    "calls": [call_document(call, about) for call in own],
                }
            )
    return steps if plans else _query_steps(run, told.calls, about)


def _query_steps(run: Run, calls: Mapping[str, Call], about: About) -> list[dict[str, Any]]:
    """A query is a turn of one step that nobody planned."""
    call = calls.get(_QUERY)
    if call is None or call.tool is None:
        return []
    return [
        {
            "branch": 0,
            "id": _QUERY,
            "title": run.title,
            "agent": "",
            "tools": [call.tool],
            "fallback_tools": [],
            "status": {"running": "running", "waiting": "waiting", "done": "done"}.get(
                call.state, "failed"
            ),
            "summary": call.summary,
            "calls": [call_document(call, about)],
        }
    ]


def _state(known: str | None, over: bool) -> str:
    if known is None:
        return "skipped" if over else "pending"
    return "failed" if over and known in {"running", "waiting"} else known


def _is_undone(calls: Sequence[Call]) -> bool:
    changing = [call for call in calls if call.commits]
    return bool(changing) and all(call.undone for call in changing)


def _said(calls: Mapping[str, Call], steps: Sequence[Mapping[str, Any]]) -> str | None:
    call = calls.get(_QUERY) if steps else None
    return (call.summary or None) if call is not None else None


def call_document(call: Call, about: About) -> dict[str, Any]:
    title, risk = about(call.tool or "")
    return {
        "key": call.key,
        "tool": call.tool,
        "title": title,
        "risk": risk,
        "state": call.state,
        "arguments": call.arguments,
        "decision": call.decision,
        "preview": call.preview,
        "summary": call.summary,
        "value": shortened(call.value),
        "artifacts": call.artifacts,
        "commits": call.commits,
        "approvals": call.approvals,
        "cost": call.cost,
        "error": call.error,
        "undone": call.undone,
    }


def shortened(value: Json) -> Json:
    """A result with its first rows only, and how many there are in all."""
    rows = value.get("rows") if isinstance(value, dict) else None
    if isinstance(rows, list) and len(rows) > SHOWN_ROWS:
        return {**value, "rows": rows[:SHOWN_ROWS], "rows_in_all": len(rows)}
    return value
