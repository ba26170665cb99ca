"""Entries of a turn's journal as what happened in it: plans, steps, calls, results, waits."""

from typing import Any, Final

from steward.runs import Entry, EntryType, Payload, Projection


class Teller:
    """Turns entries into events; told from the first entry on, it says the same each time."""

    def __init__(self, payload: Payload) -> None:
        self._seen = Projection(payload)

    def tell(self, entry: Entry) -> list[tuple[str, Any]]:
        step = self._seen.step_of(entry.of)
        before = None if step is None else step.state
        known = self._tool(entry.of)
        self._seen.take(entry)
        told: list[tuple[str, Any]] = []
        if step is not None and entry.type == EntryType.step_deviated:
            told.append(("deviation", {"branch": step.branch, "step": step.id, **entry.data}))
        elif step is not None and step.state != before:
            about = {"branch": step.branch, "id": step.id, "state": step.state}
            told.append(("step", {**about, "agent": step.agent}))
        return told + self._happened(entry, known)

    def _happened(self, entry: Entry, known: str | None) -> list[tuple[str, Any]]:
        match entry.type:
            case EntryType.plan_made if "result" in entry.data:
                branch = entry.data["request"]["branch"]
                planned = self._seen.plans[branch].planned
                return [("plan", {"branch": branch, "planned": planned})]
            case EntryType.call_planned if known is None:
                return self._called(entry)
            case EntryType.call_done if known is not None:
                return [self._result(entry)]
            case EntryType.wait_opened:
                return [("wait", _wait(entry))]
            case EntryType.wait_closed:
                return [("answered", {"key": entry.key, "answer": entry.data["answer"]})]
            case _:
                return []

    def _called(self, entry: Entry) -> list[tuple[str, Any]]:
        asked, call = entry.data["request"], self._seen.calls[entry.of]
        told: list[tuple[str, Any]] = [
            ("tool_call", {**self._about(entry.of), "arguments": asked["arguments"]})
        ]
        if call.error is not None:
            told.append(self._result(entry))
        return told

    def _result(self, entry: Entry) -> tuple[str, Any]:
        call, about = self._seen.calls[entry.of], self._about(entry.of)
        if call.error is not None:
            return "tool_result", {**_NOTHING, **about, "error": call.error}
        found = {"summary": call.summary, "artifacts": call.artifacts, "cost": call.cost}
        return "tool_result", {**_NOTHING, **about, **found}

    def _about(self, key: str) -> dict[str, Any]:
        step = self._seen.step_of(key)
        return {"key": key, "step": None if step is None else step.id, "tool": self._tool(key)}

    def _tool(self, key: str) -> str | None:
        call = self._seen.calls.get(key)
        return None if call is None else call.tool


_NOTHING: Final[dict[str, Any]] = {"summary": "", "artifacts": [], "cost": None, "error": None}


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
