"""Deployments: what they pin, what their runs keep to, the way back, a share of the runs, and running again."""

from dataclasses import asdict
from pathlib import Path

import pytest

from steward.broker.grants import Grant
from steward.core.errors import Conflict, Denied, Invalid, NotFound
from steward.playbooks import Change
from steward.runs import Run, Status
from tests.playbooks.conftest import ASKING, Room

pytestmark = pytest.mark.every_database

TALLY = """\
format: 1
id: tally
budget: {usd: 1}
inputs: {type: object, properties: {month: {type: string}}}
graph:
  nodes:
    - {id: count, type: tool, tool: list_datasets, arguments: {}}
    - {id: result, type: output, needs: [count], value: {version: 1, month: "${inputs.month}"}}
"""
OUTER = """\
format: 1
id: outer
budget: {usd: 1}
tools: [call_playbook, list_datasets]
steps:
  - {id: part, type: subflow, ref: tally, inputs: {month: 2026-01}}
  - {id: called, tool: call_playbook, arguments: {playbook: tally, inputs: {month: 2026-02}}}
output: ["${nodes.part.output.version}", "${nodes.called.output.version}"]
"""


def second(text: str = TALLY) -> str:
    return text.replace("version: 1", "version: 2")


def version_of(room: Room, run: Run) -> int | None:
    grant = Grant.from_json(room.runs.request(run.scope, run.id).grant)
    return grant.revision


def output_of(room: Room, run: Run) -> object:
    room.drive()
    assert room.fresh(run).status is Status.done, room.fresh(run).reason
    return room.runs.outcome(run.scope, run.id)["output"]


def deployed(room: Room, text: str) -> str:
    made = room.playbooks.library.create(room.editor.access, text)
    room.playbooks.deploying.deploy(room.editor.access, made.id, message="First")
    return made.id


def test_a_deployment_pins_its_parts_by_hash_and_tells_what_changed_since(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    deployed(room, TALLY)
    outer = deployed(room, OUTER)
    first, drift = playbooks.deploying.look(access, outer, 1)
    kinds = {pin.kind for pin in first.pins}
    assert {"graph", "flow", "tool", "policy", "code"} <= kinds
    assert drift == []
    assert all(len(pin.hash) == 64 for pin in first.pins)
    playbooks.library.save(access, "tally", None, second())
    playbooks.deploying.deploy(access, "tally")
    _, drift = playbooks.deploying.look(access, outer, 1)
    assert [(each.kind, each.name) for each in drift] == [("flow", "tally")]
    assert drift[0].after is not None
    assert drift[0].after.version == "2"


def test_runs_of_a_deployment_call_the_versions_that_it_pins(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    deployed(room, TALLY)
    outer = deployed(room, OUTER)
    playbooks.library.save(access, "tally", None, second())
    playbooks.deploying.deploy(access, "tally")
    assert output_of(room, playbooks.running.start(access, outer, {})) == [1, 1]
    playbooks.deploying.deploy(access, outer, message="Takes the new tally")
    assert output_of(room, playbooks.running.start(access, outer, {})) == [2, 2]
    # Going back brings back what was pinned, too.
    playbooks.deploying.roll_back(access, outer, to=1)
    assert output_of(room, playbooks.running.start(access, outer, {})) == [1, 1]
    newest = playbooks.deploying.listed(access, outer)[0]
    assert (newest.kind, newest.of, newest.number) == ("rollback", 1, 3)
    assert newest.hash == playbooks.deploying.listed(access, outer)[2].hash


def test_there_is_no_way_back_to_what_was_only_tried(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    tally = deployed(room, TALLY)
    playbooks.library.save(access, "tally", None, second())
    playbooks.deploying.try_out(access, tally, 2, percent=10)
    playbooks.deploying.end_trial(access, tally)
    with pytest.raises(Conflict, match="Deploy revision 2 instead"):
        playbooks.deploying.roll_back(access, tally, to=2)
    assert playbooks.library.get(access, tally).deployed == 1


def test_a_fixed_version_is_called_by_its_number(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    deployed(room, TALLY)
    playbooks.library.save(access, "tally", None, second())
    playbooks.deploying.deploy(access, "tally")
    fixed = OUTER.replace("ref: tally", "ref: tally@1").replace(
        "playbook: tally", "playbook: tally@2"
    )
    made = playbooks.library.create(access, fixed)
    assert output_of(room, playbooks.running.start(access, made.id, {})) == [1, 2]
    missing = fixed.replace("tally@1", "tally@9").replace("id: outer", "id: other")
    other = playbooks.library.create(access, missing)
    with pytest.raises(Invalid, match="no version '9'"):
        playbooks.running.start(access, other.id, {})


def test_operators_run_any_version_that_was_deployed(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, TALLY + "allowed: {everyone: true}\n")
    playbooks.library.save(access, made, None, second())
    operator = room.controller.access
    with pytest.raises(Denied, match="never deployed"):
        playbooks.running.start(operator, made, {}, revision=2)
    playbooks.deploying.deploy(access, made)
    assert version_of(room, playbooks.running.start(operator, made, {}, revision=1)) == 1


def test_runs_under_way_stay_on_their_version(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, ASKING)
    run = playbooks.running.start(access, made, {"month": "2026-01"})
    room.drive()
    playbooks.library.save(access, made, None, ASKING.replace("closed: ", "over: "))
    playbooks.deploying.deploy(access, made)
    room.answer(run, True)
    assert room.runs.outcome(run.scope, run.id)["output"] == {"month": "2026-01", "closed": True}


def test_a_canary_gets_exactly_its_share(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, TALLY)
    playbooks.library.save(access, made, None, second())
    with pytest.raises(Conflict, match="deployed already"):
        playbooks.deploying.try_out(access, made, 1, percent=25)
    card = playbooks.deploying.try_out(access, made, None, percent=25)
    assert card.deployed == 1
    versions = [version_of(room, playbooks.running.start(access, made, {})) for _ in range(20)]
    assert versions.count(2) == 5
    assert versions.count(1) == 15
    card = playbooks.deploying.end_trial(access, made)
    assert card.canary is None
    assert version_of(room, playbooks.running.start(access, made, {})) == 1


def test_schedules_take_part_in_a_canary(room: Room) -> None:
    playbooks, access, clock = room.playbooks, room.editor.access, room.installation.clock
    nightly = TALLY + "triggers: [{type: cron, cron: 0 2 * * *, inputs: {month: 2026-02}}]\n"
    made = deployed(room, nightly)
    playbooks.library.save(access, made, None, second(nightly))
    playbooks.deploying.try_out(access, made, None, percent=50)
    for _ in range(4):
        clock.advance(days=1)
        assert room.go_round() == 1
    runs = room.runs.records.listed(access.scope, subject=f"playbook:{made}")
    assert sorted(version_of(room, run) or 0 for run in runs) == [1, 1, 2, 2]
    deployments = {
        Grant.from_json(room.runs.request(run.scope, run.id).grant).deployment for run in runs
    }
    assert deployments == {1, 2}
    # A deployment ends the trial.
    assert playbooks.deploying.deploy(access, made).canary is None


def test_what_cannot_be_deployed_says_why_and_changes_nothing(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, TALLY)
    with room.installation.steward.database.write(access.scope) as tx:
        from sqlalchemy import update

        from steward.playbooks._tables import revisions

        gone = TALLY.replace("list_datasets", "no_such_tool")
        tx.execute(update(revisions).values(text=gone))
    found = playbooks.deploying.prepare(access, made.id)
    assert not found.may_deploy
    assert "no_such_tool" in found.checks[0].message
    with pytest.raises(Invalid, match="no_such_tool"):
        playbooks.deploying.deploy(access, made.id)
    assert playbooks.library.get(access, made.id).deployed is None
    assert playbooks.deploying.listed(access, made.id) == []


def test_checks_warn_before_a_deployment(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, OUTER)
    found = playbooks.deploying.prepare(access, made.id)
    assert found.may_deploy
    warned = [each.message for each in found.checks if each.state == "warning"]
    assert any("tally" in each for each in warned)


def test_two_versions_side_by_side(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    places = {"places": {"count": {"x": 0, "y": 0}, "result": {"x": 200, "y": 0}}}
    made = playbooks.library.create(access, TALLY, layout=places)
    grown = (
        second()
        .replace(
            "    - {id: result",
            "    - {id: look, type: tool, tool: list_datasets, arguments: {}, needs: [count]}\n    - {id: result",
        )
        .replace("needs: [count], value", "needs: [look], value")
        .replace("usd: 1", "usd: 2")
    )
    moved = {"places": {"count": {"x": 50, "y": 0}, "result": {"x": 200, "y": 0}}}
    playbooks.library.save(access, made.id, None, grown, layout=moved)
    found = playbooks.library.comparison(access, made.id, 1, 2)
    assert {(node.key, node.state) for node in found.nodes} == {
        ("look", "added"),
        ("result", "changed"),
    }
    changed = next(node for node in found.nodes if node.key == "result")
    assert [(f.pointer, f.before, f.after) for f in changed.fields] == [("/value/version", 1, 2)]
    assert {(e.before, e.after, e.state) for e in found.edges} == {
        ("count", "look", "added"),
        ("look", "result", "added"),
        ("count", "result", "removed"),
    }
    assert [(f.pointer, f.before, f.after) for f in found.settings] == [("/budget/usd", 1, 2)]
    assert found.placed == ["count"]
    back = playbooks.library.comparison(access, made.id, 2, 1)
    assert ("look", "removed") in {(node.key, node.state) for node in back.nodes}


def test_a_node_that_goes_into_a_loop_has_moved(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, TALLY)
    inside = TALLY.replace(
        "- {id: count, type: tool, tool: list_datasets, arguments: {}}",
        "- {id: each, type: map, over: '[1, 2]', body: {nodes: "
        "[{id: count, type: tool, tool: list_datasets, arguments: {}}]}}",
    ).replace("needs: [count]", "needs: [each]")
    playbooks.library.save(access, made.id, None, inside)
    found = playbooks.library.comparison(access, made.id, 1, 2)
    moved = next(node for node in found.nodes if node.state == "moved")
    assert (moved.from_key, moved.key) == ("count", "each/count")


FAILING = """\
format: 1
id: failing
budget: {usd: 1}
inputs: {type: object, properties: {path: {type: string}}}
graph:
  nodes:
    - {id: first, type: tool, tool: list_datasets, arguments: {}}
    - {id: read, type: tool, tool: get_dataset_schema, needs: [first], arguments: {dataset: "${inputs.path}"}}
    - {id: result, type: output, needs: [read], value: done}
"""


def test_what_failed_runs_again_from_its_step_with_the_new_version(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, FAILING)
    runs = [playbooks.running.start(access, made, {"path": "missing.md"}) for _ in range(2)]
    room.drive()
    assert {room.fresh(run).status for run in runs} == {Status.failed}
    fixed = FAILING.replace(
        '{id: read, type: tool, tool: get_dataset_schema, needs: [first], arguments: {dataset: "${inputs.path}"}}',
        "{id: read, type: tool, tool: list_datasets, needs: [first], arguments: {}}",
    )
    playbooks.library.save(access, made, None, fixed)
    playbooks.deploying.deploy(access, made)
    ids = [run.id for run in runs]
    again = playbooks.retries.retry(access, made, ids, version="deployed", from_failure=True)
    room.drive()
    for each in again:
        assert each.run is not None, each.problem
        assert room.fresh(each.run).status is Status.done, room.fresh(each.run).reason
        assert each.run.forked_from == each.source
        entries = list(room.runs.journal.entries(access.scope, each.run.id))
        copied = [entry for entry in entries if entry.key.startswith("first")]
        assert copied, "what was done before the step is kept"
        assert room.runs.verify(access.scope, each.run.id).is_intact
    same = playbooks.retries.retry(access, made, ids[:1])[0]
    assert same.run is not None
    room.drive()
    assert room.fresh(same.run).status is Status.failed
    assert version_of(room, same.run) == 1


def test_a_canary_takes_no_run_that_was_asked_with_the_deployed_version(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, TALLY)
    over = [playbooks.running.start(access, made, {}).id for _ in range(4)]
    room.drive()
    playbooks.library.save(access, made, None, second())
    playbooks.deploying.try_out(access, made, None, percent=50)
    again = playbooks.retries.retry(access, made, over, version="deployed")
    assert [version_of(room, each.run) for each in again if each.run] == [1, 1, 1, 1]


def test_what_cannot_run_again_says_why_and_holds_up_no_other(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, TALLY)
    asking = deployed(room, ASKING)
    over = playbooks.running.start(access, made, {})
    waiting = playbooks.running.start(access, asking, {"month": "2026-01"})
    room.drive()
    found = playbooks.retries.retry(access, made, [waiting.id, over.id, "run_0"], at="count")
    assert [each.run is not None for each in found] == [False, True, False]
    assert "has no run" in (found[0].problem or "")
    unknown = playbooks.retries.retry(access, made, [over.id], at="nowhere")[0]
    assert "has no step 'nowhere'" in (unknown.problem or "")
    with pytest.raises(NotFound):
        playbooks.retries.retry(room.stranger.access, made, [over.id])
    parked = playbooks.retries.retry(access, asking, [waiting.id])[0]
    assert "not over yet" in (parked.problem or "")


def test_deployments_go_through_files(room: Room, tmp_path: Path) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = deployed(room, TALLY)
    folder = tmp_path / "files"
    exchange, files = playbooks.exchange, playbooks.deployment_files

    def write() -> dict[str, bytes]:
        exchange.write_folder(access, folder)
        files.write(access, folder)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    first = write()
    assert sorted(first) == ["tally.deployed.json", "tally.yaml"]
    assert write() == first
    done = files.read(access, folder, exchange.read_folder(access, folder))
    assert [each.change for each in done] == [Change.unchanged]
    playbooks.library.save(access, made, None, second())
    playbooks.deploying.deploy(access, made)
    back = files.read(access, folder, exchange.read_folder(access, folder))
    assert [each.change for each in back] == [Change.changed]
    card = playbooks.library.get(access, made)
    revision = playbooks.library.revision(access, made, card.deployed)
    assert "version: 1" in revision.text
    (folder / "bad.deployed.json").write_text("[]")
    bad = files.read(access, folder, [])
    assert "not a file" in (bad[0].reason or "")


def test_the_deployment_of_a_card_is_told(room: Room) -> None:
    made = deployed(room, TALLY)
    card = room.playbooks.library.get(room.editor.access, made)
    assert card.deployment == 1
    found = room.playbooks.deploying.listed(room.editor.access, made)[0]
    assert (found.message, found.author) == ("First", room.editor.user.id)
    assert asdict(found)["checks"][0]["check"] == "document"
