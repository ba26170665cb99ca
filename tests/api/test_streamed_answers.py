"""Answers that a POST streams: none shows a stored secret, neither in one event nor in the text they make together.

The routes are read from the OpenAPI document: one that is added and has no body here fails a test.
"""

from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest

from steward.identity import Role
from steward.testing import Installation
from tests.api.chat_stage import END, Reader, Stage, working
from tests.api.leaks import PROJECT, SECRET, SPELLED, shown
from tests.api.live import LiveServer
from tests.api.routes import openapi_document

pytestmark = pytest.mark.timeout(300)
_MESSAGE = f"What is {SECRET}?"
BODIES: dict[str, dict[str, Any]] = {
    "/chat/stream": {"message": _MESSAGE},
    "/chat/ag-ui": {
        "threadId": "window 1",
        "runId": "r1",
        "messages": [{"id": "m1", "role": "user", "content": _MESSAGE}],
    },
}
"""What a person may say to it."""


@pytest.fixture
def stage(installation: Installation) -> Iterator[Stage]:
    installation.steward.secrets.set(installation.scope, "bank", SECRET, author="usr_test")
    stage = Stage(installation.steward)
    with working(installation.steward):
        yield stage


@pytest.fixture
def http(installation: Installation) -> Iterator[httpx.Client]:
    token = installation.by_token(installation.owner, Role.operator).headers["Authorization"]
    with (
        LiveServer(installation) as server,
        httpx.Client(
            base_url=f"{server}/api/v1/projects/{installation.scope.project_id}",
            headers={"Authorization": token},
            timeout=60,
        ) as client,
    ):
        yield client


def test_each_route_that_streams_an_answer_is_read_here() -> None:
    streaming = {
        path.removeprefix(PROJECT)
        for path, item in openapi_document()["paths"].items()
        if "text/event-stream"
        in item.get("post", {}).get("responses", {}).get("200", {}).get("content", {})
    }
    assert streaming == BODIES.keys()


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("size", [1, 5, 1000], ids=["letters", "pieces", "whole"])
def test_an_answer_shows_no_secret_while_it_is_streamed(
    stage: Stage, http: httpx.Client, path: str, size: int
) -> None:
    told = "It is " + ", ".join(SPELLED.values()) + ". That is all."
    stage.say(*(told[at : at + size] for at in range(0, len(told), size)), END)
    with http.stream("POST", path, json=BODIES[path]) as call:
        assert call.status_code == 200, call.read()
        events = list(Reader(call))
    assert shown(repr(events).encode()) == set()
    spoken = "".join(_texts(events))
    assert "That is all." in spoken
    assert shown(spoken.encode()) == set()


@pytest.mark.parametrize("path", BODIES)
def test_a_question_that_cannot_be_answered_shows_no_secret(
    stage: Stage, http: httpx.Client, path: str
) -> None:
    stage.say(SECRET, END)
    body = _with_message(BODIES[path], f"fail with {SECRET}")
    with http.stream("POST", path, json=body) as call:
        events = list(Reader(call))
    assert "failed" in repr(events).casefold() or "run_error" in repr(events).casefold()
    assert shown(repr(events).encode()) == set()


def _texts(events: list[tuple[str, Any]]) -> Iterator[str]:
    """The words of the answer as they came."""
    for kind, data in events:
        if kind == "token":
            yield data["text"]
        elif isinstance(data, dict) and data.get("type") == "TEXT_MESSAGE_CONTENT":
            yield data["delta"]


def _with_message(body: dict[str, Any], text: str) -> dict[str, Any]:
    if "message" in body:
        return {**body, "message": text}
    return {**body, "messages": [{**body["messages"][0], "content": text}]}
