"""Entries of a turn's journal as what happened in it: plans, steps, calls, results, waits."""

from collections.abc import Callable
from typing import Any, Final

from steward.agents.turn_documents import PLAN, step_place
from steward.runs import Entry, Kind


class Teller:
    """Turns entries into events; told from the first entry on, it says the same each time."""

    def __init__(self, payload: Callable[[Any], Any]) -> None:
        self._payload = payload
        self._called: dict[str, str] = {}
        self._agents: dict[tuple[int, str], str] = {}
        self._states: dict[tuple[int, str], str] = {}

    def tell(self, entry: Entry) -> list[tuple[str, Any]]:
        told = self._step(entry)
        key, data = entry.key, entry.data
        if (found := PLAN.fullmatch(key)) and "result" in data:
            told.append(("plan", self._plan(int(found.group(1)), self._payload(data["result"]))))
        elif entry.kind == Kind.step and key.endswith("/plan") and "tool" in data["request"]:
            told += self._call(key.removesuffix("/plan"), entry)
        elif entry.kind in {Kind.step, Kind.outcome} and key in self._called:
            told.append(self._result(key, entry))
        elif entry.kind == Kind.opened:
            told.append(("wait", _wait(entry)))
        elif entry.kind == Kind.closed:
            told.append(("answered", {"key": key, "answer": data["answer"]}))
        return told

    def _plan(self, branch: int, planned: dict[str, Any]) -> dict[str, Any]:
        for step in planned["plan"]["steps"]:
            self._agents[branch, step["id"]] = step["agent"]
        return {"branch": branch, "planned": planned}

    def _step(self, entry: Entry) -> list[tuple[str, Any]]:
        """What the entry says about the step that it belongs to."""
        place = step_place(entry.key)
        if place is None:
            return []
        if entry.kind == Kind.note and place.rest.startswith("deviation/"):
            return [("deviation", {"branch": place.branch, "step": place.id, **entry.data})]
        at = (place.branch, place.id)
        before, state = self._states.get(at), "running"
        if entry.kind == Kind.note and place.rest == "done":
            state = entry.data.get("status", "done")
        elif entry.kind == Kind.note and entry.data.get("skipped"):
            state = "skipped"
        elif entry.kind == Kind.opened:
            state = "waiting"
        elif before in {"done", "skipped"}:
            return []
        if state == before:
            return []
        self._states[at] = state
        about = {"branch": place.branch, "id": place.id, "state": state}
        return [("step", {**about, "agent": self._agents.get(at, "")})]

    def _call(self, key: str, entry: Entry) -> list[tuple[str, Any]]:
        asked = entry.data["request"]
        self._called[key] = asked["tool"]
        about = {"key": key, "step": _step_of(key), "tool": asked["tool"]}
        told: list[tuple[str, Any]] = [("tool_call", {**about, "arguments": asked["arguments"]})]
        if "error" in entry.data:
            told.append(self._result(key, entry))
        else:
            decision = self._payload(entry.data["result"])["decision"]
            if decision["outcome"] == "deny":
                denied = {"code": "denied", "message": decision["reason"]}
                told.append(("tool_result", {**_NOTHING, **about, "error": denied}))
        return told

    def _result(self, key: str, entry: Entry) -> tuple[str, Any]:
        about = {"key": key, "step": _step_of(key), "tool": self._called[key]}
        if "error" in entry.data:
            return "tool_result", {**_NOTHING, **about, "error": entry.data["error"]}
        outcome = self._payload(entry.data["result"])
        found = {name: outcome[name] for name in ("summary", "artifacts", "cost")}
        return "tool_result", {**_NOTHING, **about, **found}


_NOTHING: Final[dict[str, Any]] = {"summary": "", "artifacts": [], "cost": None, "error": None}


def _step_of(key: str) -> str | None:
    place = step_place(key)
    return None if place is None else place.id


def _wait(entry: Entry) -> dict[str, Any]:
    asked = entry.data["request"]
    known = asked if isinstance(asked, dict) else {}
    return {
        "key": entry.key,
        "kind": known.get("kind", "wait"),
        "reason": known.get("reason") or known.get("question") or "",
        "expires_at": entry.data["expires_at"],
        "request": asked,
    }
