"""Turns in the words of AG-UI, each event checked with the protocol's own models, each run by its rules."""

from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
from ag_ui.core import Event, RunAgentInput
from pydantic import TypeAdapter

from steward.agents.chat.live_text import TRYING
from steward.agents.chat.threads import CHAT_PROGRAM
from steward.api.ag_ui_events import AgUi
from steward.api.chat_events import ChatEvent
from steward.identity import Role
from steward.runs import RunRequest
from steward.testing import Installation
from tests.api.chat_stage import END, Reader, Stage, working
from tests.api.live import LiveServer

_EVENTS: TypeAdapter[Any] = TypeAdapter(Event)


@pytest.fixture
def stage(installation: Installation) -> Iterator[Stage]:
    stage = Stage(installation.steward)
    with working(installation.steward):
        yield stage


@pytest.fixture
def http(installation: Installation) -> Iterator[httpx.Client]:
    token = installation.by_token(installation.owner, Role.operator).headers["Authorization"]
    with (
        LiveServer(installation) as server,
        httpx.Client(
            base_url=f"{server}/api/v1/projects/{installation.scope.project_id}/",
            headers={"Authorization": token},
            timeout=60,
        ) as client,
    ):
        yield client


def _input(text: str | None, run_id: str, **more: Any) -> dict[str, Any]:
    said = [{"id": "m1", "role": "user", "content": text}] if text is not None else []
    body = {"threadId": "window 1", "runId": run_id, "messages": said, **more}
    RunAgentInput.model_validate(body)
    return body


def _ran(http: httpx.Client, body: dict[str, Any]) -> list[dict[str, Any]]:
    with http.stream("POST", "chat/ag-ui", json=body) as call:
        assert call.status_code == 200, call.read()
        events = [data for _, data in Reader(call)]
    for event in events:
        _EVENTS.validate_python(event)
        assert None not in event.values(), "what has no value is left out"
    _check_order(events)
    return events


def _check_order(events: list[dict[str, Any]]) -> None:
    """Begun once, ended once, and everything opened inside is closed inside."""
    kinds = [event["type"] for event in events]
    assert kinds[0] == "RUN_STARTED"
    assert kinds[-1] in {"RUN_FINISHED", "RUN_ERROR"}
    assert kinds.count("RUN_STARTED") == 1
    for word, name in (("TEXT_MESSAGE", "messageId"), ("TOOL_CALL", "toolCallId")):
        opened: set[str] = set()
        for event in events:
            match event["type"].removeprefix(f"{word}_"):
                case "START" if event["type"].startswith(word):
                    assert event[name] not in opened
                    opened.add(event[name])
                case "CONTENT" | "ARGS":
                    assert event[name] in opened
                case "END" if event["type"].startswith(word):
                    opened.remove(event[name])
        assert not opened
    steps = [event for event in events if event["type"].startswith("STEP_")]
    begun = [event["stepName"] for event in steps if event["type"] == "STEP_STARTED"]
    ended = [event["stepName"] for event in steps if event["type"] == "STEP_FINISHED"]
    assert sorted(begun) == sorted(ended)


def _state(events: list[dict[str, Any]]) -> Any:
    """The shared state after all patches, applied as RFC 6902 says."""
    state: Any = None
    for event in events:
        if event["type"] == "STATE_SNAPSHOT":
            state = event["snapshot"]
        elif event["type"] == "STATE_DELTA":
            for change in event["delta"]:
                assert change["op"] == "replace"
                *way, last = change["path"].split("/")[1:]
                target = state
                for name in way:
                    target = target[int(name)] if isinstance(target, list) else target[name]
                assert last in target, "only what is there can be replaced"
                target[last] = change["value"]
    return state


def test_a_turn_runs_from_start_to_success(stage: Stage, http: httpx.Client) -> None:
    stage.say("Two ", "tables.", END)
    events = _ran(http, _input("What is there?", "r1"))
    assert (events[0]["threadId"], events[0]["runId"]) == ("window 1", "r1")
    assert events[0]["protocolVersion"] == "1.0"
    kinds = [event["type"] for event in events]
    for kind in ("STEP_STARTED", "TOOL_CALL_ARGS", "TOOL_CALL_RESULT", "ACTIVITY_SNAPSHOT"):
        assert kind in kinds
    said = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
    assert "".join(said) == "Two tables."
    state = _state(events)
    assert state["plan"]["plan"]["goal"] == "Know what is there"
    assert [(step["id"], step["status"]) for step in state["steps"]] == [("look", "done")]
    assert events[-1]["outcome"] == {"type": "success"}
    assert events[-1]["result"]["answer"] == "Two tables."
    stage.say("More.", END)
    parts = [{"type": "text", "text": "And"}, {"type": "text", "text": "then?"}]
    again = {
        "threadId": "window 1",
        "runId": "r2",
        "messages": [{"id": "m2", "role": "user", "content": parts}],
    }
    after = _ran(http, again)
    turn = after[-1]["result"]
    assert (turn["message"], turn["thread_id"]) == ("And\nthen?", state["steward"]["thread_id"])
    assert turn["parent"] == state["steward"]["run_id"]


def test_a_plan_to_review_interrupts_and_the_answer_resumes(
    stage: Stage, http: httpx.Client
) -> None:
    events = _ran(http, _input("Please review", "r1"))
    outcome = events[-1]["outcome"]
    assert outcome["type"] == "interrupt"
    [interrupt] = outcome["interrupts"]
    assert interrupt["reason"] == "steward:plan"
    assert interrupt["responseSchema"]["required"] == ["decision"]
    assert interrupt["metadata"]["steward"]["request"]["plan"]["goal"] == "Know what is there"
    wrong = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"decision": "x"}}]
    refused = http.post("chat/ag-ui", json=_input(None, "r2", resume=wrong))
    assert refused.status_code == 422
    stage.say("Two.", END)
    answer = {"decision": "approve"}
    given = [{"interruptId": interrupt["id"], "status": "resolved", "payload": answer}]
    resumed = _ran(http, _input(None, "r3", resume=given))
    kinds = [event["type"] for event in resumed]
    assert kinds[:2] == ["RUN_STARTED", "STATE_SNAPSHOT"]
    assert resumed[1]["snapshot"]["plan"]["plan"]["goal"] == "Know what is there"
    assert _state(resumed)["steps"][0]["status"] == "done"
    assert resumed[-1]["outcome"] == {"type": "success"}
    late = http.post("chat/ag-ui", json=_input(None, "r4", resume=given))
    assert late.status_code == 409


def test_an_abandoned_interrupt_rejects(stage: Stage, http: httpx.Client) -> None:
    events = _ran(http, _input("Please review", "r1"))
    [interrupt] = events[-1]["outcome"]["interrupts"]
    given = [{"interruptId": interrupt["id"], "status": "cancelled"}]
    resumed = _ran(http, _input(None, "r2", resume=given))
    assert resumed[-1]["result"]["plans"][0]["review"]["state"] == "rejected"
    assert resumed[-1]["result"]["answer"] == "Nothing was done."


def test_a_turn_that_breaks_is_an_error(stage: Stage, http: httpx.Client) -> None:
    stage.say("Two.", END)
    events = _ran(http, _input("Please fail", "r1"))
    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "bug")


def test_what_cannot_be_asked_is_refused(stage: Stage, http: httpx.Client) -> None:
    nothing = http.post("chat/ag-ui", json=_input(None, "r1"))
    assert nothing.status_code == 422
    image = {"type": "image", "source": {"type": "url", "value": "https://example.com/x.png"}}
    body = _input("x", "r1") | {"messages": [{"id": "m", "role": "user", "content": [image]}]}
    assert "uploads" in http.post("chat/ag-ui", json=body).json()["detail"]
    unknown = _input("x", "r1") | {"threadId": f"thr_{'0' * 26}"}
    assert http.post("chat/ag-ui", json=unknown).status_code == 404


def test_why_a_model_takes_longer_is_an_activity_and_no_message(installation: Installation) -> None:
    run = installation.steward.runs.start(
        installation.scope, "usr_test", RunRequest("Ask", CHAT_PROGRAM, {})
    )
    told = AgUi("window 1", "1", run, {}, resumed=False)
    busy = ChatEvent("token", {"part": TRYING, "offset": 0, "text": "Busy. Asking again in 2 s."})

    (event,) = told.tell(busy)

    _EVENTS.validate_python(event)
    assert event["activityType"] == "steward.trying"
    assert event["content"] == {"text": "Busy. Asking again in 2 s."}
    assert told.tell(ChatEvent("restart", {"part": TRYING})) == []
