"""Runs of playbooks: what starts them, what they may do, what they must leave behind."""

from pathlib import Path

import pytest

from steward.core.errors import Denied, Invalid, NotFound
from steward.playbooks import Change
from steward.playbooks.exchange import read_file
from steward.runs import Status
from tests.playbooks.conftest import ASKING, Room

NIGHTLY = ASKING + "triggers: [{type: cron, cron: 0 2 * * *, inputs: {month: 2026-02}}]\n"
CALLER = """\
format: 1
id: quarter
budget: {usd: 1}
steps:
  - {id: first, tool: call_playbook, arguments: {playbook: monthly-costs, inputs: {month: 2026-01}}}
  - {id: second, tool: call_playbook, arguments: {playbook: monthly-costs, inputs: {month: 2026-02}}}
output: ["${nodes.first.output}", "${nodes.second.output}"]
"""
WRITER = """\
format: 1
id: writer
budget: {usd: 1}
artifacts: [{path: notes/*.md, max_bytes: 10}]
approval: {preset: trusted}
steps:
  - {id: write, tool: edit_file, arguments: {path: notes/a.md, old: "", new: "${inputs.text}"}}
inputs: {type: object, properties: {text: {type: string}, name: {type: string}}}
"""


def test_the_schedule_starts_what_is_deployed(room: Room) -> None:
    playbooks, access, clock = room.playbooks, room.editor.access, room.installation.clock
    made = playbooks.library.create(access, NIGHTLY)
    assert playbooks.triggers.listed(access) == []
    playbooks.deploying.deploy(access, made.id)
    # An edit is not a deployment.
    playbooks.library.save(access, made.id, None, NIGHTLY.replace("closed: ", "over: "))
    clock.advance(days=1)
    assert room.go_round() == 1
    playbooks.deploying.deploy(access, made.id)
    assert len(playbooks.triggers.listed(access)) == 1
    clock.advance(days=1)
    assert room.go_round() == 1
    newer, older = room.runs.records.listed(access.scope, subject=f"playbook:{made.id}")
    assert playbooks.running.pin(access.scope, older.id) == 1
    assert playbooks.running.pin(access.scope, newer.id) == 2
    room.drive()
    assert room.fresh(older).status is Status.blocked, room.fresh(older).reason
    playbooks.deploying.roll_back(access, made.id)
    clock.advance(days=1)
    room.go_round()
    newest = room.runs.records.listed(access.scope, limit=1)[0]
    assert playbooks.running.pin(access.scope, newest.id) == 1
    playbooks.deploying.archive(access, made.id)
    clock.advance(days=1)
    assert room.go_round() == 0


def test_a_playbook_calls_another_and_waits_for_it(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    inner = playbooks.library.create(access, ASKING)
    playbooks.deploying.deploy(access, inner.id)
    outer = playbooks.library.create(access, CALLER)
    run = playbooks.running.start(access, outer.id, {})
    for answer in (True, False):
        room.drive()
        parked = room.fresh(run)
        assert (parked.status, parked.reason) == (Status.blocked, "the playbook Monthly costs")
        child = room.runs.records.listed(access.scope, parent=run.id)[0]
        assert child.subject == f"playbook:{inner.id}"
        room.answer(child, answer)
    ended = room.runs.outcome(run.scope, run.id)
    assert ended["output"] == [
        {"month": "2026-01", "closed": True},
        {"month": "2026-02", "closed": False},
    ]
    children = room.runs.records.listed(access.scope, parent=run.id)
    assert len(children) == 2
    # Its trace has the spans of what it called, for those who may see that.
    traces = room.installation.steward.observations.traces

    def in_trace(hidden: str | None) -> set[str]:
        found = traces.trace(run.scope, run.id, lambda subject: subject != hidden)
        return {row.run_id for row in found.rows}

    everything = {run.id, *(child.id for child in children)}
    assert in_trace(None) == everything
    assert in_trace(f"playbook:{inner.id}") == {run.id}
    assert in_trace(None) == everything


def test_nobody_calls_what_they_do_not_see(room: Room) -> None:
    playbooks = room.playbooks
    inner = playbooks.library.create(room.editor.access, ASKING)
    playbooks.deploying.deploy(room.editor.access, inner.id)
    outer = playbooks.library.create(room.stranger.access, CALLER)
    run = playbooks.running.start(room.stranger.access, outer.id, {})
    room.drive()
    failed = room.fresh(run)
    assert failed.status is Status.failed
    assert "There is no playbook 'monthly-costs'" in (failed.reason or "")


def test_a_called_playbook_may_do_no_more_than_its_caller(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    inner = playbooks.library.create(access, WRITER.replace("writer", "monthly-costs"))
    playbooks.deploying.deploy(access, inner.id)
    outer = playbooks.library.create(access, CALLER.replace("inputs: {month", "inputs: {text"))
    run = playbooks.running.start(access, outer.id, {})
    room.drive()
    assert "edit_file" in (room.fresh(run).reason or "")


def test_what_it_must_leave_behind_is_looked_at(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    steward = room.installation.steward
    _trust(room)
    made = playbooks.library.create(access, WRITER)
    short = playbooks.running.start(access, made.id, {"text": "short"})
    room.drive()
    assert room.fresh(short).status is Status.done, room.fresh(short).reason
    elsewhere = WRITER.replace("path: notes/a.md", "path: other/b.md")
    playbooks.library.save(access, made.id, None, elsewhere)
    missing = playbooks.running.start(access, made.id, {"text": "short"})
    room.drive()
    failed = room.fresh(missing)
    assert failed.status is Status.failed
    assert failed.reason == "The required file notes/*.md was not made."
    large = WRITER.replace("path: notes/a.md", "path: notes/c.md")
    playbooks.library.save(access, made.id, None, large)
    too_large = playbooks.running.start(access, made.id, {"text": "x" * 11})
    room.drive()
    assert room.fresh(too_large).reason == "The file notes/c.md has 11 bytes, and 10 are allowed."
    assert steward.runs.verify(access.scope, too_large.id).is_intact


def test_its_own_policy_only_narrows(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    _trust(room)
    strict = WRITER.replace("preset: trusted", "preset: read-only")
    made = playbooks.library.create(access, strict)
    run = playbooks.running.start(access, made.id, {"text": "short"})
    # The policy of the revision counts, not of what was saved afterwards.
    playbooks.library.save(access, made.id, None, WRITER)
    room.drive()
    assert room.fresh(run).status is Status.failed
    assert "edit_file was refused" in (room.fresh(run).reason or "")
    bad = WRITER.replace("preset: trusted", "cedar: permit(principal")
    with pytest.raises(Invalid) as refused:
        playbooks.library.create(access, bad.replace("id: writer", "id: other"))
    assert refused.value.problems[0].pointer == "/approval/cedar"


def test_a_sub_flow_names_a_deployed_playbook(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    text = """\
format: 1
id: outer
budget: {usd: 1}
steps:
  - {id: inner, type: subflow, ref: monthly-costs, inputs: {month: 2026-02}}
"""
    outer = playbooks.library.create(access, text)
    with pytest.raises(Invalid, match="monthly-costs"):
        playbooks.running.start(access, outer.id, {})
    inner = playbooks.library.create(access, ASKING)
    playbooks.deploying.deploy(access, inner.id)
    run = playbooks.running.start(access, outer.id, {})
    room.drive()
    room.answer(run, True)
    assert room.runs.outcome(run.scope, run.id)["output"]["closed"] is True


def test_folders_of_files_come_and_go(room: Room, tmp_path: Path) -> None:
    playbooks, access = room.playbooks, room.editor.access
    playbooks.library.create(access, ASKING)
    playbooks.library.create(access, WRITER)
    playbooks.library.create(room.stranger.access, CALLER)
    first, second = tmp_path / "first", tmp_path / "second"
    written = playbooks.exchange.write_folder(access, first)
    names = sorted(str(path.relative_to(first)) for path in written)
    assert names == ["Finance/Monthly/monthly-costs.yaml", "writer.yaml"]
    assert {path.stat().st_mode & 0o777 for path in written} == {0o600}
    done = playbooks.exchange.read_folder(access, first)
    assert {each.change for each in done} == {Change.unchanged}
    playbooks.exchange.write_folder(access, second)
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()
    (first / "writer.yaml").write_text(WRITER.replace("usd: 1", "usd: 7"))
    (first / "bad.yaml").write_text("format: 1\nid: &x bad\n")
    (first / "link.yaml").symlink_to("/etc/passwd")
    done = playbooks.exchange.read_folder(access, first)
    assert {each.name: each.change for each in done} == {
        "Finance/Monthly/monthly-costs.yaml": Change.unchanged,
        "writer.yaml": Change.changed,
        "bad.yaml": Change.refused,
        "link.yaml": Change.refused,
    }
    assert playbooks.library.get(access, "writer").head == 1, "one that is refused holds up all"
    (first / "bad.yaml").unlink()
    (first / "link.yaml").unlink()
    playbooks.exchange.read_folder(access, first, trial=True)
    assert playbooks.library.get(access, "writer").head == 1
    playbooks.exchange.read_folder(access, first)
    assert playbooks.library.get(access, "writer").head == 2
    (first / "link.yaml").symlink_to("/etc/passwd")
    with pytest.raises(Invalid):
        read_file(first / "link.yaml")


def test_an_imported_file_gives_the_same_bytes_elsewhere(room: Room, tmp_path: Path) -> None:
    playbooks, owner = room.playbooks, room.installation.owner
    shared = f"allowed: {{users: [{room.controller.user.email}]}}\n"
    made = playbooks.library.create(owner.access, ASKING + shared)
    text = playbooks.library.text(owner.access, made.id)
    assert room.controller.user.email in text
    gone = playbooks.deploying.archive(owner.access, made.id)
    playbooks.library.delete(owner.access, made.id, gone.version)
    again = playbooks.exchange.bring_in(owner.access, text)
    assert again.change is Change.created
    assert again.card is not None
    assert again.card.id != made.id
    assert playbooks.library.text(owner.access, again.card.id) == text
    strangers = text.replace(owner.user.email, "nobody@example.com")
    with pytest.raises(Invalid, match=r"nobody@example\.com"):
        playbooks.exchange.bring_in(owner.access, strangers)
    taken = playbooks.exchange.bring_in(owner.access, strangers, mine=True)
    assert taken.change is Change.unchanged


def test_operators_do_not_write(room: Room) -> None:
    for act in (room.playbooks.library.create, room.playbooks.exchange.bring_in):
        with pytest.raises(Denied):
            act(room.controller.access, ASKING)
    with pytest.raises(Denied):
        room.playbooks.blueprints.fork(room.controller.access, "profile-and-report")
    with pytest.raises(NotFound):
        room.playbooks.blueprints.fork(room.editor.access, "nothing")


def _trust(room: Room) -> None:
    """Lets the project write without asking, so that runs go through."""
    from steward.broker.presets import PRESETS

    steward, owner = room.installation.steward, room.installation.owner
    steward.governing.rulebook.save(owner.access, "project", PRESETS["trusted"], 0)
