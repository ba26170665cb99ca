"""What a run will cost before it starts: as past runs did, and an estimate for steps that never ran."""

from decimal import Decimal

import pytest

from steward.playbooks.price_parts import NodePrice, Price
from steward.runs import Status
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.playbooks.conftest import Room

EACH = Decimal("0.000001")
SUMMARY = """\
format: 1
id: summary
budget: {usd: 1}
steps:
  - {id: sum_up, type: agent, instructions: "Say in two sentences what matters here."}
"""


@pytest.fixture
def model(models: ScriptedLineup) -> ScriptedModel:
    found = ScriptedModel(["Fine."] * 20, price=EACH)
    models.play(found)
    return found


def graph(node: str, inputs: str = "{type: object, properties: {}}") -> str:
    return f"format: 1\nid: graph\nbudget: {{usd: 1}}\ninputs: {inputs}\ngraph:\n  nodes:\n    - {node}\n"


def listed(over: str, instructions: str = "Write a letter.") -> str:
    body = f'{{nodes: [{{id: write, type: agent, instructions: "{instructions}"}}]}}'
    return f'{{id: each, type: map, title: Letters, over: "{over}", body: {body}}}'


def priced(room: Room, text: str) -> Price:
    made = room.playbooks.library.create(room.editor.access, text)
    return room.playbooks.prices.of(room.editor.access, made.id)


def only(price: Price) -> NodePrice:
    (found,) = price.nodes
    return found


def test_a_step_that_never_ran_has_a_price_from_its_size_and_its_model(
    room: Room, model: ScriptedModel
) -> None:
    short = only(priced(room, SUMMARY))
    long = SUMMARY.replace("id: summary", "id: long").replace("what matters", "what matters " * 900)
    longer = only(priced(room, long))
    assert short.is_estimate
    assert short.usd is not None
    assert short.most_usd is not None
    assert 0 < short.usd < short.most_usd
    assert short.tokens * float(EACH) == pytest.approx(short.usd)
    assert "No runs yet." in short.rests_on
    assert "price of the model scripted:scripted." in short.rests_on
    assert (longer.usd or 0) > 3 * short.usd


def test_the_estimate_holds_what_the_run_then_costs(room: Room, model: ScriptedModel) -> None:
    made = room.playbooks.library.create(room.editor.access, SUMMARY)
    room.playbooks.deploying.deploy(room.editor.access, made.id)
    before = only(room.playbooks.prices.of(room.editor.access, made.id))
    run = room.playbooks.running.start(room.editor.access, made.id, {})
    room.drive()
    assert room.fresh(run).status is Status.done
    after = only(room.playbooks.prices.of(room.editor.access, made.id))
    assert after.rests_on == "Average of 1 past run."
    assert not after.is_estimate
    assert after.usd == after.most_usd
    assert after.usd is not None
    assert 0 < after.usd <= (before.most_usd or 0)


def test_no_price_is_never_shown_as_nothing(room: Room, models: ScriptedLineup) -> None:
    models.play(ScriptedModel(["Fine."] * 3, price=None))
    price = priced(room, SUMMARY)
    found = only(price)
    assert (found.usd, found.most_usd) == (None, None)
    assert found.tokens > 0
    assert found.rests_on == "No price is known for the model scripted:scripted."
    assert (price.usd, price.most_usd, price.unknown) == (None, None, ["sum_up"])
    # A run counts the model as free; what it cost is as unknown as before.
    made = room.playbooks.library.listed(room.editor.access)[0]
    room.playbooks.deploying.deploy(room.editor.access, made.id)
    room.playbooks.running.start(room.editor.access, made.id, {})
    room.drive()
    again = room.playbooks.prices.of(room.editor.access, made.id)
    assert again.runs == 1
    assert (only(again).usd, again.unknown) == (None, ["sum_up"])
    assert only(again).tokens > 0


def test_without_a_model_the_price_is_not_known(room: Room) -> None:
    found = only(priced(room, SUMMARY))
    assert found.usd is None
    assert "No model is set up" in found.rests_on


def test_lists_are_multiplied_by_their_items_where_those_are_known(
    room: Room, model: ScriptedModel
) -> None:
    one = only(priced(room, graph(listed("['a']"))))
    three = only(priced(room, graph(listed("['a', 'b', 'c']")).replace("id: graph", "id: three")))
    assert three.usd == pytest.approx(3 * (one.usd or 0))
    assert three.most_usd == pytest.approx(3 * (one.most_usd or 0))
    assert "For 3 items." in three.rests_on
    given = "{type: object, properties: {names: {type: array, default: [a, b]}}}"
    two = graph(listed("inputs.names"), given).replace("id: graph", "id: two")
    assert only(priced(room, two)).usd == pytest.approx(2 * (one.usd or 0))
    asked = "{type: object, properties: {names: {type: array}}, required: [names]}"
    open_ = only(priced(room, graph(listed("inputs.names"), asked).replace("graph\n", "open\n", 1)))
    assert open_.usd == pytest.approx(one.usd)
    assert "For one item: how many “Letters” has is known at the run." in open_.rests_on


def test_a_new_step_in_a_list_that_ran_is_multiplied_by_what_the_list_had(
    room: Room, model: ScriptedModel
) -> None:
    asked = "{type: object, properties: {names: {type: array}}, required: [names]}"
    text = graph(listed("inputs.names"), asked)
    access, library = room.editor.access, room.playbooks.library
    made = library.create(access, text)
    room.playbooks.deploying.deploy(access, made.id)
    room.playbooks.running.start(access, made.id, {"names": ["a", "b", "c", "d"]})
    room.drive()
    before = only(room.playbooks.prices.of(access, made.id))
    further = (
        "{id: check, type: agent, needs: [write], instructions: Check it.}, "
        '{id: done, type: output, needs: [check], value: "${nodes.check.output}"}'
    )
    library.save(access, made.id, None, text.replace('letter."}]', f'letter."}}, {further}]'))
    after = only(room.playbooks.prices.of(access, made.id))
    assert after.is_estimate
    assert "For 4 items." in after.rests_on
    assert (after.usd or 0) > (before.usd or 0)


def test_a_loop_costs_from_one_pass_to_all_of_them(room: Room, model: ScriptedModel) -> None:
    body = "{nodes: [{id: write, type: agent, instructions: Write a letter.}]}"
    loop = f"{{id: again, type: loop, until: 'index > 3', at_most: 5, body: {body}}}"
    one = only(priced(room, graph(listed("['a']"))))
    found = only(priced(room, graph(loop).replace("id: graph", "id: repeated")))
    assert found.usd == pytest.approx(one.usd)
    assert found.most_usd == pytest.approx(5 * (one.most_usd or 0))
    assert "For 1 to 5 passes." in found.rests_on


def test_an_agent_that_worked_in_other_flows_costs_what_it_did_there(
    room: Room, model: ScriptedModel
) -> None:
    access = room.editor.access
    first = SUMMARY.replace("type: agent,", "type: agent, agent: summariser,")
    made = room.playbooks.library.create(access, first)
    room.playbooks.deploying.deploy(access, made.id)
    for _ in range(2):
        room.playbooks.running.start(access, made.id, {})
    room.drive()
    spent = only(room.playbooks.prices.of(access, made.id))
    other = only(priced(room, first.replace("id: summary", "id: other")))
    assert "the agent summariser used in the last 30 days (2 tasks)" in other.rests_on
    assert other.usd == pytest.approx(spent.usd, rel=0.01)


def test_a_called_playbook_costs_what_its_steps_cost(room: Room, model: ScriptedModel) -> None:
    access = room.editor.access
    inner = room.playbooks.library.create(access, SUMMARY)
    room.playbooks.deploying.deploy(access, inner.id)
    called = "{id: call, type: tool, tool: call_playbook, arguments: {playbook: summary}}"
    found = only(priced(room, graph(called)))
    inside = only(room.playbooks.prices.of(access, inner.id))
    assert (found.usd, found.most_usd) == (inside.usd, inside.most_usd)
    text = graph(called.replace("playbook: summary", 'playbook: "${inputs.which}"'))
    which = "{type: object, properties: {which: {type: string}}}"
    text = text.replace("inputs: {type: object, properties: {}}", f"inputs: {which}")
    open_ = only(priced(room, text.replace("id: graph", "id: open")))
    assert open_.usd is None
    assert "known at the run" in open_.rests_on


def test_a_tool_that_is_called_as_written_needs_no_estimate(
    room: Room, model: ScriptedModel
) -> None:
    node = "{id: look, type: agent, instructions: Look., tools: [list_datasets]}"
    assert priced(room, graph(node)).nodes == []


def inner(price: Price) -> dict[str, NodePrice]:
    return {each.node: each for each in price.inner}


def test_steps_inside_others_have_a_price_for_each_time_and_for_all(
    room: Room, model: ScriptedModel
) -> None:
    price = priced(room, graph(listed("['a', 'b', 'c']")))
    found = inner(price)["each/write"]
    assert (found.times, found.most_times) == (3, 3)
    assert found.usd == pytest.approx(only(price).usd)
    assert found.most_usd == pytest.approx(only(price).most_usd)
    assert found.each_usd == pytest.approx((found.usd or 0) / 3)
    assert found.most_each_usd == pytest.approx((found.most_usd or 0) / 3)
    body = "{nodes: [{id: write, type: agent, instructions: Write a letter.}]}"
    loop = f"{{id: again, type: loop, until: 'index > 3', at_most: 5, body: {body}}}"
    passes = inner(priced(room, graph(loop).replace("id: graph", "id: repeated")))["again/write"]
    assert (passes.times, passes.most_times) == (1, 5)
    assert passes.most_each_usd == pytest.approx((passes.most_usd or 0) / 5)
    # The branches of a parallel step are not part of the name that an editor has for a step.
    both = f"{{id: both, type: parallel, branches: {{one: {body}}}}}"
    aside = inner(priced(room, graph(both).replace("id: graph", "id: both")))["both/write"]
    assert aside.times == 1
    assert aside.usd == pytest.approx(found.each_usd)
    flow = "{format: 1, id: inside, nodes: [" + listed("['a', 'b']") + "]}"
    sub = f"{{id: sub, type: subflow, flow: {flow}}}"
    deep = inner(priced(room, graph(sub).replace("id: graph", "id: deep")))
    assert set(deep) == {"sub/each", "sub/each/write"}
    assert deep["sub/each/write"].times == 2
    asked = "{type: object, properties: {names: {type: array}}, required: [names]}"
    open_ = graph(listed("inputs.names"), asked).replace("graph\n", "open\n", 1)
    one = inner(priced(room, open_))["each/write"]
    assert (one.times, one.most_times) == (None, None)
    assert one.usd == one.each_usd == pytest.approx(found.each_usd)


def test_steps_inside_others_cost_what_they_did_in_past_runs(
    room: Room, model: ScriptedModel
) -> None:
    asked = "{type: object, properties: {names: {type: array}}, required: [names]}"
    access = room.editor.access
    made = room.playbooks.library.create(access, graph(listed("inputs.names"), asked))
    room.playbooks.deploying.deploy(access, made.id)
    for names in (["a", "b", "c"], ["a"]):
        room.playbooks.running.start(access, made.id, {"names": names})
        room.drive()
    price = room.playbooks.prices.of(access, made.id)
    found = inner(price)["each/write"]
    assert found.times == found.most_times == 2
    assert found.usd == pytest.approx(only(price).usd)
    assert found.each_usd == pytest.approx((found.usd or 0) / 2)
    assert found.rests_on == "Average of 2 past runs."
    assert not found.is_estimate
