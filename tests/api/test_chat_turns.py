"""Turns are told as they happen; who comes late, comes back or reads slowly misses nothing."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient

from steward.agents.chat.live_text import Live
from steward.api import streams
from steward.api.chat_events import ChatEvent, Place, placed
from steward.app import open_steward
from steward.core.errors import Invalid
from steward.identity import Role
from steward.testing import Installation
from tests.api.chat_stage import END, PLAN, Reader, Stage, working
from tests.api.live import LiveServer

RUN = "run_01kdgq3v0z8r5m2x7c4b9n6t1w"


@pytest.fixture
def stage(installation: Installation) -> Iterator[Stage]:
    steward = installation.steward
    stage = Stage(steward)
    with working(steward):
        yield stage


@pytest.fixture
def headers(installation: Installation) -> dict[str, str]:
    client = installation.by_token(installation.owner, Role.operator)
    return {"Authorization": client.headers["Authorization"]}


@pytest.fixture
def address(installation: Installation) -> Iterator[str]:
    with LiveServer(installation) as server:
        yield f"{server}/api/v1/projects/{installation.scope.project_id}"


@pytest.fixture
def http(headers: dict[str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(headers=headers, timeout=60) as client:
        yield client


def _opened(reader: Reader) -> dict[str, Any]:
    kind, status = next(reader)
    assert kind == "status"
    found: dict[str, Any] = status
    return found


def _follow(address: str, about: dict[str, Any]) -> str:
    return f"{address}/threads/{about['thread_id']}/turns/{about['run_id']}/stream"


def test_a_turn_is_told_from_plan_to_answer(stage: Stage, http: httpx.Client, address: str) -> None:
    with http.stream("POST", f"{address}/chat/stream", json={"message": "What is there?"}) as call:
        reader = Reader(call)
        about = _opened(reader)
        stage.say("Two ")
        told = reader.until("token")
        assert told[-1] == ("token", {"part": "answer", "offset": 0, "text": "Two "})
        stage.say("🚲 and ")
        told += reader.until("token")
        assert told[-1][1]["offset"] == 4
        stage.say("more.")
        told += reader.until("token")
        token = told[-1][1]
        assert (token["offset"], token["text"]) == (11, "more."), "as browsers count"
        stage.say(END)
        told += reader.until("done")
    kinds = [kind for kind, _ in told if kind not in {"status", "token"}]
    assert kinds == [
        *("plan", "step", "tool_call", "tool_result", "deviation", "step", "result", "done")
    ]
    found = dict(told)
    assert found["plan"] == {"branch": 1, "planned": found["plan"]["planned"]}
    assert found["plan"]["planned"]["plan"] == PLAN
    steps = [data for kind, data in told if kind == "step"]
    assert [(step["id"], step["state"], step["agent"]) for step in steps] == [
        ("look", "running", "data-analyst"),
        ("look", "done", "data-analyst"),
    ]
    assert found["tool_call"]["tool"] == found["tool_result"]["tool"] == "list_datasets"
    assert found["tool_call"]["key"] == "p1/look/call/1"
    assert found["deviation"]["step"] == "look"
    result = found["result"]
    assert (result["run_id"], result["answer"]) == (about["run_id"], "Two 🚲 and more.")
    assert result["turn"]["steps"][0]["calls"][0]["title"] == "List datasets"
    assert found["done"] == {"run_id": about["run_id"], "status": "done"}


def test_who_comes_back_gets_every_event_once(
    stage: Stage, http: httpx.Client, address: str
) -> None:
    with http.stream("POST", f"{address}/chat/stream", json={"message": "What is there?"}) as call:
        about = _opened(Reader(call))
    stage.say("Two.", END)
    url = _follow(address, about)
    with http.stream("GET", url) as call:
        reader = Reader(call)
        whole = [
            (reader.last_id, kind, data) for kind, data in reader if kind not in {"status", "token"}
        ]
    ids = [event_id for event_id, _, _ in whole]
    assert len(set(ids)) == len(ids)
    for number, event_id in enumerate(ids[:-1]):
        with http.stream("GET", url, headers={"Last-Event-ID": str(event_id)}) as call:
            rest = [each for each in Reader(call) if each[0] not in {"status", "token"}]
        assert rest == [(kind, data) for _, kind, data in whole[number + 1 :]]
    over = http.get(url, headers={"Last-Event-ID": str(ids[-1])})
    assert over.status_code == 204
    wrong = http.get(url, headers={"Last-Event-ID": f"{RUN}.3"})
    assert wrong.status_code == 422


def test_text_that_is_being_written_is_shown_to_who_comes_late_and_voided_on_a_new_try(
    stage: Stage, http: httpx.Client, address: str
) -> None:
    with http.stream("POST", f"{address}/chat/stream", json={"message": "What is there?"}) as call:
        reader = Reader(call)
        about = _opened(reader)
        stage.say("Two ", "tables")
        assert stage.spoken.acquire(timeout=20)
        assert stage.spoken.acquire(timeout=20)
    with http.stream("GET", _follow(address, about)) as call:
        reader = Reader(call)
        assert reader.until("token")[-1][1] == {
            "part": "answer",
            "offset": 0,
            "text": "Two tables",
        }
        stage.say("again")
        assert reader.until("restart")[-1][1] == {"part": "answer"}
        stage.say("Three.")
        assert reader.until("token")[-1][1] == {"part": "answer", "offset": 0, "text": "Three."}
        stage.say(END)
        assert dict(reader.until("done"))["result"]["answer"] == "Three."


def test_a_turn_outlives_its_reader_and_the_server(
    installation: Installation, http: httpx.Client, headers: dict[str, str]
) -> None:
    steward = installation.steward
    project = f"/api/v1/projects/{installation.scope.project_id}"
    first = Stage(steward)
    with LiveServer(installation) as server, working(steward):
        body = {"message": "What is there?"}
        with http.stream("POST", f"{server}{project}/chat/stream", json=body) as call:
            reader = Reader(call)
            about = _opened(reader)
            first.say("Tw")
            before = reader.until("token")
        # The worker is stopped in the middle of the sentence.
    last = reader.last_id
    again = open_steward(steward.settings, clock=installation.clock)
    second = Installation(again, installation.clock)
    stage = Stage(again)
    try:
        with LiveServer(second) as server, working(again):
            url = _follow(f"{server}{project}", about)
            with http.stream("GET", url, headers={"Last-Event-ID": str(last)}) as call:
                reader = Reader(call)
                stage.say("Two ", "tables.", END)
                after = reader.until("done")
    finally:
        second.close()
    assert stage.drives == 1
    told = [kind for kind, _ in before + after if kind not in {"status", "token"}]
    assert told == [
        *("plan", "step", "tool_call", "tool_result", "deviation", "step", "result", "done")
    ]
    tokens = [data for kind, data in after if kind == "token"]
    assert tokens[0]["offset"] == 0
    assert "".join(token["text"] for token in tokens) == "Two tables."
    assert dict(after)["result"]["answer"] == "Two tables."


def test_hanging_up_ends_no_turn(
    installation: Installation, stage: Stage, http: httpx.Client, address: str
) -> None:
    with http.stream("POST", f"{address}/chat/stream", json={"message": "What is there?"}) as call:
        about = _opened(Reader(call))
        assert stage.asked.wait(20)
    stage.say("Two.", END)
    with http.stream("GET", _follow(address, about)) as call:
        assert dict(Reader(call))["done"]["status"] == "done"


def test_a_plan_is_reviewed_once(
    installation: Installation, stage: Stage, http: httpx.Client, address: str
) -> None:
    with http.stream("POST", f"{address}/chat/stream", json={"message": "Please review"}) as call:
        reader = Reader(call)
        about = _opened(reader)
        waiting = reader.until("wait")[-1][1]
        assert (waiting["key"], waiting["kind"]) == ("plan/1/review", "plan")
        resting = next(data for kind, data in reader if kind == "status" and data["waits"])
        assert resting["status"] == "waiting_for_approval"
        turn = f"{address}/threads/{about['thread_id']}/turns/{about['run_id']}"
        shown = http.get(turn).json()
        assert shown["plans"][0]["review"]["state"] == "waiting"
        assert shown["steps"][0]["status"] == "pending"
        unknown = http.post(f"{turn}/review", json={"decision": "approve", "skip": ["nothing"]})
        assert unknown.status_code == 422
        nothing = http.post(f"{turn}/review", json={"decision": "approve", "skip": ["look"]})
        assert nothing.status_code == 422
        broken = http.post(f"{turn}/review", json={"decision": "change", "plan": {"goal": ""}})
        assert broken.status_code == 422
        assert http.post(f"{turn}/review", json={"decision": "approve"}).status_code == 204
        again = http.post(f"{turn}/review", json={"decision": "reject"})
        assert again.status_code == 409
        stage.say("Two.", END)
        told = dict(reader.until("done"))
    assert told["answered"]["answer"]["decision"] == "approve"
    review = told["result"]["turn"]["plans"][0]["review"]
    assert review == {"state": "approved", "by": installation.owner.user.id, "skip": []}


def test_turns_are_read_with_their_place_and_their_cost(
    installation: Installation, stage: Stage, http: httpx.Client, address: str
) -> None:
    stage.say("One.", END, "Two.", END, "Two, better.", END)
    one = http.post(f"{address}/chat", json={"message": "First"}).json()
    thread = one["thread_id"]
    two = http.post(f"{address}/chat", json={"message": "Then", "thread_id": thread}).json()
    edited = http.post(
        f"{address}/chat",
        json={"message": "Then, better", "thread_id": thread, "parent": one["run_id"]},
    ).json()
    assert (one["status"], one["answer"], edited["answer"]) == ("done", "One.", "Two, better.")
    turns = http.get(f"{address}/threads/{thread}/turns").json()["items"]
    assert [turn["message"] for turn in turns] == ["First", "Then, better"]
    assert turns[1]["siblings"] == [two["run_id"], edited["run_id"]]
    assert turns[1]["parent"] == one["run_id"]
    assert turns[0]["answer"] == "One."
    assert turns[0]["steps"][0]["status"] == "done"
    assert turns[0]["steps"][0]["calls"][0]["tool"] == "list_datasets"
    assert turns[0]["deviations"][0]["kind"] == "limit"
    assert turns[0]["cost"]["usd"] == "0"
    last = http.get(f"{address}/threads/{thread}/turns?limit=1").json()
    assert [turn["message"] for turn in last["items"]] == ["Then, better"]
    earlier = http.get(
        f"{address}/threads/{thread}/turns", params={"cursor": last["next_cursor"]}
    ).json()
    assert [turn["message"] for turn in earlier["items"]] == ["First"]
    assert earlier["next_cursor"] is None
    other = http.get(f"{address}/threads/{thread}/turns", params={"leaf": two["run_id"]}).json()
    assert [turn["message"] for turn in other["items"]] == ["First", "Then"]
    messages = http.get(f"{address}/threads/{thread}/messages").json()["items"]
    assert [(m["question"], m["summary"]) for m in messages][-1] == ("First", "One.")


def test_a_turn_that_breaks_says_so(stage: Stage, http: httpx.Client, address: str) -> None:
    stage.say("One.", END)
    found = http.post(f"{address}/chat", json={"message": "Please fail"}).json()
    assert (found["status"], found["turn"]["error"]["code"]) == ("failed", "bug")
    assert "unexpected error" in found["answer"]


def test_threads_over_http(
    installation: Installation, stage: Stage, http: httpx.Client, address: str
) -> None:
    made = http.post(f"{address}/threads", json={"settings": {"rows": "schema-only"}})
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    thread = made.json()
    assert (thread["title"], thread["settings"]) == (
        "",
        {"rows": "schema-only", "review": "changes"},
    )
    assert http.get(f"{address}/threads/{thread['id']}/messages").json()["items"] == []
    url = f"{address}/threads/{thread['id']}"
    assert http.patch(url, json={"title": "Bicycles"}).status_code == 428
    named = http.patch(url, json={"title": "Bicycles"}, headers={"If-Match": '"1"'})
    assert named.json()["title"] == "Bicycles"
    stale = http.patch(url, json={"title": "Other"}, headers={"If-Match": '"1"'})
    assert stale.status_code == 412
    assert [t["id"] for t in http.get(f"{address}/threads?q=bicy").json()["items"]] == [
        thread["id"]
    ]
    assert http.delete(url).status_code == 204
    assert http.get(url).status_code == 404
    assert http.post(f"{url}/restore").json()["title"] == "Bicycles"
    elsewhere = installation.project("Second")
    other = address.replace(installation.scope.project_id, elsewhere)
    mine = installation.owner.client
    inside = f"/api/v1/projects/{elsewhere}/threads/{thread['id']}"
    assert mine.get(inside).status_code == 404
    assert other != address


def test_viewers_follow_and_decide_nothing(
    installation: Installation, stage: Stage, http: httpx.Client, address: str
) -> None:
    stage.say("One.", END)
    one = http.post(f"{address}/chat", json={"message": "First"}).json()
    viewer: TestClient = installation.person(Role.viewer).client
    base = f"/api/v1/projects/{installation.scope.project_id}/threads/{one['thread_id']}"
    assert viewer.get(f"{base}/turns").status_code == 200
    stream = viewer.get(f"{base}/turns/{one['run_id']}/stream")
    assert "event: done" in stream.text
    review = viewer.post(f"{base}/turns/{one['run_id']}/review", json={"decision": "approve"})
    assert review.status_code == 403
    assert viewer.delete(base).status_code == 403


def test_places_name_parts_of_entries() -> None:
    events: list[tuple[str, Any]] = [("a", 1), ("b", 2), ("c", 3)]
    told = placed(RUN, 7, events, Place())
    assert [each.id for each in told] == [f"{RUN}.7.1", f"{RUN}.7.2", f"{RUN}.7"]
    for number, each in enumerate(told):
        left = placed(RUN, 7, events, Place.of(each.id, RUN))
        assert left == told[number + 1 :]
    assert placed(RUN, 6, events, Place.of(f"{RUN}.7.1", RUN)) == []
    assert placed(RUN, 8, events, Place.of(f"{RUN}.7", RUN))[0].kind == "a"
    for wrong in ("7", f"{RUN}.x", f"{RUN.replace('1w', '1x')}.7"):
        with pytest.raises(Invalid):
            Place.of(wrong, RUN)
    assert ChatEvent("a", {"b": "ü"}, "x").frame() == 'id: x\nevent: a\ndata: {"b":"ü"}\n\n'


def test_a_reader_that_reads_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "STALLED_SECONDS", 0.01)
    ended = threading.Event()

    async def frames() -> Any:
        try:
            while True:
                yield "event: token\n\n"
        finally:
            ended.set()

    async def send(message: Any) -> None:
        if message.get("body"):
            await asyncio.Event().wait()

    async def serve() -> None:
        stream = streams.EventStream(streams.StreamPlaces(1), "someone", frames())
        with pytest.raises(TimeoutError):
            await stream.stream_response(send)
        await stream.body_iterator.aclose()  # type: ignore[attr-defined]

    asyncio.run(serve())
    assert ended.is_set()


def test_live_text_is_bounded(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.agents.chat.live_text.LONGEST", 10)
    steward = installation.steward
    live = Live(steward.database, steward.bus, steward.clock)

    async def write() -> None:
        for _ in range(5):
            await live.write(RUN, "answer", "abcd")

    asyncio.run(write())
    assert live.snapshot(RUN) == {"answer": "abcdabcdab"}
