"""Files are edited exactly and read piece by piece; states are named, taken back and restored."""

import hashlib
from dataclasses import replace

import pytest

from steward.core.errors import Conflict, Denied, Invalid, NotFound, TooLarge
from steward.runs import Execution, Found, Json, RunRequest
from steward.tools import load_tools
from steward.versions import Draft
from tests.tools.room import Room, run


def _make(room: Room, path: str, text: str) -> str:
    return room.call("edit_file", {"path": path, "old": "", "new": text}).commits[0]


def test_an_edit_replaces_exactly_one_place(room: Room) -> None:
    _make(room, "a.md", "one\ntwo\ntwo\n")
    edit = {"path": "a.md", "old": "one", "new": "eins"}
    preview = room.preview("edit_file", edit)
    assert preview.details["counts"] == {"added_lines": 1, "removed_lines": 1}
    assert "-one\n+eins" in preview.details["diff"]
    room.call("edit_file", edit)
    assert b"".join(room.workspace.read_file("a.md")) == b"eins\ntwo\ntwo\n"
    with pytest.raises(Conflict, match="stands 2 times"):
        room.call("edit_file", {"path": "a.md", "old": "two", "new": "x"})
    room.call("edit_file", {"path": "a.md", "old": "two", "new": "zwei", "all": True})
    assert b"".join(room.workspace.read_file("a.md")) == b"eins\nzwei\nzwei\n"


def test_an_edit_that_does_not_fit_changes_nothing(room: Room) -> None:
    _make(room, "a.md", "text")
    head = room.workspace.branch().head
    with pytest.raises(Conflict, match="not in"):
        room.call("edit_file", {"path": "a.md", "old": "other", "new": "x"})
    with pytest.raises(Conflict, match="already"):
        room.call("edit_file", {"path": "a.md", "old": "", "new": "x"})
    with pytest.raises(NotFound, match="no file"):
        room.call("edit_file", {"path": "b.md", "old": "a", "new": "x"})
    with pytest.raises(Denied, match="originals"):
        room.call("edit_file", {"path": "originals/crm_customers.csv", "old": "a", "new": "b"})
    with pytest.raises(Invalid):
        room.call("edit_file", {"path": "../outside", "old": "", "new": "x"})
    big = "x" * (1 << 20)
    _make(room, "big.txt", big)
    with pytest.raises(TooLarge):
        room.call("edit_file", {"path": "big.txt", "old": big, "new": "é" * (1 << 20)})
    assert room.workspace.commit_at().parent == head


def test_an_edit_that_was_shown_differently_is_refused(room: Room) -> None:
    _make(room, "a.md", "one two")
    edit = {"path": "a.md", "old": "one", "new": "eins"}
    context = room.context(ticket="edit")
    agreed = room.after(context, room.preview("edit_file", edit, context))
    room.call("edit_file", {"path": "a.md", "old": "two", "new": "zwei"})
    with pytest.raises(Conflict, match="since the preview"):
        room.call("edit_file", edit, agreed)


def test_files_are_read_piece_by_piece_without_splitting_characters(room: Room) -> None:
    _make(room, "a.txt", "aé€😀" * 10)
    text = ""
    offset: int | None = 0
    while offset is not None:
        piece = room.call("read_artifact", {"path": "a.txt", "offset": offset, "limit": 7})
        assert not piece.trusted
        text += piece.value["text"]
        offset = piece.value["next_offset"]
    assert text == "aé€😀" * 10
    room.call("render_xlsx", {"dataset": "crm_customers", "name": "book"})
    binary = room.call("read_artifact", {"path": "exports/book.xlsx", "limit": 10})
    assert binary.value["base64"].startswith("UEsD")
    with pytest.raises(NotFound):
        room.call("read_artifact", {"path": "nothing"})


def test_a_file_of_a_call_is_read_by_digest_within_its_run_only(room: Room) -> None:
    content = b'{"a":1}'
    digest = hashlib.sha256(content).hexdigest()
    room.steward.blobs.put([content])
    artifact = {"name": "a.json", "media_type": "application/json", "digest": digest, "size": 7}

    async def program(execution: Execution) -> Json:
        async def made() -> Json:
            recorded: Json = {"value": None, "commits": [], "labels": {}, "cost": {}}
            return recorded | {"artifacts": [artifact]}

        async def forged() -> Json:
            return {"value": {"artifacts": [artifact]}, "artifacts": [artifact]}

        return await execution.step("call", {}, forged if execution.request.inputs else made)

    runs = room.steward.runs
    runs.programs["test"] = program
    started = [
        runs.start(room.scope, room.author, RunRequest("t", "test", {}, inputs)).id
        for inputs in ({}, {"forged": True})
    ]
    runs.drive_until_idle()
    mine, other = (replace(room.context(runs=runs), run_id=run_id) for run_id in started)
    read = room.call("read_artifact", {"digest": digest}, mine)
    assert (read.value["text"], read.value["name"]) == ('{"a":1}', "a.json")
    with pytest.raises(NotFound, match="No call of this run"):
        room.call("read_artifact", {"digest": digest}, other)


def test_a_commit_is_taken_back_and_that_again(room: Room) -> None:
    made = _make(room, "a.md", "one")
    preview = room.preview("undo", {"commit": made})
    assert preview.details["entries"] == [{"kind": "file", "name": "a.md", "role": "removed"}]
    undone = room.call("undo", {"commit": made})
    assert [entry.path for entry in room.workspace.files()] == [
        "originals/billing_invoices.csv",
        "originals/crm_customers.csv",
        "originals/support_tickets.csv",
    ]
    assert room.workspace.commit_at(undone.commits[0]).run_id == room.context().run_id
    room.call("undo", {"commit": undone.commits[0]})
    assert b"".join(room.workspace.read_file("a.md")) == b"one"
    room.call("edit_file", {"path": "a.md", "old": "one", "new": "two"})
    with pytest.raises(Conflict, match="cannot be undone"):
        room.call("undo", {"commit": made})


def test_an_undo_shows_what_was_built_upon_it(room: Room) -> None:
    trimmed = room.call(
        "clean", {"dataset": "crm_customers", "operation": "trim", "target": "tidy"}
    )
    room.call("redact", {"dataset": "tidy", "columns": {"email": {"method": "hash"}}})
    preview = room.preview("undo", {"commit": trimmed.commits[0]})
    assert preview.details["counts"]["dependants"] == 1
    assert preview.details["blocked"] == ["tidy"]


def test_a_state_is_restored_whole_or_in_part(room: Room) -> None:
    before = room.workspace.branch().head
    _make(room, "a.md", "one")
    _make(room, "b.md", "two")
    part = room.preview("restore", {"to": before, "files": ["a.md"]})
    assert part.details["counts"] == {"entries": 1}
    room.call("restore", {"to": before, "files": ["a.md"]})
    assert {"b.md"} == {e.path for e in room.workspace.files() if e.path.endswith(".md")}
    context = room.context(ticket="restore")
    agreed = room.after(context, room.preview("restore", {"to": before}, context))
    _make(room, "c.md", "three")
    with pytest.raises(Conflict, match="since the preview"):
        room.call("restore", {"to": before}, agreed)
    outcome = room.call("restore", {"to": before}, room.context(ticket="again"))
    assert outcome.value["counts"] == {"entries": 2}
    assert room.workspace.diff(before, "main").entries == ()


def test_a_snapshot_keeps_the_state_that_was_shown(room: Room) -> None:
    context = room.context(ticket="snapshot")
    arguments = {"name": "first", "message": "as loaded"}
    preview = room.preview("snapshot", arguments, context)
    _make(room, "a.md", "one")
    outcome = room.call("snapshot", arguments, room.after(context, preview))
    assert outcome.value["commit"] == preview.payload["commit"]
    assert room.reconcile("snapshot", arguments, context).found is Found.happened
    with pytest.raises(Conflict, match="taken"):
        room.call("snapshot", arguments)


def test_a_branch_that_moved_on_is_not_removed_by_an_undo(room: Room) -> None:
    arguments = {"name": "try", "kind": "branch"}
    outcome = room.call("snapshot", arguments)
    entry = room.steward.workbench.versions.put_file(room.scope, "x", [b"x"])
    room.workspace.commit(Draft("work", files={"x": entry.digest}), "try")
    tool = load_tools().get("snapshot")
    assert tool.undo is not None
    with pytest.raises(Conflict, match="another commit"):
        run(tool.undo(room.context(), tool.arguments.model_validate(arguments), outcome.inverse))
    assert {branch.name for branch in room.workspace.branches()} == {"main", "try"}


def test_changes_say_when_who_and_what(room: Room) -> None:
    commit = _make(room, "a.md", "one")
    named = room.context(name_of={room.workspace.author: "Ada"}.__getitem__)
    everything = room.call("list_changes", {"limit": 3}, named).value
    assert [column["name"] for column in everything["columns"]] == [
        *("when", "who", "what", "datasets", "commit")
    ]
    newest = everything["rows"][0]
    assert (newest[1], newest[3], newest[4]) == ("Ada", "a.md", commit)
    own = room.call("list_changes", {"dataset": "crm_customers"}).value
    assert own["rows"]
    assert all("crm_customers" in row[3] for row in own["rows"])
    assert commit not in [row[4] for row in own["rows"]]
    nothing = room.call("list_changes", {"dataset": "no_such"})
    assert nothing.value["rows"] == []
    assert nothing.summary == "No changes of no_such"
