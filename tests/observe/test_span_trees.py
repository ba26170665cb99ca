"""Stored traces are the same as those made from journals: whole or in part, folded, filtered, and made again."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa

from steward.core import MovableClock
from steward.core.errors import Invalid, Unavailable
from steward.observe import Trace, TraceFilter, Traces
from steward.observe._tables import spans, trees
from steward.observe.trace_tree import TraceRow
from steward.runs import Execution, Json, Run, RunRequest, StepFailed
from steward.testing import Installation

pytestmark = pytest.mark.every_database
EVERY = range(0, 60, 7)


async def _branchy(clock: MovableClock, execution: Execution) -> Json:
    """Steps of different lengths, one of which fails, two runs below it for each level, and a question."""
    inputs = execution.request.inputs

    async def perform(n: int) -> Json:
        clock.advance(milliseconds=10 * n * n + 1)
        if n == 2:
            raise Invalid("Two is one too many.")
        return n

    for n in range(inputs["steps"]):
        with suppress(StepFailed):
            await execution.step(f"Größe/{n}", {"n": n}, partial(perform, n))
    if inputs["levels"]:
        for n in range(2):
            below = {"steps": inputs["steps"] - 1, "levels": inputs["levels"] - 1, "asks": False}
            subject = f"playbook:level-{inputs['levels'] - 1}"
            request = RunRequest("Below", "branchy", {}, below, subject=subject)
            await execution.child(f"child/{n}", request)
    if inputs["asks"]:
        await execution.wait("ask", {"question": "Go on?"}, reason="a question")
    return None


class Room:
    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        steward = installation.steward
        steward.runs.programs["branchy"] = partial(_branchy, installation.clock)
        self.runs, self.scope = steward.runs, installation.scope
        self.trees, self.received = steward.observations.trees, steward.observations.received
        self.stored = Traces(steward.database, self.runs, self.trees, self.received, stored_from=0)
        self.made = Traces(
            steward.database, self.runs, self.trees, self.received, stored_from=10**9
        )

    def start(self, *, asks: bool = False) -> Run:
        inputs = {"steps": 5, "levels": 2, "asks": asks}
        request = RunRequest("Branchy", "branchy", {}, inputs)
        run = self.runs.start(self.scope, self.installation.owner.user.id, request)
        self.runs.drive_until_idle()
        return run

    def family(self, run: Run) -> list[Run]:
        children = self.runs.records.listed(self.scope, parent=run.id)
        return [run, *(each for child in children for each in self.family(child))]

    def tree_ids(self) -> list[str]:
        with self.installation.steward.database.read(self.scope) as tx:
            return [row.id for row in tx.rows(sa.select(trees.c.id).where(trees.c.is_ready))]

    def rows_stored(self) -> int:
        with self.installation.steward.database.read(self.scope) as tx:
            return len(tx.rows(sa.select(spans.c.position)))


@pytest.fixture
def room(installation: Installation) -> Room:
    return Room(installation)


def _everything(_: str | None) -> bool:
    return True


def _plain(row: TraceRow) -> tuple[Any, ...]:
    span = row.span
    place = (row.position, row.depth, row.size, row.run_id, row.key, row.operation)
    return (*place, span.name, span.start, span.end, dict(span.attributes), span.error)


def _same(stored: Trace, made: Trace) -> None:
    assert list(map(_plain, stored.rows)) == list(map(_plain, made.rows))
    assert (stored.start, stored.end, stored.is_over) == (made.start, made.end, made.is_over)
    assert stored.buckets == made.buckets


def _window(trace: Trace, *asked: Any) -> tuple[int, list[tuple[Any, ...]]]:
    total, rows = trace.window(*asked)
    return total, list(map(_plain, rows))


def test_a_stored_trace_is_the_one_that_journals_make(room: Room) -> None:
    run = room.start()
    family = room.family(run)
    assert len(family) == 7
    for each in family:
        stored = room.stored.trace(room.scope, each.id, _everything)
        _same(stored, room.made.trace(room.scope, each.id, _everything))
    # One tree has the traces of all of them.
    assert len(room.tree_ids()) == 1
    whole = room.stored.trace(room.scope, run.id, _everything)
    assert room.rows_stored() == len(whole.rows) > 7 * 3


def test_a_first_look_shows_the_first_spans_until_all_are_stored(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = room.start()
    steward = room.installation.steward
    traces = Traces(steward.database, room.runs, room.trees, room.received, stored_from=0, first=9)
    may_save, save = Event(), room.trees.save

    def saved(*given: Any) -> str:
        assert may_save.wait(30)
        return save(*given)

    monkeypatch.setattr(room.trees, "save", saved)
    whole = room.made.trace(room.scope, run.id, _everything)
    names = {(row.run_id, row.key) for row in whole.rows}
    for _ in range(2):
        first = traces.look(room.scope, run.id, _everything)
        assert first.reading is not None
        assert first.reading.entries > 9
        assert 1 < len(first.rows) < len(whole.rows)
        assert {(row.run_id, row.key) for row in first.rows} < names
    # Whoever may not see the runs below does not see them in a first look, either.
    alone = traces.look(room.scope, run.id, lambda subject: subject is None)
    assert {row.run_id for row in alone.rows} == {run.id}
    may_save.set()
    traces.settle(run.root_id)
    assert len(room.tree_ids()) == 1
    found = traces.look(room.scope, run.id, _everything)
    assert found.reading is None
    _same(found, whole)


def test_a_trace_that_cannot_be_stored_says_why_at_the_next_look(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = room.start()
    steward = room.installation.steward
    traces = Traces(steward.database, room.runs, room.trees, room.received, stored_from=0, first=9)

    def full(*_: Any) -> str:
        raise Unavailable("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(room.trees, "save", full)
        assert traces.look(room.scope, run.id, _everything).reading is not None
        traces.settle(run.root_id)
        with pytest.raises(Unavailable, match="disk is full"):
            traces.look(room.scope, run.id, _everything)
    traces.look(room.scope, run.id, _everything)
    traces.settle(run.root_id)
    assert traces.look(room.scope, run.id, _everything).reading is None


def test_windows_folds_and_filters_find_the_same(room: Room) -> None:
    run = room.start()
    random = Random(7)
    for each in room.family(run)[:3]:
        stored = room.stored.trace(room.scope, each.id, _everything)
        made = room.made.trace(room.scope, each.id, _everything)
        for offset in EVERY:
            folded = random.sample(range(len(made.rows) + 5), k=4)
            asked = (offset, random.randint(1, 9), TraceFilter(), folded)
            assert _window(stored, *asked) == _window(made, *asked)
        found = 0
        for wanted in (
            TraceFilter(text="GRÖSSE/1"),
            TraceFilter(text="%"),
            TraceFilter(text="größe", operation="step"),
            TraceFilter(operation="invoke_workflow"),
            TraceFilter(errors=True),
            TraceFilter(slower_than_ms=91),
        ):
            assert _window(stored, 1, 3, wanted) == _window(made, 1, 3, wanted)
            found += made.window(0, 5, wanted)[0]
        assert found > 0


def test_a_trace_that_is_made_again_is_the_same(room: Room) -> None:
    run = room.start()
    before = list(map(_plain, room.stored.trace(room.scope, run.id, _everything).rows))
    [first] = room.tree_ids()
    room.trees.forget(room.scope)
    assert (room.tree_ids(), room.rows_stored()) == ([], 0)
    assert list(map(_plain, room.stored.trace(room.scope, run.id, _everything).rows)) == before
    [second] = room.tree_ids()
    assert first != second


def test_what_was_appended_after_the_end_is_in_the_next_look(room: Room) -> None:
    run = room.start()
    before = len(room.stored.trace(room.scope, run.id, _everything).rows)
    [first] = room.tree_ids()
    child = room.start()
    # As an undo after the end does: more entries than the tree was made from.
    moved = "UPDATE runs SET root_id = :root, parent_id = :root WHERE id = :child"
    with room.installation.steward.database.raw_writer() as connection:
        connection.execute(sa.text(moved), {"root": run.id, "child": child.id})
        connection.commit()
    after = room.stored.trace(room.scope, run.id, _everything)
    assert len(after.rows) > before
    [second] = room.tree_ids()
    assert first != second
    assert room.rows_stored() == len(after.rows)


def test_runs_that_a_person_may_not_see_are_not_in_their_trace(room: Room) -> None:
    run = room.start()

    def rows(shows: Callable[[str | None], bool]) -> set[str]:
        return {row.run_id for row in room.stored.trace(room.scope, run.id, shows).rows}

    everything = {each.id for each in room.family(run)}
    hidden = {each.id for each in room.family(run) if each.subject == "playbook:level-0"}
    assert rows(_everything) == everything
    assert rows(lambda subject: subject != "playbook:level-0") == everything - hidden
    assert rows(_everything) == everything


def test_a_run_under_way_is_read_on_from_where_it_was_read_to(room: Room) -> None:
    run = room.start(asks=True)
    under_way = [each.trace(room.scope, run.id, _everything) for each in (room.made, room.stored)]
    assert not any(trace.is_over for trace in under_way)
    assert [row.operation for row in under_way[0].rows if row.about == "ask"] == ["wait"]
    # Nothing happened since, so nothing is read.
    assert room.made.trace(room.scope, run.id, _everything) is under_way[0]
    room.runs.records.signal(room.scope, run.id, "ask", "yes")
    room.installation.clock.advance(seconds=5)
    room.runs.drive_until_idle()
    steward = room.installation.steward
    fresh = Traces(steward.database, room.runs, room.trees, room.received, stored_from=10**9)
    expected = fresh.trace(room.scope, run.id, _everything)
    assert expected.is_over
    assert room.tree_ids() == []
    for reader in (room.made, room.stored):
        _same(reader.trace(room.scope, run.id, _everything), expected)
    assert len(room.tree_ids()) == 1


def test_old_trees_are_removed_and_come_back(room: Room) -> None:
    run = room.start()
    room.stored.trace(room.scope, run.id, _everything)
    age = room.installation.steward.settings.observe.trace_history
    room.trees.tidy(age)
    assert len(room.tree_ids()) == 1
    room.installation.clock.advance(days=age.days + 1)
    room.trees.tidy(age)
    assert (room.tree_ids(), room.rows_stored()) == ([], 0)
    _same(
        room.stored.trace(room.scope, run.id, _everything),
        room.made.trace(room.scope, run.id, _everything),
    )
