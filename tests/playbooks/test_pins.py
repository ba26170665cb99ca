"""What runs of a deployment keep to: policies, models and plug-ins as they were, and the way back to them."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from steward.broker.grants import NOTHING_FIXED, Grant
from steward.connections.documents import Draft
from steward.core.errors import Conflict
from steward.playbooks import _tables as tables
from steward.playbooks.deployments import Deployment
from steward.plugins import read_wheel
from steward.runs import Run, Status
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.playbooks.conftest import Room
from tests.plugins.wheels import scaffold

TALLY = """\
format: 1
id: tally
budget: {usd: 1}
graph:
  nodes:
    - {id: count, type: tool, tool: list_datasets, arguments: {}}
    - {id: result, type: output, needs: [count], value: {version: 1}}
"""
WRITER = """\
format: 1
id: writer
budget: {usd: 1}
steps:
  - {id: write, type: agent, instructions: Say hello.}
output: "${nodes.write.output}"
"""
TAXES = """\
format: 1
id: taxes
budget: {usd: 1}
tools: [plugin.acme-tax.add_tax]
steps:
  - {id: sure, question: "Go on?", form: {type: boolean}}
  - {id: tax, tool: plugin.acme-tax.add_tax, arguments: {net: 100}}
output: "${nodes.tax.output.gross}"
"""
SHOUTS = """\
format: 1
id: shouts
budget: {usd: 1}
steps:
  - {id: sure, question: "Go on?", form: {type: boolean}}
  - {id: call, type: shout, text: hello}
  - {id: again, question: "Still?", form: {type: boolean}}
output: "${nodes.call.output}"
"""
ORDERS = """\
format: 1
id: orders
budget: {usd: 1}
graph:
  nodes:
    - id: each
      type: map
      over: "[1, 2]"
      body:
        nodes:
          - {id: ask, type: tool, tool: http_request, arguments: {url: "https://shop.invalid/api/orders", connection: shop}}
"""
OPEN = '@id("open")\npermit (principal, action, resource);'
NO_LISTS = (
    OPEN + '\n@id("no-lists")\nforbid (principal, action == Action::"list_datasets", resource);'
)


def deployed(room: Room, text: str) -> str:
    made = room.playbooks.library.create(room.editor.access, text)
    room.playbooks.deploying.deploy(room.editor.access, made.id)
    return made.id


def revised(room: Room, named: str, text: str) -> None:
    """Another revision, deployed."""
    room.playbooks.library.save(room.editor.access, named, None, text)
    room.playbooks.deploying.deploy(room.editor.access, named)


def set_policy(room: Room, text: str) -> None:
    rulebook = room.installation.steward.governing.rulebook
    access = room.installation.owner.access
    current = rulebook.current(access.scope, "project")
    rulebook.save(access, "project", text, current.revision)


def run_of(room: Room, named: str) -> Run:
    run = room.playbooks.running.start(room.editor.access, named, {})
    room.drive()
    return room.fresh(run)


def why(room: Room, run: Run) -> str:
    ended: dict[str, Any] = room.runs.outcome(run.scope, run.id)
    return str(ended["error"]["message"])


def in_force(room: Room, named: str) -> Deployment:
    return room.playbooks.deploying.listed(room.editor.access, named)[0]


def warnings(deployment: Deployment, check: str) -> list[str]:
    found = (each for each in deployment.checks if each.check == check)
    return [each.message for each in found if each.state == "warning"]


def says(name: str, *texts: str, **more: Any) -> ScriptedModel:
    return ScriptedModel(list(texts), name=name, **more)


# Policy


def test_a_new_rule_holds_for_an_old_deployment(room: Room) -> None:
    set_policy(room, OPEN)
    made = deployed(room, TALLY)
    assert run_of(room, made).status is Status.done
    set_policy(room, NO_LISTS)
    run = run_of(room, made)
    assert run.status is Status.failed
    assert "no-lists" in why(room, run)
    assert "time of the deployment" not in why(room, run)


def test_a_fork_with_another_flow_has_no_rules_in_its_favour(room: Room) -> None:
    set_policy(
        room,
        '@id("most") permit (principal, action, resource) unless { action == Action::"list_datasets" };'
        '@id("tally") permit (principal, action, resource) when '
        '{ context has playbook && context.playbook == "tally" };',
    )
    run = run_of(room, deployed(room, TALLY))
    assert run.status is Status.done, why(room, run)
    fork = room.installation.steward.governing.forking.fork
    same = fork(room.editor.access, run.id, at="count", changes={})
    other = fork(room.editor.access, run.id, at="count", changes={"/document/name": "Another"})
    room.drive()
    assert room.fresh(same).status is Status.done
    assert room.fresh(other).status is Status.failed
    assert "list_datasets" in why(room, other)


def test_a_looser_policy_does_not_loosen_what_was_deployed(room: Room) -> None:
    set_policy(room, NO_LISTS)
    made = deployed(room, TALLY)
    set_policy(room, OPEN)
    run = run_of(room, made)
    assert run.status is Status.failed
    assert "Deploy the playbook again to use the policy of today." in why(room, run)
    # What was never deployed has only the policy of today.
    room.playbooks.library.save(
        room.editor.access, made, None, TALLY.replace("version: 1", "version: 2")
    )
    draft = room.playbooks.running.start(room.editor.access, made, {}, revision=2)
    room.drive()
    assert room.fresh(draft).status is Status.done
    room.playbooks.deploying.deploy(room.editor.access, made)
    assert run_of(room, made).status is Status.done
    assert any("project" in each for each in warnings(in_force(room, made), "policy"))


def test_going_back_keeps_to_the_stricter_of_both_policies(room: Room) -> None:
    set_policy(room, NO_LISTS)
    made = deployed(room, TALLY)
    set_policy(room, OPEN)
    revised(room, made, TALLY.replace("version: 1", "version: 2"))
    assert run_of(room, made).status is Status.done
    room.playbooks.deploying.roll_back(room.editor.access, made)
    assert run_of(room, made).status is Status.failed
    told = warnings(in_force(room, made), "policy")
    assert told, in_force(room, made).checks
    assert told[0].endswith("Runs keep to the stricter of both.")
    # And the new rule is not left behind by going forth.
    set_policy(room, NO_LISTS)
    room.playbooks.deploying.roll_back(room.editor.access, made, to=2)
    assert run_of(room, made).status is Status.failed


def test_what_a_playbook_calls_keeps_to_the_policies_of_both_deployments(room: Room) -> None:
    set_policy(room, NO_LISTS)
    outer = """\
format: 1
id: outer
budget: {usd: 1}
tools: [call_playbook, list_datasets]
steps:
  - {id: called, tool: call_playbook, arguments: {playbook: tally, inputs: {}}}
output: "${nodes.called.output.version}"
"""
    deployed(room, TALLY)
    made = deployed(room, outer)
    set_policy(room, OPEN)
    room.playbooks.deploying.deploy(room.editor.access, "tally")
    run = run_of(room, made)
    assert run.status is Status.failed
    room.playbooks.deploying.deploy(room.editor.access, made)
    assert run_of(room, made).status is Status.done


# Models


def test_agents_ask_the_pinned_model(room: Room, models: ScriptedLineup) -> None:
    old, new = says("old", "Hello.", "Hello."), says("new", "Hi.")
    models.play(old)
    made = deployed(room, WRITER)
    (pin,) = (each for each in in_force(room, made).pins if each.kind == "model")
    assert (pin.name, pin.version, pin.fixed) == ("operator", old.model, True)
    models.play(new, old)
    assert room.runs.outcome(room.editor.access.scope, run_of(room, made).id)["output"] == "Hello."
    found = room.playbooks.deploying.prepare(room.editor.access, made)
    assert [
        each.message for each in found.checks if each.state == "warning" and each.check == "model"
    ] == [f"The model for operator differs: {old.model} → {new.model}, {old.model}."]
    revised(room, made, WRITER.replace("Say hello", "Say hi"))
    assert room.runs.outcome(room.editor.access.scope, run_of(room, made).id)["output"] == "Hi."
    # Back to the first deployment, and to its model.
    room.playbooks.deploying.roll_back(room.editor.access, made)
    run = run_of(room, made)
    assert room.runs.outcome(run.scope, run.id)["output"] == "Hello."
    old.assert_finished()
    models.play()
    report = asyncio.run(room.runs.replay(run.scope, run.id))
    assert report.divergences == ()


def test_a_pinned_model_that_is_gone_stops_the_step_with_a_reason(
    room: Room, models: ScriptedLineup
) -> None:
    models.play(says("old"))
    made = deployed(room, WRITER)
    models.play(says("new"))
    run = run_of(room, made)
    assert run.status is Status.failed
    assert "deployed with the model scripted:old" in why(room, run)
    # The same name at another place is another model.
    models.play(says("old", settings="elsewhere"))
    assert "deployed with the model scripted:old" in why(room, run_of(room, made))


def test_the_next_pinned_model_is_asked_where_the_first_is_gone(
    room: Room, models: ScriptedLineup
) -> None:
    models.play(says("first"), says("second"))
    made = deployed(room, WRITER)
    models.play(says("new"), says("second", "Hello."))
    run = run_of(room, made)
    assert room.runs.outcome(run.scope, run.id)["output"] == "Hello."


# Code


def install(room: Room, content: bytes) -> None:
    access = room.installation.owner.access
    wheel = read_wheel(content)
    room.installation.steward.plugins.install(
        access, content, wheel.sha256, rights=wheel.needs_rights
    )


@pytest.fixture
def wheels(tmp_path: Path) -> tuple[bytes, bytes]:
    """Two versions of one plug-in."""
    first = scaffold(tmp_path / "one")
    project = (tmp_path / "one/acme-tax/pyproject.toml").read_text()
    return first, scaffold(tmp_path / "two", pyproject=project.replace("0.1.0", "0.2.0"))


def test_a_run_refuses_a_plug_in_that_is_not_the_deployed_one(
    room: Room, wheels: tuple[bytes, bytes]
) -> None:
    first, second = wheels
    install(room, first)
    made = deployed(room, TAXES)
    (pin,) = (each for each in in_force(room, made).pins if each.name == "plug-in acme-tax")
    assert (pin.hash, pin.fixed) == (read_wheel(first).sha256, True)
    waiting = room.playbooks.running.start(room.editor.access, made, {})
    room.drive()
    queued = room.playbooks.running.start(room.editor.access, made, {})
    install(room, second)
    said = r"version 0\.1\.0 of the plug-in acme-tax .* Installed now is version 0\.2\.0 with other code"
    with pytest.raises(Conflict, match=said):
        room.playbooks.running.start(room.editor.access, made, {})
    # One that was in the queue, and one that goes on after a question.
    room.drive()
    assert "Installed now is version 0.2.0" in why(room, queued)
    room.answer(waiting, True)
    assert "Installed now is version 0.2.0" in why(room, waiting)
    for run in (queued, waiting):
        assert asyncio.run(room.runs.replay(run.scope, run.id)).divergences == ()
    install(room, first)
    run = room.playbooks.running.start(room.editor.access, made, {})
    room.drive()
    room.answer(run, True)
    assert room.runs.outcome(run.scope, run.id)["output"] == 119.0


def test_a_run_that_goes_on_meets_no_other_code_in_its_nodes(room: Room, tmp_path: Path) -> None:
    first = scaffold(tmp_path / "one", "node")
    project = (tmp_path / "one/acme-tax/pyproject.toml").read_text()
    second = scaffold(tmp_path / "two", "node", pyproject=project.replace("0.1.0", "0.2.0"))
    install(room, first)
    made = deployed(room, SHOUTS)
    before, between = (room.playbooks.running.start(room.editor.access, made, {}) for _ in range(2))
    room.drive()
    # One waits before the node of the plug-in, one behind it.
    room.answer(between, True)
    assert room.fresh(between).status is not Status.done
    install(room, second)
    for run in (before, between):
        room.answer(run, True)
        assert room.fresh(run).status is Status.failed
        assert "Installed now is version 0.2.0 with other code" in why(room, run)
        assert asyncio.run(room.runs.replay(run.scope, run.id)).divergences == ()
    install(room, first)
    run = room.playbooks.running.start(room.editor.access, made, {})
    room.drive()
    room.answer(run, True)
    room.answer(run, True)
    assert room.fresh(run).status is Status.done
    assert asyncio.run(room.runs.replay(run.scope, run.id)).divergences == ()


def test_a_run_refuses_a_plug_in_that_brings_another_kind_of_connection_than_the_deployed_one(
    room: Room, tmp_path: Path
) -> None:
    first = scaffold(tmp_path / "one", "connector")
    project = (tmp_path / "one/acme-tax/pyproject.toml").read_text()
    second = scaffold(tmp_path / "two", "connector", pyproject=project.replace("0.1.0", "0.2.0"))
    install(room, first)
    owner, steward = room.installation.owner.access, room.installation.steward
    settings = {"base_url": "https://shop.invalid/api"}
    draft = Draft("shop", "web_shop", settings, values={"token": "a-token-of-the-shop"})
    steward.connections.documents.create(owner, draft)
    made = deployed(room, ORDERS)
    pins = {each.name: each for each in in_force(room, made).pins}
    assert pins["shop"].kind == "connection"
    pin = pins["plug-in acme-tax"]
    assert (pin.hash, pin.fixed) == (read_wheel(first).sha256, True)

    install(room, second)

    with pytest.raises(Conflict, match=r"Installed now is version 0\.2\.0 with other code"):
        room.playbooks.running.start(room.editor.access, made, {})
    # A flow that names no connection of that kind goes on.
    assert run_of(room, deployed(room, TALLY)).status is Status.done


def test_going_back_to_code_that_is_gone_is_refused_and_changes_nothing(
    room: Room, wheels: tuple[bytes, bytes]
) -> None:
    first, second = wheels
    install(room, first)
    made = deployed(room, TAXES)
    install(room, second)
    revised(room, made, TAXES.replace("net: 100", "net: 200"))
    with pytest.raises(Conflict, match=r"deployed with version 0\.1\.0 of the plug-in acme-tax"):
        room.playbooks.deploying.roll_back(room.editor.access, made)
    assert room.playbooks.library.get(room.editor.access, made).deployed == 2
    # The older revision with the plug-in of today is another deployment.
    room.playbooks.deploying.deploy(room.editor.access, made, 1)
    install(room, first)
    room.playbooks.deploying.roll_back(room.editor.access, made, to=1)
    assert room.playbooks.library.get(room.editor.access, made).deployed == 1


def test_plug_ins_that_a_flow_does_not_use_hold_up_nothing(
    room: Room, wheels: tuple[bytes, bytes]
) -> None:
    install(room, wheels[0])
    made = deployed(room, TALLY)
    install(room, wheels[1])
    assert run_of(room, made).status is Status.done


def test_the_code_of_steps_is_pinned_by_its_hash(room: Room) -> None:
    made = deployed(
        room,
        "format: 1\nid: ones\nbudget: {usd: 1}\nsteps:\n"
        "  - {id: one, type: code, language: sql, code: SELECT 1 AS one}\n",
    )
    (pin,) = (each for each in in_force(room, made).pins if each.name == "step one")
    assert (pin.kind, pin.fixed) == ("code", True)


# Both


def as_it_was_kept_before(pins: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pins of a release that kept no contents and fixed no policies, models and plug-ins."""
    kept = [{name: value for name, value in pin.items() if name != "content"} for pin in pins]
    loose = {"policy", "model", "code"}
    return [pin | ({"fixed": False} if pin["kind"] in loose else {}) for pin in kept]


def test_deployments_without_such_pins_still_run(
    room: Room, models: ScriptedLineup, wheels: tuple[bytes, bytes]
) -> None:
    set_policy(room, NO_LISTS)
    models.play(says("old"))
    install(room, wheels[0])
    named = [deployed(room, text) for text in (TALLY, WRITER, TAXES)]
    with room.installation.steward.database.write(room.editor.access.scope) as tx:
        for row in tx.rows(sa.select(tables.deployments)):
            here = tables.deployments.c.playbook_id == row.playbook_id
            pins = as_it_was_kept_before(row.pins)
            tx.execute(sa.update(tables.deployments).where(here).values(pins=pins))
    set_policy(room, OPEN)
    models.play(says("new", "Hello."))
    install(room, wheels[1])
    tally, writer, taxes = (run_of(room, each) for each in named)
    assert tally.status is Status.done
    assert room.runs.outcome(writer.scope, writer.id)["output"] == "Hello."
    room.answer(taxes, True)
    assert room.runs.outcome(taxes.scope, taxes.id)["output"] == 119.0


def test_two_versions_side_by_side_show_the_parts_that_differ(
    room: Room, models: ScriptedLineup
) -> None:
    set_policy(room, OPEN)
    models.play(says("old"))
    made = deployed(room, WRITER)
    set_policy(room, NO_LISTS)
    models.play(says("new"))
    revised(room, made, WRITER.replace("Say hello", "Say hi"))
    found = room.playbooks.deploying.comparison(room.editor.access, made, 1, 2)
    assert [(each.kind, each.name) for each in found.parts] == [
        ("model", "operator"),
        ("policy", "project"),
    ]
    same = room.playbooks.deploying.comparison(room.editor.access, made, 2, 2)
    assert same.is_same


def test_a_grant_carries_what_is_fixed(room: Room, models: ScriptedLineup) -> None:
    models.play(says("old"))
    made = deployed(room, WRITER)
    run = room.playbooks.running.start(room.editor.access, made, {})
    grant = Grant.from_json(room.runs.request(run.scope, run.id).grant)
    assert grant.fixed.models["operator"][0]["model"] == "scripted:old"
    assert grant.fixed.policies
    assert Grant.from_json(grant.to_json()) == grant
    plain = replace(grant, fixed=NOTHING_FIXED)
    assert "fixed" not in plain.to_json()
