"""Retention and sweep: what nothing refers to goes, what anything refers to stays, whoever works meanwhile."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
import sqlalchemy as sa

from steward.core.errors import NotFound
from steward.core.faults import install
from steward.store import EVERYWHERE, metadata
from steward.versions import Draft, VersionConflict
from steward.versions._tables import blobs
from steward.versions.edits import Update
from tests.versions.versions_kit import Kit

pytestmark = pytest.mark.every_database

NUMBERS = "SELECT i AS id, 'name ' || i AS name FROM range({}) t(i)"
NOW = timedelta(0)


def sweep_twice(kit: Kit) -> None:
    """Past the grace period: once to doom, once to delete."""
    kit.clock.advance(days=2)
    kit.versions.sweep()
    kit.clock.advance(hours=1)
    kit.versions.sweep()


def test_unused_versions_go_after_their_grace_and_in_two_steps(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(100))
    kept = kit.stored()
    kit.versions.write(kit.scope, NUMBERS.format(70))
    kit.versions.put_file(kit.scope, "x", [b"never committed"])
    everything = kit.stored()
    assert kit.versions.sweep().doomed == 0
    kit.clock.advance(days=2)
    first = kit.versions.sweep()
    # Seventy rows are two parts, of which the first is also a part of the hundred.
    assert (first.versions, first.doomed, first.blobs) == (1, 2, 0)
    assert kit.stored() == everything
    kit.clock.advance(hours=1)
    second = kit.versions.sweep()
    assert second.blobs == 2
    assert second.bytes > 0
    assert kit.stored() == kept
    assert len(kit.rows("a")) == 100


def test_history_tags_pins_and_undo_keep_their_data(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(60))
    kit.workspace.create_branch("try")
    kit.put("b", NUMBERS.format(61), "try")
    kept = kit.workspace.snapshot("kept", "try").commit
    pinned = kit.versions.write(kit.scope, NUMBERS.format(62)).id
    kit.versions.pin(kit.scope, "run", "run_1", versions=[pinned])
    note = kit.versions.put_file(kit.scope, "n", [b"artifact"])
    kit.versions.pin(kit.scope, "journal", "jrn_1", blobs=[note.digest])
    kit.workspace.delete_branch("try")
    kit.workspace.commit(Draft("Drop", datasets={"a": None}))
    stored = kit.stored()
    sweep_twice(kit)
    assert kit.stored() == stored
    assert len(kit.rows("b", "kept")) == 61
    assert len(kit.version_rows(pinned)) == 62
    kit.workspace.undo()
    assert len(kit.rows("a")) == 60
    assert kit.versions.unpin(kit.scope, "run", "run_1") == 1
    kit.versions.unpin(kit.scope, "journal", "jrn_1")
    kit.workspace.delete_snapshot("kept")
    sweep_twice(kit)
    with pytest.raises(NotFound):
        kit.versions.view(kit.scope, kit.workspace.id).dataset("b", "kept")
    with pytest.raises(NotFound, match="let go by retention"):
        kit.workspace.restore(kept)
    assert note.digest not in kit.stored()
    assert len(kit.rows("a")) == 60


def test_retention_lets_go_of_old_commits_but_not_of_heads_and_undo(kit: Kit) -> None:
    versions = []
    for rows in (51, 52, 53, 54, 55):
        versions.append(kit.put("a", NUMBERS.format(rows)))
        kit.clock.advance(days=10)
    kit.workspace.snapshot("third", kit.workspace.history("a")[2].id)
    expired = kit.versions.expire(kit.scope, kit.clock.now() - timedelta(days=5), keep_last=1)
    # All but the last one and the third, which is tagged.
    assert expired == 4
    sweep_twice(kit)
    log = kit.workspace.log()
    assert [c.expired for c in log] == [False, True, False, True, True, True]
    assert len(kit.rows("a", "third")) == 53
    with pytest.raises(NotFound, match="let go by retention"):
        kit.rows("a", log[1].id)
    kit.workspace.undo()
    assert len(kit.rows("a")) == 54
    with pytest.raises(NotFound):
        kit.versions.table(kit.scope, versions[0])


@pytest.fixture
def other_room(kit: Kit) -> Iterator[sa.Table]:
    """A table of another room that names blobs in a column called `digest`."""
    table = sa.Table("test_artifacts", metadata, sa.Column("digest", sa.String(64)))
    with kit.database.raw_writer() as connection, connection.begin():
        table.create(connection)
    yield table
    metadata.remove(table)


def test_blobs_that_another_room_names_stay(kit: Kit, other_room: sa.Table) -> None:
    held = kit.versions.put_file(kit.scope, "x", [b"an upload"])
    loose = kit.versions.put_file(kit.scope, "y", [b"nobody's"])
    with kit.database.write(EVERYWHERE) as tx:
        tx.execute(sa.insert(other_room).values(digest=held.digest))
    sweep_twice(kit)
    assert held.digest in kit.stored()
    assert loose.digest not in kit.stored()


def test_a_doomed_part_that_is_written_again_is_saved(kit: Kit) -> None:
    first = kit.versions.write(kit.scope, NUMBERS.format(40))
    kit.clock.advance(days=2)
    assert kit.versions.sweep().doomed == 1
    again = kit.versions.write(kit.scope, NUMBERS.format(40))
    assert again.id == first.id
    kit.workspace.commit(Draft("Use", datasets={"a": again.id}))
    sweep_twice(kit)
    assert len(kit.rows("a")) == 40


def test_a_writer_that_comes_while_the_file_is_deleted_puts_it_back(kit: Kit) -> None:
    """The narrowest place: the sweep holds the row and is about to remove the file."""
    kit.versions.write(kit.scope, NUMBERS.format(40))
    kit.clock.advance(days=2)
    kit.versions.sweep()
    kit.clock.advance(hours=1)
    deleting, claiming = threading.Event(), threading.Event()

    def hook(name: str) -> None:
        if name == "data.sweep.before_delete":
            deleting.set()
            claiming.wait(20)
        if name == "data.write.before_claim":
            claiming.set()

    def write() -> None:
        version = kit.versions.write(kit.scope, NUMBERS.format(40))
        kit.workspace.commit(Draft("Use", datasets={"a": version.id}))

    previous = install(hook)
    sweeper = threading.Thread(target=kit.versions.sweep)
    writer = threading.Thread(target=write)
    try:
        sweeper.start()
        assert deleting.wait(20)
        writer.start()
        sweeper.join(20)
        writer.join(20)
    finally:
        install(previous)
    assert len(kit.rows("a")) == 40


def test_a_crashed_writer_leaves_nothing_for_good(kit: Kit) -> None:
    scratch = kit.blobs.root.parent / "scratch"
    left = scratch / "writing-left"
    left.mkdir()
    (left / "1.parquet").write_bytes(b"half")
    kit.clock.advance(days=365_0)
    assert kit.versions.sweep(grace=NOW).scratch == 1
    assert not left.exists()


def test_concurrent_writers_all_land_or_are_told(kit: Kit) -> None:
    """Eight threads on one branch: own datasets always land, a shared one only in turn."""
    kit.put("shared", NUMBERS.format(10))
    refused: list[str] = []
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            workspace = kit.versions.workspace(kit.scope, f"usr_{number}")
            base = workspace.branch().head
            own = kit.versions.write(kit.scope, NUMBERS.format(20 + number)).id
            workspace.commit(Draft("Own", datasets={f"own {number}": own}), base=base)
            before = workspace.dataset("shared", base).version
            edit = Update("id = 1", {"name": f"name || '{number}'"})
            after = kit.versions.edit(kit.scope, before, edit).version.id
            try:
                workspace.commit(Draft("Shared", datasets={"shared": after}), base=base)
            except VersionConflict:
                refused.append(str(number))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    names = {dataset.name for dataset in kit.workspace.datasets()}
    assert names == {"shared", *(f"own {number}" for number in range(8))}
    landed = [c for c in kit.workspace.history("shared") if c.message == "Shared"]
    assert len(landed) == 8 - len(refused) == 1
    log = kit.workspace.log(limit=100)
    assert [c.parent for c in log[:-1]] == [c.id for c in log[1:]]
    with kit.database.read(EVERYWHERE) as tx:
        assert len(tx.rows(sa.select(blobs.c.blob))) == len(kit.stored())
