"""A turn in the words of AG-UI 1.0: runs, steps, messages, calls, the plan as shared state, and interrupts."""

import json
from collections.abc import Mapping
from typing import Any, Final

from steward.agents import TRYING
from steward.api.chat_events import ChatEvent
from steward.runs import Run

PROTOCOL: Final = "1.0"
ANSWER: Final = "answer"
_OVER: Final = frozenset({"done", "failed", "skipped", "rolled_back"})
_PLAN_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["decision"],
    "properties": {
        "decision": {"enum": ["approve", "reject", "change"]},
        "skip": {"type": "array", "items": {"type": "string"}},
        "plan": {"type": "object"},
    },
}
_APPROVAL_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["approve", "body_hash"],
    "properties": {
        "approve": {"type": "boolean"},
        "body_hash": {"type": "string", "description": "The hash of what was seen."},
        "reason": {"type": "string"},
        "arguments": {"type": "object", "description": "Edited arguments of the call."},
    },
}

Event = dict[str, Any]


class AgUi:
    """One AG-UI run: what happens in a turn from now until it is over or needs somebody.

    A turn that was interrupted goes on as another AG-UI run: what was told before is taken in, and not told again.
    """

    def __init__(self, thread_id: str, run_id: str, run: Run, asked: Any, *, resumed: bool) -> None:
        self._thread_id = thread_id
        self._run_id = run_id
        self._run = run
        self._asked = asked
        self._silent = resumed
        self._open_texts: dict[str, str] = {}
        self._texts = 0
        self._spoken: set[str] = set()
        self._open_steps: list[str] = []
        self._state: dict[str, Any] = {
            "steward": {"thread_id": None, "run_id": run.id},
            "status": run.status.value,
            "plan": None,
            "steps": [],
        }

    def begin(self, thread_id: str | None) -> list[Event]:
        self._state["steward"]["thread_id"] = thread_id
        started = {
            "type": "RUN_STARTED",
            "threadId": self._thread_id,
            "runId": self._run_id,
            "protocolVersion": PROTOCOL,
            "input": self._asked,
        }
        return [started]

    def caught_up(self) -> list[Event]:
        """From here on everything is told; the state says what came before."""
        self._silent = False
        again = [{"type": "STEP_STARTED", "stepName": name} for name in self._open_steps]
        return [{"type": "STATE_SNAPSHOT", "snapshot": self._state}, *again]

    def tell(self, happening: ChatEvent) -> list[Event]:
        events = self._events_of(happening)
        return [] if self._silent else events

    def _events_of(self, happening: ChatEvent) -> list[Event]:
        data = happening.data
        match happening.kind:
            case "status":
                return self._patch([_replace("/status", data["status"])])
            case "plan":
                return self._plan(data)
            case "step":
                return self._step(data)
            case "token":
                return self._token(data)
            case "restart":
                return self._end_text(data["part"])
            case "tool_call":
                return self._tool_call(data)
            case "tool_result":
                return [self._tool_result(data)]
            case "deviation":
                return [_activity(happening.id, "steward.deviation", data)]
            case "wait":
                return [_activity(data["key"], "steward.wait", data)]
            case _:
                return []

    # What the plan says

    def _plan(self, data: Mapping[str, Any]) -> list[Event]:
        branch, plan = data["branch"], data["planned"]["plan"]
        kept = [step for step in self._state["steps"] if step["branch"] != branch]
        new = [
            {"branch": branch, "id": step["id"], "title": step["title"], "status": "pending"}
            for step in plan["steps"]
        ]
        changes = [_replace("/plan", data["planned"]), _replace("/steps", [*kept, *new])]
        return self._patch(changes)

    def _step(self, data: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        name = f"p{data['branch']}/{data['id']}"
        for number, step in enumerate(self._state["steps"]):
            if (step["branch"], step["id"]) == (data["branch"], data["id"]):
                events += self._patch([_replace(f"/steps/{number}/status", data["state"])])
        if data["state"] in _OVER:
            events += self._finish_step(name)
        elif name not in self._open_steps:
            self._open_steps.append(name)
            events.append({"type": "STEP_STARTED", "stepName": name})
        return events

    def _finish_step(self, name: str) -> list[Event]:
        if name not in self._open_steps:
            return []
        self._open_steps.remove(name)
        return [*self._end_text(name), {"type": "STEP_FINISHED", "stepName": name}]

    def _patch(self, changes: list[dict[str, Any]]) -> list[Event]:
        for change in changes:
            _apply(self._state, change)
        return [{"type": "STATE_DELTA", "delta": changes}]

    # What is said and done

    def _token(self, data: Mapping[str, Any]) -> list[Event]:
        part, events = data["part"], list[Event]()
        if part == TRYING:
            return [_activity(f"{self._run.id}/{part}", "steward.trying", {"text": data["text"]})]
        if part not in self._open_texts:
            self._texts += 1
            self._spoken.add(part)
            message_id = f"{self._run.id}/{part}/{self._texts}"
            self._open_texts[part] = message_id
            events.append(
                {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}
            )
        content = {"messageId": self._open_texts[part], "delta": data["text"]}
        return [*events, {"type": "TEXT_MESSAGE_CONTENT", **content}]

    def _end_text(self, part: str) -> list[Event]:
        message_id = self._open_texts.pop(part, None)
        if message_id is None:
            return []
        return [{"type": "TEXT_MESSAGE_END", "messageId": message_id}]

    def _tool_call(self, data: Mapping[str, Any]) -> list[Event]:
        call = {"toolCallId": self._call_id(data["key"])}
        arguments = json.dumps(data["arguments"], ensure_ascii=False)
        return [
            {"type": "TOOL_CALL_START", **call, "toolCallName": data["tool"]},
            {"type": "TOOL_CALL_ARGS", **call, "delta": arguments},
            {"type": "TOOL_CALL_END", **call},
        ]

    def _tool_result(self, data: Mapping[str, Any]) -> Event:
        error = data["error"]
        content = f"Error: {error['message']}" if error else data["summary"]
        found = {"artifacts": data["artifacts"], "cost": data["cost"]} if not error else {}
        return {
            "type": "TOOL_CALL_RESULT",
            "messageId": f"{self._call_id(data['key'])}/result",
            "toolCallId": self._call_id(data["key"]),
            "content": content,
            "role": "tool",
            **({"metadata": {"steward": found}} if found else {}),
        }

    def _call_id(self, key: str) -> str:
        return f"{self._run.id}/{key}"

    # How it ends

    def interrupted(self, waits: list[dict[str, Any]]) -> list[Event]:
        """The turn rests until somebody answers; resume entries of the next run carry the answers."""
        interrupts = [self._interrupt(wait) for wait in waits]
        return [*self._close(), self._finished({"type": "interrupt", "interrupts": interrupts})]

    def concluded(self, result: Mapping[str, Any]) -> list[Event]:
        """The end of a turn that is over; text that was not streamed is told whole."""
        events: list[Event] = []
        if ANSWER not in self._spoken and result["answer"]:
            events += self._token({"part": ANSWER, "text": result["answer"]})
        events += self._close()
        if result["status"] == "failed":
            error = (result.get("turn") or {}).get("error") or {}
            message = error.get("message") or result["answer"]
            return [
                *events,
                {"type": "RUN_ERROR", "message": message, "code": error.get("code", "failed")},
            ]
        outcome = "cancelled" if result["status"] == "cancelled" else "success"
        return [*events, {**self._finished({"type": outcome}), "result": result["turn"]}]

    def _close(self) -> list[Event]:
        """Everything that is open ends before its run does."""
        events = [event for part in list(self._open_texts) for event in self._end_text(part)]
        return events + [
            event for name in list(self._open_steps) for event in self._finish_step(name)
        ]

    def _finished(self, outcome: dict[str, Any]) -> Event:
        return {
            "type": "RUN_FINISHED",
            "threadId": self._thread_id,
            "runId": self._run_id,
            "outcome": outcome,
        }

    def _interrupt(self, wait: Mapping[str, Any]) -> dict[str, Any]:
        kind, key = wait["kind"], wait["key"]
        about: dict[str, Any] = {
            "id": interrupt_id(self._run.id, key),
            "reason": f"steward:{kind}",
            "message": wait["reason"] or "Somebody has to decide.",
            "metadata": {"steward": dict(wait)},
        }
        if wait.get("expires_at"):
            about["expiresAt"] = wait["expires_at"]
        schema = _schema_of(wait)
        if schema is not None:
            about["responseSchema"] = schema
        if "approval_id" in wait:
            about["toolCallId"] = self._call_id(wait.get("of", key))
        return about


def interrupt_id(run_id: str, key: str) -> str:
    return f"{run_id}:{key}"


def _schema_of(wait: Mapping[str, Any]) -> dict[str, Any] | None:
    if wait["kind"] == "plan":
        return dict(_PLAN_SCHEMA)
    if "approval_id" in wait:
        return dict(_APPROVAL_SCHEMA)
    request = wait.get("request")
    schema = request.get("form") if isinstance(request, dict) else None
    return schema if isinstance(schema, dict) else None


def _activity(message_id: str | None, kind: str, content: Mapping[str, Any]) -> Event:
    return {
        "type": "ACTIVITY_SNAPSHOT",
        "messageId": str(message_id),
        "activityType": kind,
        "content": dict(content),
    }


def _replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def _apply(state: dict[str, Any], change: Mapping[str, Any]) -> None:
    *way, last = change["path"].split("/")[1:]
    target: Any = state
    for name in way:
        target = target[int(name)] if isinstance(target, list) else target[name]
    target[last] = change["value"]
