"""A turn for people, read from the journal of its run: plans, steps, calls, answer, cost."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from steward.agents.threads import Turn
from steward.broker.story import Call, story
from steward.runs import Entry, Json, Kind, Run

SHOWN_ROWS: Final = 100
PLAN: Final = re.compile(r"plan/(\d+)")
REVIEW: Final = re.compile(r"plan/(\d+)/review(?:/\d+)?")
GIVEN_UP: Final = re.compile(r"plan/(\d+)/failed")
STEP: Final = re.compile(r"p(\d+)/([a-z][a-z0-9_]*)(?:/(.*))?")
_DECIDED: Final = {"approve": "approved", "reject": "rejected", "change": "changed"}
_QUERY: Final = "call"
_SETTLED: Final = "/budget/settle"

Payload = Callable[[Json], Json]
About = Callable[[str], tuple[str, str]]
"""Title and risk of a tool by its name."""


@dataclass(frozen=True)
class StepPlace:
    """Where in a plan an entry belongs."""

    branch: int
    id: str
    rest: str


def step_place(key: str) -> StepPlace | None:
    """The step that an entry belongs to by its key, as in `p1/count/call/1`."""
    found = STEP.fullmatch(key.partition(":")[0])
    if found is None:
        return None
    return StepPlace(int(found.group(1)), found.group(2), found.group(3) or "")


def turn_document(
    turn: Turn, run: Run, entries: Sequence[Entry], payload: Payload, about: About
) -> dict[str, Any]:
    told = _Told(payload)
    for entry in entries:
        told.take(entry)
    calls = {call.key: call for call in story(entries, payload)}
    steps = _steps(told, run, calls, about)
    answer: dict[str, Any] = told.output or {}
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
        "plans": [told.plans[branch] for branch in sorted(told.plans)],
        "steps": steps,
        "answer": said,
        "figures": answer.get("figures", []),
        "deviations": told.deviations,
        "suggestions": answer.get("suggestions", []),
        "cost": told.cost(calls.values()),
        "error": told.error,
        "created_by": turn.created_by,
        "created_at": turn.created_at,
        "ended_at": run.ended_at,
        "undoable": any(call.commits and not call.undone for call in calls.values()),
    }


@dataclass
class _Told:
    """What the entries say beyond the calls."""

    payload: Payload
    plans: dict[int, dict[str, Any]] = field(default_factory=dict)
    states: dict[tuple[int, str], str] = field(default_factory=dict)
    summaries: dict[tuple[int, str], str] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    deviations: list[dict[str, Any]] = field(default_factory=list)
    output: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    _spent: list[dict[str, Any]] = field(default_factory=list)
    _results: dict[str, Json] = field(default_factory=dict)
    _waits: dict[str, datetime] = field(default_factory=dict)
    _waited: float = 0.0
    _moments: list[datetime] = field(default_factory=list)

    def take(self, entry: Entry) -> None:
        moment = datetime.fromisoformat(entry.at)
        if entry.kind in {Kind.undone, Kind.redone}:
            # Days may have passed; the turn did not take longer for it.
            return
        self._moments = [*self._moments[:1], moment]
        if entry.kind == Kind.opened:
            self._waits[entry.key] = moment
        elif entry.kind == Kind.closed and entry.key in self._waits:
            self._waited += (moment - self._waits.pop(entry.key)).total_seconds()
        if entry.kind == Kind.failed:
            self.error = entry.data["error"]
        if entry.kind == Kind.step and "result" in entry.data:
            self._results[entry.key] = entry.data["result"]
        if entry.key.endswith(_SETTLED):
            self._spent.append(self._priced(entry))
        if entry.kind == Kind.step and entry.key == "answer" and "result" in entry.data:
            self.output = self.payload(entry.data["result"])
        self._take_plan(entry)
        place = step_place(entry.key)
        if place is not None:
            self._take_step(place, entry)

    def _take_plan(self, entry: Entry) -> None:
        if (found := PLAN.fullmatch(entry.key)) and "result" in entry.data:
            branch = int(found.group(1))
            planned = self.payload(entry.data["result"])
            review: dict[str, Any] = {"state": "none", "by": None, "skip": []}
            self.plans[branch] = {
                "branch": branch,
                **planned,
                "proposed": None,
                "review": review,
            }
            self.over |= {earlier for earlier in self.plans if earlier < branch}
        elif found := GIVEN_UP.fullmatch(entry.key):
            self.over.add(int(found.group(1)))
        elif found := REVIEW.fullmatch(entry.key):
            plan = self.plans.get(int(found.group(1)))
            if plan is not None:
                _take_review(plan, entry)

    def _take_step(self, place: StepPlace, entry: Entry) -> None:
        at = (place.branch, place.id)
        if entry.kind == Kind.note and place.rest.startswith("deviation/"):
            self.deviations.append({"branch": place.branch, "step": place.id, **entry.data})
        elif entry.kind == Kind.note and place.rest == "done":
            self.states[at] = entry.data.get("status", "done")
            self.summaries[at] = entry.data.get("summary", "")
        elif entry.kind == Kind.note and entry.data.get("skipped"):
            self.states[at] = "skipped"
        elif entry.kind == Kind.opened:
            self.states[at] = "waiting"
        elif self.states.get(at) in {None, "waiting"}:
            self.states[at] = "running"

    def _priced(self, entry: Entry) -> dict[str, Any]:
        """What a request to a model took; without an amount where nobody knows its price."""
        cost: dict[str, Any] = entry.data["request"]["cost"]
        answer = self._results.get(entry.key.removesuffix(_SETTLED))
        if answer is None or not cost["tokens"] or Decimal(cost["usd"]):
            return cost
        found = self.payload(answer)
        usage = found.get("usage") if isinstance(found, dict) else None
        return {**cost, "usd": None} if usage and usage["cost"] is None else cost

    def cost(self, calls: Iterable[Call]) -> dict[str, Any]:
        costs = [*self._spent, *(call.cost for call in calls if call.cost)]
        known = [Decimal(cost["usd"]) for cost in costs if cost["usd"] is not None]
        total, is_priced = sum(known, Decimal(0)), len(known) == len(costs)
        took = (self._moments[-1] - self._moments[0]).total_seconds() if self._moments else 0.0
        return {
            # Nothing but unknown prices is not nothing.
            "usd": format(total, "f") if is_priced or total else None,
            "is_priced": is_priced,
            "tokens": sum(cost["tokens"] for cost in costs),
            "seconds": round(max(took - self._waited, 0.0), 3),
        }


def _take_review(plan: dict[str, Any], entry: Entry) -> None:
    if entry.kind == Kind.opened:
        plan["review"] = {"state": "waiting", "by": None, "skip": []}
    elif entry.kind == Kind.closed:
        answer = entry.data["answer"]
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


def _steps(told: _Told, run: Run, calls: Mapping[str, Call], about: About) -> list[dict[str, Any]]:
    steps = []
    for branch, plan in sorted(told.plans.items()):
        over = run.status.is_final or branch in told.over
        for step in plan["plan"]["steps"]:
            own = [
                call
                for key, call in calls.items()
                if key.startswith(f"p{branch}/{step['id']}/call/")
            ]
            skipped = step["id"] in plan["review"]["skip"]
            state = "skipped" if skipped else _state(told.states.get((branch, step["id"])), over)
            steps.append(
                {
                    "branch": branch,
                    "id": step["id"],
                    "title": step["title"],
                    "agent": step["agent"],
                    "tools": step.get("tools", []),
                    "fallback_tools": step.get("fallback_tools", []),
                    "status": "rolled_back" if state == "done" and _is_undone(own) else state,
                    "summary": told.summaries.get((branch, step["id"]), ""),
                    "calls": [call_document(call, about) for call in own],
                }
            )
    return steps if told.plans else _query_steps(run, calls, about)


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
