"""How nodes stand in a run: told from its journal, by the keys that an editor uses."""

from steward.flows import load_flow
from steward.flows.drawing import drawing
from steward.flows.node_states import Standing, calls_at, node_of, shortened, size_of, standings
from steward.runs.projection import calls_of
from tests.flows.kit import Room, flow_of, output, tool


def told(room: Room, run_id: str, flow: object) -> dict[str, Standing]:
    found = standings(load_flow(flow), room.entries(run_id), lambda value: value)
    return {each.node: each for each in found}


def test_a_map_counts_its_items_and_keeps_what_the_last_one_gave(room: Room) -> None:
    body = {"nodes": [tool("one", "add", arguments={"values": ["${item}", 1]})]}
    each = {"id": "each", "type": "map", "over": "[1, 2, 3]", "concurrency": 1, "body": body}
    flow = flow_of(each, output("${nodes.each.output}", ["each"]))
    run_id = room.start(flow)
    room.drive()
    found = told(room, run_id, flow)["each/one"]
    assert (found.state, found.times, found.failed) == ("done", 3, 0)
    assert found.sample == {"n": 4}
    calls = calls_of(room.entries(run_id), lambda value: value)
    shown = calls_at("each/one", load_flow(flow), calls)
    assert [call.key for call in shown] == ["each[0]/one", "each[1]/one", "each[2]/one"]


def test_a_wait_and_an_error_are_told_at_their_node(room: Room) -> None:
    ask = {"id": "q", "type": "question", "question": "Go on?"}
    flow = flow_of(ask, tool("b", "no", ["q"]))
    run_id = room.start(flow)
    room.drive()
    assert told(room, run_id, flow)["q"].state == "waiting"
    room.answer(run_id, "q", {"answer": "yes", "by": "usr_x"})
    found = told(room, run_id, flow)
    assert found["q"].state == "done"
    assert (found["b"].state, found["b"].failed) == ("failed", 1)
    assert found["b"].error["message"]


def test_a_node_that_failed_before_it_called_anything_says_why(room: Room) -> None:
    body = {"nodes": [tool("one", "add", arguments={"values": "${item.size}"})]}
    each = {"id": "each", "type": "map", "over": "[[1], [2]]", "concurrency": 1, "body": body}
    flow = flow_of(tool("a", value=1), {**each, "needs": ["a"]})
    run_id = room.start(flow)
    room.drive()
    found = told(room, run_id, flow)
    assert found["a"].state == "done"
    assert found["each/one"].state == "failed"
    assert "item.size" in found["each/one"].error["message"]
    assert found["each"].state == "failed"
    assert found["each"].error == found["each/one"].error


def test_keys_lead_to_the_innermost_node() -> None:
    branch = {"nodes": [tool("inner", value=1)]}
    both = {"id": "both", "type": "parallel", "branches": {"left": branch}}
    nodes = frozenset(drawing(load_flow(flow_of(tool("a", value=1), both)))[0])
    assert node_of("both/left/inner~2", nodes) == "both/inner"
    assert node_of("a/budget/settle", nodes) == "a"
    assert node_of("a:pause", nodes) == "a"
    assert node_of("run", nodes) is None


def test_samples_keep_the_shape_and_leave_out_the_rest() -> None:
    rows = [{"text": "x" * 1_000, "n": number} for number in range(10)]
    short = shortened({"rows": rows})
    assert size_of({"rows": rows}) == 10
    assert len(short["rows"]) == 3
    assert len(short["rows"][0]["text"]) == 301
    deep: object = 1
    for _ in range(50):
        deep = {"a": deep}
    assert str(shortened(deep)).count("a") == 6


def test_what_was_under_way_at_the_end_of_a_run_is_not_shown_as_running(room: Room) -> None:
    ask = {"id": "q", "type": "question", "question": "Go on?"}
    flow = flow_of(ask)
    run_id = room.start(flow)
    room.drive()
    entries = list(room.entries(run_id))
    error = {"code": "agent-failed", "message": "It gave up."}
    ended = entries[-1]._replace(
        type="run.failed",
        kind="run.failed",
        key="run",
        of="run",
        data={"error": error},
    )
    [found] = standings(load_flow(flow), [*entries, ended], lambda value: value)
    assert (found.state, found.error) == ("failed", error)
