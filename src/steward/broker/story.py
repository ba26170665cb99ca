"""The story of a run for people: its calls in order, each with what was asked, decided, approved, done and undone."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from steward.runs import Entry, EntryType, Json, Kind

_STAGE = re.compile(
    r"(?P<call>.+)/(?:plan|window(?:/begun)?|answer|release"
    r"|(?:approval|budget|edited)/[^/]+(?:/expired)?)"
)
_AGAIN = re.compile(r"/again-\d+$")
"""Where people were asked once more, because the rules changed while the run waited."""


@dataclass
class Call:
    """One call of a tool, or one wait of a flow, from its first entry to its last."""

    key: str
    tool: str | None = None
    state: str = "running"
    began_at: str = ""
    ended_at: str | None = None
    arguments: Json = None
    decision: Json = None
    preview: Json = None
    provenance: Json = None
    approvals: list[Json] = field(default_factory=list)
    waits: list[Json] = field(default_factory=list)
    retries: int = 0
    summary: str = ""
    value: Json = None
    artifacts: list[Json] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    cost: Json = None
    error: Json = None
    undone: bool = False


def story(entries: Iterable[Entry], payload: Callable[[Json], Json]) -> list[Call]:
    """Calls by the order in which they began; `payload` fetches what was too large for the journal."""
    calls: dict[str, Call] = {}
    for entry in entries:
        key = call_key(entry.key)
        if key == "run" or entry.kind in {Kind.created, Kind.control}:
            continue
        call = calls.setdefault(key, Call(key, began_at=entry.at))
        _tell(call, entry, payload)
    return list(calls.values())


def call_key(key: str) -> str:
    """The call an entry belongs to: its key without the stage of the broker or the note of a node."""
    key = key.partition(":")[0]
    # At the end only: a node may be called `plan` or `answer` as well.
    stage = _STAGE.fullmatch(key)
    if stage is not None:
        return _AGAIN.sub("", stage["call"])
    return key.removesuffix("/uncertain").removesuffix("/start")


def _tell(call: Call, entry: Entry, payload: Callable[[Json], Json]) -> None:
    data = entry.data
    if entry.type == EntryType.call_planned:
        _tell_plan(call, entry, payload)
        return
    match entry.kind:
        case Kind.step | Kind.outcome if entry.key == call.key:
            _tell_outcome(call, entry, payload)
        case Kind.step if "error" in data:
            call.error, call.state, call.ended_at = data["error"], "failed", entry.at
        case Kind.retry:
            call.retries = data["attempt"]
        case Kind.opened:
            call.state = "waiting"
            call.waits.append({"key": entry.key, "request": data["request"], "at": entry.at})
        case Kind.closed:
            call.state = "running"
            _tell_answer(call, entry)
        case Kind.undone:
            call.undone = True
        case Kind.redone:
            call.undone = False
        case _:
            pass


def _tell_plan(call: Call, entry: Entry, payload: Callable[[Json], Json]) -> None:
    asked = entry.data["request"]
    call.tool, call.arguments = asked["tool"], asked["arguments"]
    if "error" in entry.data:
        call.error, call.state, call.ended_at = entry.data["error"], "failed", entry.at
        return
    plan: dict[str, Any] = payload(entry.data["result"])
    call.decision, call.preview = plan["decision"], plan["preview"]
    call.provenance, call.arguments = plan["provenance"], plan["arguments"]
    if plan["decision"]["outcome"] == "deny":
        call.state, call.ended_at = "denied", entry.at
        call.error = {"code": "denied", "message": plan["decision"]["reason"]}


def _tell_outcome(call: Call, entry: Entry, payload: Callable[[Json], Json]) -> None:
    call.ended_at = entry.at
    if "error" in entry.data:
        call.error, call.state = entry.data["error"], "failed"
        return
    call.state = "done"
    outcome = payload(entry.data["result"])
    if isinstance(outcome, dict) and {"value", "labels", "cost"} <= outcome.keys():
        call.summary, call.value = outcome["summary"], outcome["value"]
        call.artifacts, call.commits = outcome["artifacts"], outcome["commits"]
        call.cost = outcome["cost"]
    else:
        call.value = outcome


def _tell_answer(call: Call, entry: Entry) -> None:
    answer = entry.data["answer"]
    for wait in call.waits:
        if wait["key"] == entry.key:
            wait["answer"], wait["answered_at"] = answer, entry.at
    if isinstance(answer, dict) and "approval_id" in answer:
        call.approvals.append({**answer, "at": entry.at})
    if entry.key == call.key or entry.key.endswith("/answer"):
        call.state, call.ended_at, call.value = "done", entry.at, answer
    elif isinstance(answer, dict) and (
        answer.get("expired") or answer.get("decision") in {"rejected", "undone"}
    ):
        expired_window = answer.get("expired") and entry.key.endswith("/window")
        if not expired_window:
            call.state, call.ended_at = "refused", entry.at
