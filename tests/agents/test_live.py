"""Live text reaches whoever follows a run, in this process or another, and rings go only where somebody listens."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from steward.agents.chat.live_text import TRYING, Live
from steward.app import Steward, open_steward
from steward.models import Delta
from steward.runs import Execution, Json, RunRequest
from steward.runs.topics import journal_topic, run_topic
from steward.store import Scope
from steward.testing import Installation

pytestmark = pytest.mark.every_database


@pytest.fixture
def run_id(installation: Installation) -> str:
    async def chat(execution: Execution) -> Json:
        async def look() -> Json:
            return 1

        return [await execution.step(f"look/{number}", {}, look) for number in range(3)]

    installation.steward.runs.programs["chat"] = chat
    request = RunRequest(title="A turn", program="chat", document={})
    run = installation.steward.runs.start(installation.scope, installation.owner.user.id, request)
    return run.id


@pytest.fixture
def live(installation: Installation) -> Live:
    return installation.steward.live


@pytest.fixture
def elsewhere(installation: Installation) -> Iterator[Steward]:
    """Another process of the same installation."""
    if installation.steward.database.is_sqlite:
        pytest.skip("one process on SQLite")
    other = open_steward(installation.steward.settings, clock=installation.clock)
    yield other
    other.close()


def test_text_grows_begins_anew_and_is_forgotten(live: Live, run_id: str) -> None:
    rung: list[str] = []

    async def written() -> None:
        await live.restart(run_id, "answer")
        await live.write(run_id, "answer", "Two ")
        await live.write(run_id, "answer", "tables")
        before = live.parts(run_id)["answer"]
        assert before.text == "Two tables"
        await live.restart(run_id, "answer")
        after = live.parts(run_id)["answer"]
        assert (after.text, after.beginning > before.beginning) == ("", True)
        await live.write(run_id, "p1/count", "12")
        assert live.snapshot(run_id) == {"answer": "", "p1/count": "12"}
        await live.forget(run_id)
        assert live.snapshot(run_id) == {}

    with live.listening(run_id, lambda: rung.append("live")):
        asyncio.run(written())
    assert len(rung) >= 4


def test_each_request_to_a_model_begins_its_part_anew(live: Live, run_id: str) -> None:
    async def asked() -> None:
        first = live.writer(run_id, "answer")
        await first(Delta("text", "Half of"))
        await first(Delta("restart"))
        await first(Delta("thought", "hm"))
        await first(Delta("text", "One."))
        assert live.snapshot(run_id) == {"answer": "One."}
        # The same question after a crash in the middle of its answer.
        second = live.writer(run_id, "answer")
        await second(Delta("text", "One"))
        assert live.snapshot(run_id) == {"answer": "One"}

    asyncio.run(asked())


def test_why_a_model_takes_longer_is_shown_until_it_answers(live: Live, run_id: str) -> None:
    async def asked() -> None:
        for part in ("answer", None):
            show = live.writer(run_id, part)
            await show(Delta("trying", "Busy. Asking again in 1 s."))
            await show(Delta("trying", "Busy. Asking again in 2 s."))
            assert live.snapshot(run_id)[TRYING] == "Busy. Asking again in 2 s."
            await show(Delta("text", "One."))
            assert live.snapshot(run_id)[TRYING] == ""
        assert live.snapshot(run_id)["answer"] == "One.", "no part, no text"
        await show(Delta("trying", "Busy."))
        await live.answered(run_id)
        assert live.snapshot(run_id)[TRYING] == ""

    asyncio.run(asked())


def test_old_runs_make_room(live: Live) -> None:
    async def written() -> None:
        for number in range(600):
            await live.write(f"run {number}", "answer", "x")

    # Nothing of these runs is in the database, so nothing is stored either.
    asyncio.run(written())
    assert live.snapshot("run 0") == {}
    assert live.snapshot("run 599") == {"answer": "x"}


def test_another_process_reads_along(
    installation: Installation, elsewhere: Steward, live: Live, run_id: str
) -> None:
    heard = threading.Event()
    there = elsewhere.live

    async def written(*words: str) -> None:
        for word in words:
            await live.write(run_id, "answer", word)
        assert live._storing is not None
        await live._storing

    with there.listening(run_id, heard.set):
        known = _followed(installation.steward, elsewhere, f"live/{run_id}")
        assert known.wait(20)
        asyncio.run(written("Two ", "tables"))
        assert heard.wait(20)
    found = there.read(installation.scope, run_id)
    assert {part: text.text for part, text in found.items()} == {"answer": "Two tables"}

    async def taken_over() -> None:
        # The first process is gone; another one asks the model again.
        show = there.writer(run_id, "answer")
        await show(Delta("text", "Thr"))
        assert there._storing is not None
        await there._storing

    asyncio.run(taken_over())
    third = Live(elsewhere.database, elsewhere.bus, elsewhere.clock)
    again = third.read(installation.scope, run_id)["answer"]
    assert (again.text, again.beginning > found["answer"].beginning) == ("Thr", True)
    asyncio.run(there.forget(run_id))
    assert third.read(installation.scope, run_id) == {}


def _followed(here: Steward, there: Steward, topic: str) -> threading.Event:
    """Set once this process knows that somebody follows the topic in the other one."""
    known = threading.Event()

    def look() -> None:
        if here.bus.wanted([topic]):
            known.set()

    with here.bus.listening("look", look):
        there.bus.follow(topic)
        for _ in range(100):
            with there.database.write(Scope("org_x", "prj_x")) as tx:
                there.bus.ring(tx, "look")
            if known.wait(0.2):
                break
    return known


def test_entries_ring_for_who_listens_and_cost_nothing_otherwise(
    installation: Installation, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, topics = installation.steward, _topics(run_id)
    rung: list[list[str]] = []
    ring_all = steward.bus.ring_all

    def watched(transaction: object, asked: list[str]) -> None:
        rung.append([each for each in asked if each in topics])
        ring_all(transaction, asked)  # type: ignore[arg-type]

    monkeypatch.setattr(steward.bus, "ring_all", watched)
    steward.runs.drive_until_idle()
    unheard = sum(len(each) for each in rung)
    request = RunRequest(title="A turn", program="chat", document={})
    second = steward.runs.start(installation.scope, installation.owner.user.id, request)
    topics = _topics(second.id)
    rung.clear()
    with steward.runs.listening(second.id, lambda: None):
        steward.runs.drive_until_idle()
    heard = sum(len(each) for each in rung)
    assert (unheard, heard) == (2, 6), "begun and ended; with a listener also its four entries"


def _topics(run_id: str) -> set[str]:
    return {run_topic(run_id), journal_topic(run_id)}
