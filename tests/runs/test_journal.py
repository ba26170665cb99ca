"""Journals: canonical bytes, a chain that notices everything, replay, forks and capsules."""

import asyncio
import json

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from steward.core.errors import Conflict, Invalid, NotFound
from steward.runs import Execution
from steward.runs import _tables as tables
from steward.runs.canonical import canonical, plain
from steward.runs.capsules import unpack
from steward.store import Scope
from steward.testing.installation import Installation
from tests.runs.conftest import Room

pytestmark = pytest.mark.every_database

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_canonical_is_one_spelling_and_comes_back(value: object) -> None:
    text = canonical(value)
    assert canonical(json.loads(text)) == text
    assert plain(value) == value


def test_what_is_not_json_is_refused() -> None:
    for value in (float("nan"), {1, 2}, object()):
        with pytest.raises(Invalid):
            canonical(value)


def done(room: Room) -> str:
    run_id = room.start("branches")
    room.drive()
    for key in ("ask/a", "ask/b"):
        room.runs.records.signal(room.scope, run_id, key, key)
    room.drive()
    return run_id


def test_one_flipped_bit_anywhere_is_found(room: Room, installation: Installation) -> None:
    run_id = done(room)
    columns = tables.journal.c
    statement = sa.select(tables.journal).where(columns.run_id == run_id).order_by(columns.seq)
    with installation.steward.database.read(room.scope) as tx:
        rows = tx.rows(statement)
    for row in rows:
        for name in ("body", "hash", "kind", "key"):
            text: str = getattr(row, name)
            for at in range(0, len(text), max(1, len(text) // 7)):
                other = text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]
                with installation.steward.database.write(room.scope) as tx:
                    here = sa.and_(columns.run_id == run_id, columns.seq == row.seq)
                    tx.execute(sa.update(tables.journal).where(here).values({name: other}))
                faults = room.runs.verify(room.scope, run_id).faults
                assert faults, (name, at)
                assert faults[0].seq == row.seq
                with installation.steward.database.write(room.scope) as tx:
                    tx.execute(sa.update(tables.journal).where(here).values({name: text}))
    assert room.runs.verify(room.scope, run_id).is_intact


def test_missing_entries_and_altered_payloads_are_found(
    room: Room, installation: Installation
) -> None:
    run_id = done(room)
    columns = tables.journal.c
    last = room.runs.journal.head(room.scope, run_id).seq
    with installation.steward.database.write(room.scope) as tx:
        gone = sa.and_(columns.run_id == run_id, columns.seq == last)
        tx.execute(sa.delete(tables.journal).where(gone))
    first = room.runs.verify(room.scope, run_id).faults[0]
    assert (first.seq, "cut short" in first.reason) == (last, True)

    large = room.start("large")
    room.drive()
    reference = list(room.runs.journal.entries(room.scope, large))[1].data["result"]["$blob"]
    installation.steward.blobs.delete(reference)
    found = [(fault.part, fault.seq) for fault in room.runs.verify(room.scope, large).faults]
    assert found == [("payload", 2)]


def test_every_run_replays_without_a_difference(room: Room) -> None:
    runs = [done(room), *(room.start(name) for name in ("steps", "large", "wrong", "slow"))]
    runs.append(room.start("branches"))
    room.drive()
    room.world.done.clear()
    for run_id in runs:
        report = asyncio.run(room.runs.replay(room.scope, run_id))
        assert report.divergences == ()
    assert not room.world.done, "a replay does nothing"


def test_a_changed_program_diverges_and_both_sides_are_shown(room: Room) -> None:
    run_id = room.start("steps", n=3)
    room.drive()

    async def fewer(execution: object) -> object:
        async def nothing() -> object:
            return None

        await execution.step("look/0", {"n": "other"}, nothing)  # type: ignore[attr-defined]
        return {"seen": []}

    room.runs.programs["steps"] = fewer
    found = asyncio.run(room.runs.replay(room.scope, run_id)).divergences
    assert {(d.key, d.what) for d in found} == {
        ("look/0", "asked for something else"),
        ("run", "ended done, was done"),
        ("look/1", "recorded, but not asked for"),
        ("look/2", "recorded, but not asked for"),
    }
    assert (found[0].recorded, found[0].replayed) == ({"n": 0}, {"n": "other"})


def test_a_fork_shares_the_past_and_goes_its_own_way(room: Room) -> None:
    run_id = room.start("steps", n=3)
    room.drive()
    room.world.done.clear()
    fork = room.runs.fork(room.scope, "usr_b", run_id, at="look/1", changes={"/inputs/n": 2})
    room.drive()
    assert room.outcome(fork.id) == {"output": {"seen": ["look 0", "look 1"]}}
    assert room.world.done == {"look 1": 1}, "what came before the fork is not done again"
    assert room.runs.verify(room.scope, fork.id).is_intact
    differences = {d.key: d.same for d in room.runs.diff(room.scope, run_id, fork.id)}
    assert differences == {"look/0": True, "look/1": True, "look/2": False, "run": False}
    assert asyncio.run(room.runs.replay(room.scope, fork.id)).is_same
    with pytest.raises(NotFound):
        room.runs.fork(room.scope, "usr_b", run_id, at="nowhere", changes={})
    with pytest.raises(Invalid):
        room.runs.fork(room.scope, "usr_b", run_id, at=None, changes={"/grant/tools": ["*"]})


def test_a_capsule_is_the_run_and_nothing_can_be_slipped_into_it(room: Room) -> None:
    run_id = room.start("large")
    room.drive()
    content = room.runs.export(room.scope, run_id)
    assert content == room.runs.export(room.scope, run_id)
    other = Scope(room.scope.org_id, room.scope.project_id)
    assert room.runs.bring_in(other, content).id == run_id, "bringing it in again changes nothing"
    assert asyncio.run(room.runs.replay_capsule(unpack(content))).is_same
    for at in range(0, len(content), max(1, len(content) // 200)):
        damaged = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        try:
            found = unpack(damaged)
        except (Invalid, NotFound, NotImplementedError):
            continue
        assert [entry.body for entry in found.entries] == [
            entry.body for entry in unpack(content).entries
        ]


def test_a_capsule_is_brought_in_elsewhere(room: Room, installation: Installation) -> None:
    run_id = done(room)
    content = room.runs.record_test(room.scope, run_id)
    capsule = unpack(content)
    assert capsule.expect is not None
    with installation.steward.database.write(room.scope) as tx:
        for table in (tables.signals, tables.journal, tables.run_blobs, tables.runs):
            tx.execute(sa.delete(table))
    brought = room.runs.bring_in(room.scope, content)
    assert (brought.id, brought.status.value) == (run_id, "done")
    assert room.runs.verify(room.scope, run_id).is_intact
    assert asyncio.run(room.runs.replay(room.scope, run_id)).is_same
    waiting = room.start("branches")
    room.drive()
    with pytest.raises(Conflict):
        room.runs.record_test(room.scope, waiting)


def test_what_looks_like_a_reference_is_content(room: Room, installation: Installation) -> None:
    """Whoever knows the hash of foreign bytes gets nothing by naming it."""
    foreign = installation.steward.blobs.put([b'"of another project"'])
    forged = {"$blob": foreign.digest, "bytes": foreign.size}
    file = {"digest": foreign.digest, "media_type": "text/plain", "size": foreign.size, "name": "x"}

    async def echo(execution: Execution) -> object:
        async def say() -> object:
            return {"inner": forged, "file": file}

        await execution.step("say", forged, say)
        return forged

    room.runs.programs["echo"] = echo
    run_id = room.start("echo", forged=forged, file=file)
    room.drive()
    assert room.outcome(run_id) == {"output": forged}
    assert room.runs.verify(room.scope, run_id).is_intact
    capsule = unpack(room.runs.export(room.scope, run_id))
    assert foreign.digest not in capsule.digests
    assert asyncio.run(room.runs.replay(room.scope, run_id)).is_same
