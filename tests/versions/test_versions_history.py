"""Commits, branches, undo, redo, restore, merge: history as people use it, on both databases."""

from pathlib import Path

import pytest

from steward.core.errors import Conflict, Denied, Invalid, NotFound
from steward.versions import Draft, Layout, VersionConflict, Versions
from steward.versions.edits import Delete, Insert, Update
from tests.versions.versions_kit import Kit

pytestmark = pytest.mark.every_database

NUMBERS = "SELECT i AS id, 'name ' || i AS name FROM range({}) t(i)"


def test_a_commit_moves_several_datasets_and_files_at_once(kit: Kit) -> None:
    orders = kit.versions.write(kit.scope, NUMBERS.format(3))
    people = kit.versions.write(kit.scope, NUMBERS.format(2))
    note = kit.versions.put_file(kit.scope, "notes/read me.txt", [b"hello ", b"there"])
    made = kit.workspace.commit(
        Draft(
            "Load",
            operation="ingest",
            arguments={"source": "x.csv"},
            datasets={"orders": orders.id, "people": people.id},
            files={note.path: note.digest},
        )
    )
    assert [(d.name, d.rows) for d in kit.workspace.datasets()] == [("orders", 3), ("people", 2)]
    assert [(f.path, f.bytes) for f in kit.workspace.files()] == [("notes/read me.txt", 11)]
    assert b"".join(kit.workspace.read_file("notes/read me.txt")) == b"hello there"
    assert [(c.kind, c.name, c.role) for c in made.changes] == [
        ("dataset", "orders", "added"),
        ("dataset", "people", "added"),
        ("file", "notes/read me.txt", "added"),
    ]
    assert (made.author, made.operation, made.arguments) == (
        "usr_test",
        "ingest",
        {"source": "x.csv"},
    )
    assert kit.workspace.branch().head == made.id


@pytest.mark.parametrize(
    "other",
    ["ORDÉRS", "orde\u0301rs", "ｏrdérs", "ord\u200cérs"],
    ids=["case", "accent", "width", "joiner"],
)
def test_two_datasets_cannot_look_the_same(kit: Kit, other: str) -> None:
    kit.put("ordérs", NUMBERS.format(2))
    with pytest.raises(Conflict, match="differs from it only in case"):
        kit.put(other, NUMBERS.format(1))
    kit.put("ordérs", NUMBERS.format(3))
    kit.put("orders", NUMBERS.format(1))
    version = kit.workspace.dataset("ordérs").version
    kit.workspace.commit(Draft("Rename", datasets={"ordérs": None, other: version}))
    assert sorted(each.name for each in kit.workspace.datasets()) == sorted(["orders", other])


def test_the_log_of_a_branch_goes_on_in_the_branch_it_left(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(1))
    kit.workspace.create_branch("try")
    kit.put("a", NUMBERS.format(2), "try")
    kit.put("b", NUMBERS.format(3), "try")
    kit.put("a", NUMBERS.format(4))
    messages = [commit.message for commit in kit.workspace.log("try")]
    assert messages == ["Put b", "Put a", "Put a", "Workspace created"]
    assert [c.message for c in kit.workspace.history("a", "try")] == ["Put a", "Put a"]
    assert len(kit.workspace.log("main")) == 3
    first = kit.workspace.log("try", limit=2)
    rest = kit.workspace.log("try", after=first[-1].id, limit=10)
    assert [c.message for c in first] + [c.message for c in rest] == messages
    assert len(kit.rows("a", "try")) == 2
    assert len(kit.rows("a")) == 4


def test_a_commit_on_other_entries_is_rebased_and_one_on_the_same_is_refused(kit: Kit) -> None:
    base = kit.workspace.branch().head
    one, two = (kit.versions.write(kit.scope, NUMBERS.format(n)) for n in (1, 2))
    mine = kit.workspace.commit(Draft("Mine", datasets={"a": one.id}), base=base)
    other = kit.workspace.commit(Draft("Other", datasets={"b": two.id}), base=base)
    assert other.parent == mine.id
    with pytest.raises(VersionConflict, match="'a' changed since") as caught:
        kit.workspace.commit(Draft("Late", datasets={"a": two.id}), base=base)
    assert [(e.name, e.commits) for e in caught.value.entries] == [("a", (mine.id,))]
    with pytest.raises(VersionConflict):
        kit.workspace.commit(Draft("Strict", datasets={"c": two.id}), base=base, rebase=False)
    with pytest.raises(VersionConflict):
        kit.workspace.commit(
            Draft("Made from a", datasets={"c": two.id}), base=base, unchanged=["a"]
        )
    assert [d.name for d in kit.workspace.datasets()] == ["a", "b"]


def test_undo_and_redo_walk_back_and_forth(kit: Kit) -> None:
    states = []
    for rows in (1, 2, 3):
        kit.put("a", NUMBERS.format(rows))
        states.append(kit.workspace.dataset("a").version)
    assert kit.workspace.undo().message == "Undo: Put a"
    assert kit.workspace.dataset("a").version == states[1]
    kit.workspace.undo()
    assert kit.workspace.dataset("a").version == states[0]
    kit.workspace.redo()
    assert kit.workspace.dataset("a").version == states[1]
    kit.workspace.redo()
    assert kit.workspace.dataset("a").version == states[2]
    with pytest.raises(Conflict, match="nothing to redo"):
        kit.workspace.redo()
    for _ in states:
        kit.workspace.undo()
    assert kit.workspace.datasets() == []
    with pytest.raises(Conflict, match="nothing left to undo"):
        kit.workspace.undo()
    kit.put("b", NUMBERS.format(1))
    with pytest.raises(Conflict, match="nothing to redo"):
        kit.workspace.redo()


def test_undoing_a_commit_others_built_on_names_them(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(10))
    first = kit.workspace.commit_at()
    source = kit.workspace.dataset("a").version
    derived = kit.versions.write(kit.scope, NUMBERS.format(4))
    joined = kit.workspace.commit(
        Draft("Join", datasets={"joined": derived.id}, inputs={"joined": [source]})
    )
    kit.put("unrelated", NUMBERS.format(1))
    plan = kit.workspace.undo_plan(first.id)
    assert [(d.commit, d.name, d.reason) for d in plan.dependants] == [
        (joined.id, "joined", "made from it")
    ]
    assert plan.blocked == ()
    kit.edit("a", Update("id = 1", {"name": "'x'"}))
    again = kit.workspace.commit_at()
    plan = kit.workspace.undo_plan(first.id)
    assert plan.blocked == ("a",)
    with pytest.raises(VersionConflict, match="cannot be undone") as caught:
        kit.workspace.undo(first.id)
    assert caught.value.entries[0].commits == (again.id,)
    kit.workspace.undo()
    undone = kit.workspace.undo(first.id)
    assert undone.undoes == first.id
    assert [d.name for d in kit.workspace.datasets()] == ["joined", "unrelated"]


def test_an_edit_in_the_middle_is_undone_by_rows(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(200))
    kit.edit("a", Update("id = 7", {"name": "'seven'"}), Delete("id = 9"))
    middle = kit.workspace.commit_at()
    kit.edit("a", Update("id = 150", {"name": "'later'"}))
    with pytest.raises(VersionConflict):
        kit.workspace.undo(middle.id)
    kit.workspace.undo(middle.id, merge_rows=True)
    expected = [(i, "later" if i == 150 else f"name {i}") for i in range(200)]
    assert sorted(kit.rows("a")) == expected
    kit.workspace.redo()
    assert (7, "seven") in kit.rows("a")
    assert len(kit.rows("a")) == 199
    kit.edit("a", Update("id = 7", {"name": "'again'"}))
    with pytest.raises(VersionConflict, match="same rows") as caught:
        kit.workspace.undo(middle.id, merge_rows=True)
    assert caught.value.entries[0].rows == 1
    assert caught.value.entries[0].row_ids == (7,)


def test_restore_brings_back_a_dataset_a_file_or_everything(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(1))
    note = kit.versions.put_file(kit.scope, "n.txt", [b"one"])
    kit.workspace.commit(Draft("Note", files={"n.txt": note.digest}))
    early = kit.workspace.snapshot("early", message="before the big change")
    kit.put("a", NUMBERS.format(2))
    kit.put("b", NUMBERS.format(3))
    kit.workspace.commit(Draft("Drop", files={"n.txt": None}))
    kit.workspace.restore("early", datasets=["a"])
    assert len(kit.rows("a")) == 1
    assert [d.name for d in kit.workspace.datasets()] == ["a", "b"]
    kit.workspace.restore("early", files=["n.txt"])
    assert b"".join(kit.workspace.read_file("n.txt")) == b"one"
    kit.workspace.restore("early")
    assert kit.workspace.diff("early", "main").entries == ()
    kit.workspace.undo()
    assert [d.name for d in kit.workspace.datasets()] == ["a", "b"]
    with pytest.raises(Invalid, match="neither now nor"):
        kit.workspace.restore(early.commit, datasets=["nothing"])


def test_merge_takes_entries_that_only_one_side_changed(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(1))
    kit.workspace.create_branch("try")
    kit.put("b", NUMBERS.format(2), "try")
    kit.put("c", NUMBERS.format(3))
    merged = kit.workspace.merge("try")
    assert merged.commit is not None
    assert merged.commit.merged == kit.workspace.branch("try").head
    assert [d.name for d in kit.workspace.datasets()] == ["a", "b", "c"]
    assert kit.workspace.merge("try").commit is None
    kit.put("b", NUMBERS.format(4), "try")
    kit.workspace.merge("try")
    assert len(kit.rows("b")) == 4
    kit.workspace.undo()
    assert len(kit.rows("b")) == 2


def test_merge_says_precisely_what_conflicts(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(10))
    kit.put("gone", NUMBERS.format(1))
    kit.workspace.create_branch("try")
    kit.put("a", NUMBERS.format(20), "try")
    theirs = kit.workspace.commit_at("try")
    kit.workspace.commit(Draft("Drop", datasets={"gone": None}), "try")
    kit.put("a", NUMBERS.format(30))
    ours = kit.workspace.commit_at()
    kit.put("gone", NUMBERS.format(2))
    with pytest.raises(VersionConflict) as caught:
        kit.workspace.merge("try")
    found = {e.name: e for e in caught.value.entries}
    assert set(found) == {"a", "gone"}
    assert set(found["a"].commits) == {ours.id, theirs.id}
    assert "wrote the whole table anew" in found["a"].reason
    assert "removed it" in found["gone"].reason
    merged = kit.workspace.merge("try", resolutions={"a": "theirs", "gone": "ours"})
    assert merged.commit is not None
    assert (len(kit.rows("a")), len(kit.rows("gone"))) == (20, 2)


def test_merge_by_rows(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(200))
    kit.workspace.create_branch("try")
    kit.edit("a", Update("id = 3", {"name": "'theirs'"}), Delete("id = 4"), branch="try")
    kit.edit("a", Insert("SELECT 1000 AS id, 'new' AS name"), branch="try")
    kit.edit("a", Update("id = 190", {"name": "'ours'"}), Delete("id = 191"))
    kit.edit("a", Insert("SELECT 2000 AS id, 'mine' AS name"))
    merged = kit.workspace.merge("try")
    assert merged.merged_rows == ("a",)
    names = {3: "theirs", 190: "ours"}
    expected = [(i, names.get(i, f"name {i}")) for i in range(200) if i not in (4, 191)]
    assert sorted(kit.rows("a")) == [*expected, (1000, "new"), (2000, "mine")]
    kit.edit("a", Update("id = 8", {"name": "'x'"}), branch="try")
    kit.edit("a", Update("id = 8", {"name": "'y'"}))
    with pytest.raises(VersionConflict, match="same rows"):
        kit.workspace.merge("try")
    kit.edit("a", Update("id = 8", {"name": "'x'"}))
    assert kit.workspace.merge("try").commit is not None
    assert (8, "x") in kit.rows("a")


def test_branches_and_tags_are_guarded(kit: Kit) -> None:
    kit.workspace.create_branch("try")
    with pytest.raises(Conflict, match="taken"):
        kit.workspace.snapshot("try")
    with pytest.raises(Denied):
        kit.workspace.delete_branch("main")
    kit.workspace.protect_branch("try")
    version = kit.versions.write(kit.scope, NUMBERS.format(1))
    with pytest.raises(Denied, match="protected"):
        kit.workspace.commit(Draft("No", datasets={"a": version.id}), "try")
    kit.put("a", NUMBERS.format(1))
    assert kit.workspace.merge("main", "try").commit is not None
    kit.workspace.protect_branch("try", False)
    kit.workspace.delete_branch("try")
    with pytest.raises(NotFound):
        kit.workspace.branch("try")


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a//b", "a/./b", "", ".", "a\\b", "x/\n"])
def test_only_plain_relative_paths_are_files(path: str) -> None:
    with pytest.raises(Invalid):
        Draft("x", files={path: "0" * 64}).wanted()


def test_another_project_sees_nothing(kit: Kit) -> None:
    from steward.store import Scope

    version = kit.put("a", NUMBERS.format(1))
    stranger = Scope("org_test", "prj_other")
    with pytest.raises(NotFound):
        kit.versions.table(stranger, version)
    with pytest.raises(NotFound):
        kit.versions.view(stranger, kit.workspace.id).branch()
    theirs = kit.versions.workspace(stranger, "usr_other")
    with pytest.raises(Conflict):
        theirs.commit(Draft("Take", datasets={"a": version}))


def test_a_merge_that_would_break_the_key_is_a_conflict(kit: Kit) -> None:
    kit.put("a", NUMBERS.format(100), layout=Layout(key=("id",)))
    kit.workspace.create_branch("try")
    kit.edit("a", Insert("SELECT 500 AS id, 'theirs' AS name"), branch="try")
    kit.edit("a", Insert("SELECT 500 AS id, 'ours' AS name"))
    with pytest.raises(VersionConflict, match="break the key id"):
        kit.workspace.merge("try")
    kit.workspace.merge("try", resolutions={"a": "ours"})
    assert (500, "ours") in kit.rows("a")


def test_a_commit_tells_the_event_log_and_keeps_its_run(kit: Kit, tmp_path: Path) -> None:
    from steward.core import Ids
    from steward.store import Bus, EventLog

    ids = Ids(kit.clock)
    events = EventLog(kit.database, Bus(), kit.clock, ids)
    versions = Versions(
        kit.database, kit.blobs, kit.clock, ids, tmp_path / "scratch", events=events
    )
    workspace = versions.workspace(kit.scope, "usr_test", run_id="run_1")
    version = versions.write(kit.scope, NUMBERS.format(3))
    made = workspace.commit(Draft("Load", operation="ingest", datasets={"a": version.id}))
    undone = workspace.undo()
    seen = [(e.type, e.subject, e.data["datasets"]) for e in events.after(kit.scope, 0)]
    assert seen == [
        ("org.steward.data.committed", made.id, ["a"]),
        ("org.steward.data.committed", undone.id, ["a"]),
    ]
