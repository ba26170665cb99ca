"""Tests of playbooks: nothing is sent, spent or changed; outputs are pinned, compared, kept, and hold up deployments."""

import json
from datetime import timedelta
from typing import Any

import pytest

from steward.broker.samples import sample, samples
from steward.broker.schemas import first_problem
from steward.broker.tool import TOOLS
from steward.core.errors import Conflict, Denied, Invalid
from steward.playbooks.rehearsals import Wish
from steward.runs import Run, Status
from tests.playbooks.conftest import Room

pytestmark = pytest.mark.every_database

NOTES = """\
format: 1
id: notes
budget: {usd: 1}
inputs:
  type: object
  properties: {text: {type: string, minLength: 1}}
  required: [text]
graph:
  nodes:
    - {id: look, type: tool, tool: list_datasets, arguments: {}}
    - {id: write, type: tool, tool: edit_file, needs: [look], arguments: {path: a.md, old: "", new: "${inputs.text}"}}
    - {id: think, type: agent, needs: [write], instructions: "Say something.", output: {type: object, properties: {words: {type: string}}, required: [words]}}
    - {id: gate, type: approval, needs: [think], message: "Fine?", payload: "${nodes.think.output.words}"}
    - {id: tell, type: tool, tool: send_webhook, needs: [gate.approved], arguments: {endpoint: world, type: notes.written, data: {words: "${nodes.think.output.words}"}}}
    - {id: result, type: output, needs: [tell], value: "${nodes.think.output.words}"}
"""
PLAIN = """\
format: 1
id: plain
budget: {usd: 1}
inputs: {type: object, properties: {n: {type: integer}}}
graph:
  nodes:
    - {id: look, type: tool, tool: list_datasets, arguments: {}}
    - {id: result, type: output, needs: [look], value: {n: "${inputs.n}", version: 1}}
"""


def made(room: Room, text: str) -> str:
    steward, owner = room.installation.steward, room.installation.owner
    endpoint = {"url": "https://example.com/hook", "secret": "hook"}
    steward.governing.rulebook.change_settings(
        owner.access, 0, tools={"send_webhook": {"endpoints": {"world": endpoint}}}
    )
    steward.secrets.set(owner.access.scope, "hook", "whsec_c2VjcmV0", author="owner")
    return room.playbooks.library.create(room.editor.access, text).id


def rehearsed(room: Room, playbook: str, **wish: Any) -> Run:
    run = room.playbooks.rehearsals.start(room.editor.access, playbook, Wish(**wish))
    room.drive()
    return room.fresh(run)


def outputs(room: Room, playbook: str, run: Run) -> dict[str, Any]:
    found = room.playbooks.rehearsals.results(room.editor.access, playbook, run.id)
    return {each.key: each.output for each in found.nodes}


def test_a_test_sends_nothing_asks_nobody_and_changes_only_its_branch(room: Room) -> None:
    notes = made(room, NOTES)
    run = rehearsed(room, notes, inputs={"text": "hello"})
    assert run.status is Status.done, run.reason
    found = outputs(room, notes, run)
    assert found["tell"] == {"message_id": "Example", "status": 200, "bytes": 0}
    assert found["think"] == {"words": "Example"}
    assert found["gate"]["approved"] is True
    assert found["result"] == "Example"
    steward, access = room.installation.steward, room.editor.access
    workspace = steward.workbench.versions.workspace(access.scope, access.user_id)
    assert list(workspace.files("main")) == []
    assert steward.governing.approvals.listed(access) == []
    assert steward.runs.verify(access.scope, run.id).is_intact


def test_a_test_run_does_not_become_a_real_one_by_running_again(room: Room) -> None:
    playbook = made(room, PLAIN)
    room.playbooks.deploying.deploy(room.editor.access, playbook)
    run = rehearsed(room, playbook, inputs={"n": 1})
    retry = room.playbooks.retries.retry
    [refused] = retry(room.editor.access, playbook, [run.id], version="deployed")
    assert "was a test run" in (refused.problem or "")
    [again] = retry(room.editor.access, playbook, [run.id])
    assert again.run is not None
    assert room.runs.request(run.scope, again.run.id).grant["test"] is not None


def test_the_journal_of_a_test_replays(room: Room) -> None:
    import asyncio

    notes = made(room, NOTES)
    run = rehearsed(room, notes, inputs={"text": "hello"})
    report = asyncio.run(room.runs.replay(run.scope, run.id))
    assert report.is_same, report.divergences


def test_outputs_are_given_by_hand_or_taken_from_a_past_run(room: Room) -> None:
    notes = made(room, NOTES)
    run = rehearsed(
        room,
        notes,
        inputs={"text": "x"},
        mocks={"think": {"words": "By hand"}, "tell": {"status": 200}},
    )
    found = outputs(room, notes, run)
    assert (found["result"], found["tell"]) == ("By hand", {"status": 200})
    again = rehearsed(room, notes, inputs={"text": "x"}, like=run.id)
    assert outputs(room, notes, again)["result"] == "By hand"
    with pytest.raises(Invalid, match="no step 'nowhere'"):
        rehearsed(room, notes, inputs={"text": "x"}, mocks={"nowhere": 1})


def test_it_runs_to_a_step_and_pauses_at_breakpoints(room: Room) -> None:
    notes, access = made(room, NOTES), room.editor.access
    run = rehearsed(room, notes, inputs={"text": "x"}, until="think")
    assert run.status is Status.done, run.reason
    assert set(outputs(room, notes, run)) == {"look", "write", "think"}
    paused = rehearsed(room, notes, inputs={"text": "x"}, breakpoints=["think"])
    assert paused.status is Status.blocked
    found = room.playbooks.rehearsals.results(access, notes, paused.id)
    assert found.paused_before == ["think"]
    assert {each.key for each in found.nodes} == {"look", "write"}
    room.playbooks.rehearsals.go_on(access, notes, paused.id)
    room.drive()
    assert room.fresh(paused).status is Status.done
    with pytest.raises(Conflict, match="breakpoint"):
        room.playbooks.rehearsals.go_on(access, notes, paused.id)


def test_a_draft_is_tested_before_it_is_saved(room: Room) -> None:
    plain = made(room, PLAIN)
    run = rehearsed(room, plain, inputs={"n": 3}, yaml=PLAIN.replace("version: 1", "version: 7"))
    assert outputs(room, plain, run)["result"] == {"n": 3, "version": 7}
    with pytest.raises(Invalid, match="not of 'plain'"):
        rehearsed(room, plain, yaml=NOTES)
    with pytest.raises(Denied):
        room.playbooks.rehearsals.start(room.controller.access, plain, Wish())


def test_outputs_stand_beside_those_of_the_last_good_run(room: Room) -> None:
    plain, access = made(room, PLAIN), room.editor.access
    good = room.playbooks.running.start(access, plain, {"n": 1})
    room.drive()
    run = rehearsed(room, plain, inputs={"n": 2})
    found = room.playbooks.rehearsals.results(access, plain, run.id)
    assert found.compared_with == good.id
    differs = {each.key: (each.before, each.output) for each in found.nodes if each.differs}
    assert differs == {"result": ({"n": 1, "version": 1}, {"n": 2, "version": 1})}


def test_a_test_that_fails_says_at_which_step(room: Room) -> None:
    failing = PLAIN.replace("version: 1", 'version: "${nodes.look.output.none.such}"')
    plain = made(room, failing)
    run = rehearsed(room, plain, inputs={"n": 1})
    assert run.status is Status.failed
    found = room.playbooks.rehearsals.results(room.editor.access, plain, run.id)
    states = {each.key: each.state for each in found.nodes}
    assert states == {"look": "done", "result": "failed"}
    assert found.nodes[-1].output["error"]["message"] == run.reason


def test_a_kept_test_holds_up_a_deployment_with_another_result(room: Room) -> None:
    plain, playbooks, access = made(room, PLAIN), room.playbooks, room.editor.access
    run = rehearsed(room, plain, inputs={"n": 2})
    kept = playbooks.rehearsals.keep(access, plain, run.id, "Two")
    playbooks.deploying.deploy(access, plain)
    checks = playbooks.deploying.listed(access, plain)[0].checks
    assert ("test", "passed") in {(each.check, each.state) for each in checks}
    playbooks.library.save(access, plain, None, PLAIN.replace("version: 1", "version: 2"))
    with pytest.raises(Conflict, match="1 of 1 kept test gave another result") as refused:
        playbooks.deploying.deploy(access, plain)
    assert refused.value.specific_code == "tests-differ"
    assert playbooks.library.get(access, plain).deployed == 1
    card = playbooks.deploying.deploy(access, plain, despite_tests=True)
    assert card.deployed == 2
    playbooks.rehearsals.forget(access, plain, kept.id)
    assert playbooks.rehearsals.kept(access, plain) == []


@pytest.mark.parametrize(("held", "left"), [(False, 1), (True, 2)])
def test_branches_of_old_tests_are_taken_away(room: Room, held: bool, left: int) -> None:
    plain, access = made(room, PLAIN), room.editor.access
    steward = room.installation.steward
    if held:
        steward.identity.retention.place(room.installation.owner.access, "Case", "A claim.")
    workspace = steward.workbench.versions.workspace(access.scope, access.user_id)
    rehearsed(room, plain, inputs={"n": 1})
    room.installation.clock.advance(seconds=timedelta(days=8).total_seconds())
    rehearsed(room, plain, inputs={"n": 1})
    tests = [branch for branch in workspace.branches() if branch.name.startswith("test/")]
    assert len(tests) == left


def test_the_price_of_a_run_is_the_average_of_past_ones(room: Room) -> None:
    plain, access = made(room, PLAIN), room.editor.access
    assert room.playbooks.prices.of(access, plain).runs == 0
    for _ in range(2):
        room.playbooks.running.start(access, plain, {"n": 1})
    room.drive()
    rehearsed(room, plain, inputs={"n": 1})
    price = room.playbooks.prices.of(access, plain)
    assert price.runs == 2, "tests do not count"
    assert [each.node for each in price.nodes] == ["look"]


SCHEMA = {
    "type": "object",
    "properties": {
        "month": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
        "day": {"type": "string", "format": "date"},
        "limit": {"type": "integer", "minimum": 5, "maximum": 9},
        "kind": {"enum": ["a", "b"]},
        "rows": {"type": "array", "items": {"type": "number"}, "minItems": 2},
    },
    "required": ["month", "limit"],
    "additionalProperties": False,
}


def test_values_are_made_from_schemas_of_strangers() -> None:
    bomb = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "minItems": 10**12, "items": {"type": "number"}},
            "text": {"type": "string", "minLength": 10**12, "maxLength": 10**13},
            "pattern": {"type": "string", "pattern": "((((a{999}){999}){999}){999})"},
            "deep": {"type": "string", "pattern": "(" * 5_000 + ")" * 5_000},
            "number": {"type": "number", "minimum": "seven", "maximum": None},
            "odd": {"anyOf": ["nothing"]},
        },
    }
    assert len(json.dumps(sample(bomb))) < 100_000


def test_what_built_in_tools_give_is_known_to_tests() -> None:
    TOOLS.load_package("steward.tools")
    known = {name: tool.gives for name, tool in TOOLS if tool.gives is not None}
    assert known.keys() >= {"send_slack", "send_email", "send_webhook", "http_request"}
    for name, schema in known.items():
        assert first_problem(schema, sample(schema)) is None, name


def test_inputs_are_made_from_the_schema_with_edge_cases() -> None:
    assert first_problem(SCHEMA, sample(SCHEMA)) is None
    found = samples(SCHEMA)
    assert found[0].is_valid
    for each in found:
        assert each.is_valid is (first_problem(SCHEMA, each.value) is None)
    named = {each.name: each for each in found}
    assert not named["month is missing"].is_valid
    assert named["day is left out"].is_valid
    assert named["limit: largest"].value["limit"] == 9
    assert not named["limit: negative"].is_valid
    assert named["kind: b"].is_valid
