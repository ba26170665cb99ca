"""A trace grows with its run: what is under way is shown, in its place, and a look costs what happened since."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any

import pytest

from steward.core import MovableClock
from steward.observe import Trace, TraceFilter, Traces
from steward.observe.growing_rows import GrowingRows, Placed
from steward.runs import Entry, EntryType, Execution, Json, Run, RunRequest
from steward.testing import Installation
from steward.trace import genai
from steward.trace.spans import Span

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def _everything(_: str | None) -> bool:
    return True


async def _busy(clock: MovableClock, execution: Execution) -> Json:
    """An agent with steps, two of which run beside each other, and a question between them."""

    async def perform(n: int) -> Json:
        clock.advance(milliseconds=10 + n)
        return n

    steps = execution.request.inputs["steps"]
    equipment = {"agent": "Helper"}
    await execution.step(
        "work/equipment", equipment, partial(perform, 0), type=EntryType.step_started, of="work"
    )
    for n in range(steps):
        await execution.step(f"work/do/{n}", {"n": n}, partial(perform, n))
    await execution.wait("work/ask", {"question": "Go on?"}, reason="a question")
    await asyncio.gather(
        *(execution.step(f"work/more/{n}", {"n": n}, partial(perform, n)) for n in range(3))
    )
    await execution.note("work/done", {}, type=EntryType.step_finished, of="work")
    await execution.wait("last", {"question": "Well?"}, reason="a question")
    return None


class Room:
    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        steward = installation.steward
        steward.runs.programs["busy"] = partial(_busy, installation.clock)
        self.runs, self.scope = steward.runs, installation.scope
        self.traces = self.fresh()

    def fresh(self, **limits: int) -> Traces:
        observations = self.installation.steward.observations
        database = self.installation.steward.database
        return Traces(database, self.runs, observations.trees, observations.received, **limits)

    def start(self, steps: int) -> Run:
        request = RunRequest("Busy", "busy", {}, {"steps": steps})
        run = self.runs.start(self.scope, self.installation.owner.user.id, request)
        self.runs.drive_until_idle()
        return run

    def answer(self, run: Run, key: str) -> None:
        self.installation.clock.advance(seconds=5)
        self.runs.records.signal(self.scope, run.id, key, "yes")
        self.runs.drive_until_idle()

    def count_entries(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The numbers of the entries that are read from now on."""
        read: list[int] = []
        entries = self.runs.journal.entries

        def counted(*asked: Any, **more: Any) -> Iterator[Entry]:
            for entry in entries(*asked, **more):
                read.append(entry.seq)
                yield entry

        monkeypatch.setattr(self.runs.journal, "entries", counted)
        return read


@pytest.fixture
def room(installation: Installation) -> Room:
    return Room(installation)


def _shape(trace: Trace) -> list[tuple[int, str, bool]]:
    return [
        (row.depth, row.key, bool(row.span.attributes.get(genai.UNDER_WAY))) for row in trace.rows
    ]


@pytest.mark.every_database
def test_a_parked_run_shows_what_is_under_way_in_its_place(room: Room) -> None:
    run = room.start(2)
    parked = room.traces.look(room.scope, run.id, _everything)
    assert not parked.is_over
    assert _shape(parked) == [
        (0, "run", False),
        (1, "work", True),
        (2, "work/do/0:step", False),
        (2, "work/do/1:step", False),
        (2, "work/ask:wait", True),
    ]
    room.answer(run, "work/ask")
    [_, work, *below, last] = room.traces.look(room.scope, run.id, _everything).rows
    assert (work.key, work.size, genai.UNDER_WAY in work.span.attributes) == ("work", 6, False)
    assert [row.depth for row in below] == [2] * 6
    assert (last.key, last.depth) == ("last:wait", 1)
    room.answer(run, "last")
    over = room.traces.look(room.scope, run.id, _everything)
    assert over.is_over
    assert not any(is_open for *_, is_open in _shape(over))
    # The same as one that is read from the beginning, in memory and in the database.
    for limits in ({}, {"stored_from": 0}):
        fresh = room.fresh(**limits).trace(room.scope, run.id, _everything)
        assert [(each.position, each.size, each.span.end) for each in fresh.rows] == [
            (each.position, each.size, each.span.end) for each in over.rows
        ]
        assert _shape(fresh) == _shape(over)


@pytest.mark.every_database
def test_a_look_reads_only_what_was_added_since(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = room.start(40)
    first = room.traces.look(room.scope, run.id, _everything)
    head = room.runs.get(room.scope, run.id).head_seq
    read = room.count_entries(monkeypatch)
    ordered: list[int] = []
    order = GrowingRows._order

    def counted(rows: GrowingRows, fresh: Iterable[Any]) -> None:
        ordered.append(len(rows))
        order(rows, fresh)

    monkeypatch.setattr(GrowingRows, "_order", counted)
    room.answer(run, "work/ask")
    read.clear()
    second = room.traces.look(room.scope, run.id, _everything)
    assert second is not first
    assert read == list(range(head + 1, room.runs.get(room.scope, run.id).head_seq + 1))
    # The rows that were there are not put into order again.
    assert ordered == []
    assert second.rows is first.rows
    read.clear()
    assert room.traces.look(room.scope, run.id, _everything) is second
    assert read == []


def test_a_long_run_under_way_shows_its_first_spans_and_then_all(room: Room) -> None:
    run = room.start(60)
    traces = room.fresh(first=20)
    looks = [traces.look(room.scope, run.id, _everything)]
    assert looks[0].reading is not None
    assert 0 < looks[0].reading.read < looks[0].reading.entries
    while looks[-1].reading is not None:
        looks.append(traces.look(room.scope, run.id, _everything))
    whole = room.fresh().trace(room.scope, run.id, _everything)
    assert _shape(looks[-1]) == _shape(whole)
    # Whoever watched it to its end does not go back to its first spans.
    traces = room.fresh(first=20, stored_from=0)
    while traces.look(room.scope, run.id, _everything).reading is not None:
        pass
    room.answer(run, "work/ask")
    room.answer(run, "last")
    over = traces.look(room.scope, run.id, _everything)
    assert (over.is_over, over.reading) == (True, None)
    assert len(over.rows) == len(whole.rows) + 4
    traces.settle(run.id)


def _tree(random: Random, count: int) -> list[Placed]:
    """Spans in the order in which they came to be known, each after its parent, with times that overlap."""
    keys, found = ["run:0"], []
    for n in range(count):
        key = f"run:{n}"
        parent = None if n == 0 else random.choice(keys[-20:])
        start = START + timedelta(milliseconds=random.randint(n // 2, n + 3))
        error = "broken" if random.random() < 0.1 else None
        end = start + timedelta(milliseconds=random.randint(0, 50))
        about = {genai.OPERATION: random.choice([genai.STEP, genai.WAIT])}
        span = Span("run", key, f"span {n}", start, end, parent, about, error)
        found.append(Placed("run", n, span))
        keys.append(key)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_grow_are_the_same_as_rows_that_are_made_at_once(seed: int) -> None:
    random = Random(seed)
    spans = _tree(random, 400)
    grown, left = GrowingRows(), list(spans)
    while left:
        size = random.choice([1, 1, 2, 5, 60])
        grown.add(left[:size])
        del left[:size]
    at_once = GrowingRows()
    at_once.add(spans)
    assert list(grown) == list(at_once)
    assert (grown.start, grown.end) == (at_once.start, at_once.end)
    traces = [Trace(rows, START, START + timedelta(seconds=1), False) for rows in (grown, at_once)]
    assert traces[0].buckets == traces[1].buckets
    wanted = TraceFilter(errors=True)
    assert traces[0].window(3, 9, wanted) == traces[1].window(3, 9, wanted)
    # One that is over changes where it is; one that never began goes.
    ended = spans[7]._replace(span=Span("run", "run:7", "over", START, START + timedelta(1)))
    leaf = next(row for row in grown if row.size == 0)
    grown.add([ended], gone={leaf.span.key})
    after = list(grown)
    assert len(after) == len(spans) - 1
    assert [row.span.name for row in after if row.key == "7"] == ["over"]
    assert [row.position for row in after] == list(range(len(after)))


def test_the_picture_of_a_growing_trace_is_drawn_again_when_it_has_grown(room: Room) -> None:
    run = room.start(500)
    drawn = room.traces.look(room.scope, run.id, _everything).buckets
    # A few more among hundreds.
    room.answer(run, "work/ask")
    after = room.traces.look(room.scope, run.id, _everything)
    assert after.buckets is drawn
    room.answer(run, "last")
    over = room.traces.look(room.scope, run.id, _everything)
    assert over.is_over
    assert over.buckets != drawn
