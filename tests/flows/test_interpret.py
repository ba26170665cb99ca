"""Every kind of node, run on a real journal."""

from typing import Any

import pytest

from steward.core import MovableClock
from steward.core.errors import Invalid, NotFound
from steward.flows import Flow, load_flow, pinned
from steward.runs import Execution
from tests.flows.kit import Marks, Room, Tools, flow_of, output, tool


def failure(found: Any) -> tuple[str, str]:
    return found["error"]["code"], found["error"].get("at", "")


def test_values_go_from_node_to_node(room: Room) -> None:
    flow = flow_of(
        tool("a", "add", arguments={"values": ["${inputs.n}", 2]}),
        tool("b", "add", ["a"], arguments={"values": ["${nodes.a.output.n * 2}"], "plus": 1}),
        output({"sum": "${nodes.b.output.n}", "text": "n is ${nodes.b.output.n}"}, ["b"]),
        inputs={"type": "object", "properties": {"n": {"type": "integer", "default": 5}}},
    )
    run_id = room.start(flow)
    room.drive()
    assert room.outcome(run_id) == {"output": {"sum": 15, "text": "n is 15"}}
    assert room.get(run_id).progress == {
        "done": 3,
        "total": 3,
        "nodes": {"a": "done", "b": "done", "out": "done"},
    }
    assert [entry.key for entry in room.entries(run_id)] == ["run", "a", "b", "run"]


def test_how_far_a_run_is_can_be_seen_while_it_works(room: Room) -> None:
    seen: dict[str, Any] = {}

    class Watched(Tools):
        async def call(self, execution: Execution, key: str, *told: Any) -> Any:
            # As the broker does: a call is weighed before it is made.
            await execution.note(f"{key}/weighed", {})
            seen[key] = (room.get(execution.run.id).progress or {}).get("nodes")
            return await super().call(execution, key, *told)

    room.use(Watched())
    ask = {"id": "q", "type": "question", "question": "Go on?"}
    run_id = room.start(flow_of(tool("a", value=1), ask, tool("b", "echo", ["a", "q"], value=2)))
    room.drive()
    assert seen["a"] == {"a": "running", "q": "running", "b": "pending"}
    seen.clear()
    room.answer(run_id, "q", {"answer": "yes", "by": "usr_x"})
    assert seen["b"] == {"a": "done", "q": "done", "b": "running"}


def test_a_step_that_fails_is_told_as_failed(room: Room) -> None:
    run_id = room.start(flow_of(tool("a", value=1), tool("b", "no", ["a"]), tool("c", "x", ["b"])))
    room.drive()
    told = (room.get(run_id).progress or {})["nodes"]
    assert told == {"a": "done", "b": "failed", "c": "pending"}


def test_wrong_inputs_are_refused_before_anything_runs(room: Room) -> None:
    flow = flow_of(
        tool("a", value=1),
        inputs={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    )
    assert "'n' is missing" in room.run(flow)["error"]["message"]
    assert "must be integer, not string" in room.run(flow, n="x")["error"]["message"]
    assert not room.tools.calls


def test_an_output_that_breaks_its_promise_fails(room: Room) -> None:
    flow = flow_of(output("${inputs.x}"), outputs={"type": "integer"}, inputs={"type": "object"})
    assert room.run(flow, x=3) == {"output": 3}
    assert failure(room.run(flow, x="3")) == ("invalid", "output")


def test_a_document_that_is_not_valid_fails_at_once(room: Room) -> None:
    circle = flow_of(tool("a", "echo", ["b"], value=1), tool("b", "echo", ["a"], value=1))
    assert "a cycle without a bound" in room.run(circle)["error"]["message"]


def test_a_branch_takes_the_first_way_that_holds_and_skips_the_others(room: Room) -> None:
    cases = [{"port": "big", "when": "inputs.n > 10"}, {"port": "some", "when": "inputs.n > 0"}]
    flow = flow_of(
        {"id": "b", "type": "branch", "cases": cases},
        tool("big", "echo", ["b.big"], value="big"),
        tool("some", "echo", ["b.some"], value="some"),
        tool("none", "echo", ["b.else"], value="none"),
        tool("after_big", "echo", ["big"], value="after"),
        {"id": "j", "type": "join", "needs": ["after_big", "some", "none"]},
        output({"way": "${nodes.b.output.port}", "got": "${nodes.j.output}"}, ["j"]),
        inputs={"type": "object"},
    )
    assert room.run(flow, n=20)["output"] == {"way": "big", "got": {"after_big": "after"}}
    assert room.run(flow, n=5)["output"] == {"way": "some", "got": {"some": "some"}}
    run_id = room.start(flow, n=0)
    room.drive()
    assert room.outcome(run_id)["output"] == {"way": "else", "got": {"none": "none"}}
    states = (room.get(run_id).progress or {})["nodes"]
    assert [name for name, state in states.items() if state == "skipped"] == [
        "big",
        "some",
        "after_big",
    ]
    notes = {e.key: e.data for e in room.entries(run_id) if e.kind == "note"}
    assert notes == {name: {"skipped": True} for name in ("big", "some", "after_big")}


def test_a_condition_must_be_true_or_false(room: Room) -> None:
    flow = flow_of({"id": "b", "type": "branch", "cases": [{"port": "x", "when": "1 + 1"}]})
    assert failure(room.run(flow)) == ("condition", "b")


def test_map_keeps_order_keys_and_its_limit(room: Room) -> None:
    body = {"nodes": [tool("t", "add", arguments={"values": ["${item}"], "plus": "${index}"})]}
    node = {"id": "m", "type": "map", "over": "inputs.list", "body": body, "concurrency": 3}
    flow = flow_of(node, output("${nodes.m.output.map(x, x.n)}", ["m"]), inputs={"type": "object"})
    run_id = room.start(flow, list=[10, 20, 30, 40, 50, 60, 70])
    room.drive()
    assert room.outcome(run_id)["output"] == [10, 21, 32, 43, 54, 65, 76]
    assert set(room.tools.calls) == {f"m[{n}]/t" for n in range(7)}
    assert room.tools.busiest == 3
    assert (room.get(run_id).progress or {})["parts"] == {"m": {"done": 7, "total": 7}}
    assert failure(
        room.run(flow_of({**node, "at_most": 2}, inputs={"type": "object"}), list=[1] * 3)
    ) == (
        "too-many-items",
        "m",
    )
    assert failure(room.run(flow, list=3)) == ("not-a-list", "m")
    assert room.run(flow, list=[])["output"] == []


def test_errors_of_items_fail_the_map_or_stand_in_their_place(room: Room) -> None:
    cases = [{"port": "bad", "when": "item == 2"}]
    nodes = [
        {"id": "b", "type": "branch", "cases": cases},
        tool("boom", "boom", ["b.bad"]),
        tool("fine", "echo", ["b.else"], value="${item}"),
        output("${nodes.fine.output}", ["fine"]),
    ]
    node = {"id": "m", "type": "map", "over": "[1, 2, 3]", "body": {"nodes": nodes}}
    assert failure(room.run(flow_of(node))) == ("invalid", "m[1]/boom")
    found = room.run(flow_of({**node, "on_item_error": "continue"}))["output"]
    assert [found[0], found[2]] == [1, 3]
    assert found[1]["error"]["code"] == "invalid"


def test_a_body_sees_what_is_around_it(room: Room) -> None:
    inner = {
        "id": "inner",
        "type": "map",
        "over": "item.cells",
        "body": {"nodes": [tool("t", value="${inputs.mark}${nodes.top.output}${item}")]},
    }
    outer = {
        "id": "outer",
        "type": "map",
        "needs": ["top"],
        "over": "inputs.rows",
        "body": {"nodes": [inner]},
    }
    flow = flow_of(tool("top", value="-"), outer, inputs={"type": "object"})
    rows = [{"cells": ["a", "b"]}, {"cells": ["c"]}]
    run_id = room.start(load_flow({**flow.model_dump(mode="json"), "id": "x"}), mark="!", rows=rows)
    room.drive()
    keys = {entry.key for entry in room.entries(run_id) if entry.kind == "step.outcome"}
    assert keys == {"top", *(f"outer[{r}]/inner[{c}]/t" for r, c in ((0, 0), (0, 1), (1, 0)))}
    values = {e.key: e.data["result"] for e in room.entries(run_id) if e.kind == "step.outcome"}
    assert values["outer[1]/inner[0]/t"] == "!-c"


def test_parallel_gives_a_field_for_each_branch(room: Room) -> None:
    branches = {
        "left": {"nodes": [tool("l", value=1)]},
        "right": {
            "nodes": [tool("r", value=2), output("${nodes.r.output + 1}", ["r"], made_id="ro")]
        },
    }
    flow = flow_of(
        {"id": "p", "type": "parallel", "branches": branches}, output("${nodes.p.output}", ["p"])
    )
    assert room.run(flow)["output"] == {"left": 1, "right": 3}
    assert set(room.tools.calls) == {"p/left/l", "p/right/r"}
    assert room.tools.busiest == 2


def test_a_loop_repeats_until_its_condition_holds_and_not_for_ever(room: Room) -> None:
    body = {"nodes": [tool("t", "add", arguments={"values": ["${last.n}"], "plus": 3})]}
    node = {"id": "l", "type": "loop", "until": "last.n >= 7", "at_most": 5, "body": body}
    node["first"] = {"n": 0}
    assert room.run(flow_of(node)) == {"output": {"n": 9}}
    assert set(room.tools.calls) == {"l#1/t", "l#2/t", "l#3/t"}
    assert failure(room.run(flow_of({**node, "at_most": 2}))) == ("exhausted", "l")
    tolerant = {**node, "at_most": 2, "exhausted": "continue"}
    assert room.run(flow_of(tolerant)) == {"output": {"n": 6}}


INNER = {
    "format": 1,
    "id": "inner",
    "name": "The inner one",
    "inputs": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    "nodes": [
        {"id": "t", "type": "tool", "tool": "add", "arguments": {"values": ["${inputs.x}", 1]}},
        {"id": "out", "type": "output", "value": "${nodes.t.output.n}", "needs": ["t"]},
    ],
}


@pytest.mark.parametrize("run_as", ["part", "child"])
def test_a_sub_flow_runs_within_or_under_the_run(room: Room, run_as: str) -> None:
    node = {"id": "s", "type": "subflow", "flow": INNER, "inputs": {"x": "${inputs.n}"}}
    flow = flow_of(
        {**node, "run_as": run_as}, output("${nodes.s.output}", ["s"]), inputs={"type": "object"}
    )
    run_id = room.start(flow, n=4)
    room.drive()
    assert room.outcome(run_id) == {"output": 5}
    assert set(room.tools.calls) == ({"s/t"} if run_as == "part" else {"t"})
    broken = room.run(flow, n="four")
    assert "must be integer" in broken["error"]["message"]


def test_named_sub_flows_are_pinned_when_a_run_starts(room: Room) -> None:
    def find(name: str) -> Flow:
        if name != "inner":
            raise NotFound(f"There is no flow {name!r}.")
        return load_flow(INNER)

    node = {"id": "s", "type": "subflow", "ref": "inner", "inputs": {"x": 1}}
    inside = {"id": "p", "type": "parallel", "branches": {"a": {"nodes": [node]}}}
    flow = flow_of(inside)
    assert "was not pinned" in room.run(flow)["error"]["message"]
    assert room.run(pinned(flow, find)) == {"output": {"a": 2}}
    with pytest.raises(Invalid) as raised:
        pinned(flow_of({**node, "ref": "other"}), find)
    assert raised.value.problems[0].pointer == "/nodes/0/ref"
    itself = load_flow({**INNER, "nodes": [{**node, "id": "again"}]})
    with pytest.raises(Invalid, match="would run itself"):
        pinned(itself, lambda _: itself)


def test_a_question_parks_until_somebody_gives_an_answer_that_fits(room: Room) -> None:
    form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    node = {"id": "q", "type": "question", "question": "How many ${inputs.what}?", "form": form}
    flow = flow_of(
        node, tool("side", value=1), output("${nodes.q.output.n}", ["q"]), inputs={"type": "object"}
    )
    run_id = room.start(flow, what="rows")
    room.drive()
    found = room.get(run_id)
    assert (found.status, found.reason) == ("blocked", "a question: q")
    assert (found.progress or {})["nodes"] == {"q": "pending", "side": "done", "out": "pending"}
    asked = next(e.data["request"] for e in room.entries(run_id) if e.kind == "wait.opened")
    assert (asked["kind"], asked["question"], asked["form"]) == ("question", "How many rows?", form)
    room.answer(run_id, "q", {"answer": {"n": "three"}, "by": "usr_x"})
    again = [e for e in room.entries(run_id) if e.kind == "wait.opened"][-1]
    assert (again.key, again.data["request"]["wrong"]) == (
        "q:again#2",
        "/n: must be integer, not string",
    )
    room.answer(run_id, "q:again#2", {"answer": {"n": 3}, "by": "usr_x"})
    assert room.outcome(run_id) == {"output": 3}
    assert room.tools.calls == {"side": 1}


def test_a_question_nobody_answers_takes_its_default_or_fails(
    room: Room, clock: MovableClock
) -> None:
    node = {"id": "q", "type": "question", "question": "?", "expires_in": "10m"}
    runs = [room.start(flow_of(node)), room.start(flow_of({**node, "expired": "default"}))]
    room.drive()
    clock.advance(seconds=601)
    room.drive()
    assert failure(room.outcome(runs[0])) == ("expired", "q")
    assert room.outcome(runs[1]) == {"output": None}


GATE = {"id": "gate", "type": "approval", "message": "Send it?", "payload": {"to": "${inputs.to}"}}


def test_an_approval_lets_the_exact_payload_through(room: Room) -> None:
    flow = flow_of(
        GATE,
        tool("send", "echo", ["gate.approved"], value="${nodes.gate.output.payload.to}"),
        inputs={"type": "object"},
    )
    run_id = room.start(flow, to="ann")
    room.drive()
    assert room.get(run_id).status == "waiting_for_approval"
    asked = next(e.data["request"] for e in room.entries(run_id) if e.kind == "wait.opened")
    assert asked["payload"] == {"to": "ann"}
    assert len(asked["body_hash"]) == 64
    room.answer(run_id, "gate", {"decision": "approve", "by": "usr_y", "payload": {"to": "bob"}})
    sent = next(e.data for e in room.entries(run_id) if e.key == "send")
    assert sent["result"] == "bob", "somebody changed it before approving"


@pytest.mark.parametrize("answer", [{"decision": "reject", "reason": "no"}, {"nonsense": 1}, None])
def test_a_refusal_fails_or_goes_its_own_way(
    room: Room, clock: MovableClock, answer: dict[str, Any] | None
) -> None:
    plain = flow_of(
        GATE, tool("send", "echo", ["gate.approved"], value=1), inputs={"type": "object"}
    )
    way = flow_of(
        GATE,
        tool("send", "echo", ["gate.approved"], value=1),
        tool("sorry", "echo", ["gate.rejected"], value="${nodes.gate.output.reason}"),
        output("${nodes.sorry.output}", ["sorry"]),
        inputs={"type": "object"},
    )
    runs = [room.start(plain, to="x"), room.start(way, to="x")]
    room.drive()
    if answer is None:
        clock.advance(seconds=3601)
        room.drive()
    else:
        for run_id in runs:
            room.answer(run_id, "gate", answer)
    assert failure(room.outcome(runs[0])) == ("rejected", "gate")
    reason = "nobody decided in time" if answer is None else answer.get("reason")
    assert room.outcome(runs[1]) == {"output": reason}
    assert set(room.tools.calls) == {"sorry"}


def test_waits_end_by_the_clock(room: Room, clock: MovableClock) -> None:
    flow = flow_of(
        {"id": "w", "type": "wait", "duration": "2h"},
        {"id": "u", "type": "wait", "until": "${inputs.at}", "needs": ["w"]},
        output("${nodes.u.output.until}", ["u"]),
        inputs={"type": "object"},
    )
    run_id = room.start(flow, at="2026-03-02T15:00:00+01:00")
    room.drive()
    clock.advance(seconds=2 * 3600 - 1)
    room.drive()
    assert "w" not in {e.key for e in room.entries(run_id) if e.kind == "wait.closed"}
    clock.advance(seconds=1)
    room.drive()
    assert room.get(run_id).reason == "until 2026-03-02 14:00 UTC"
    clock.advance(seconds=3 * 3600)
    room.drive()
    assert room.outcome(run_id) == {"output": "2026-03-02T14:00:00Z"}
    assert failure(room.run(flow_of({"id": "u", "type": "wait", "until": "soon"}))) == (
        "not-a-moment",
        "u",
    )


def test_code_goes_to_its_tool_untouched(room: Room) -> None:
    sql = "SELECT '${not an expression}' WHERE n > $n"
    node = {
        "id": "c",
        "type": "code",
        "language": "sql",
        "code": sql,
        "parameters": {"n": "${1 + 1}"},
    }
    assert room.run(flow_of(node))["output"] == {"sql": sql, "parameters": {"n": 2}}
    python = {"id": "c", "type": "code", "language": "python", "code": "x = 1"}
    assert room.run(flow_of(python))["output"] == {"code": "x = 1"}
    more = {**node, "parameters": {}, "limit": 3000}
    assert room.run(flow_of(more))["output"] == {"sql": sql, "limit": 3000}


def test_an_agent_needs_a_service(room: Room) -> None:
    node = {"id": "a", "type": "agent", "instructions": "Look at ${inputs.x}", "tools": ["query"]}
    flow = flow_of(node, inputs={"type": "object"})
    assert failure(room.run(flow, x=1)) == ("misconfigured", "a")

    async def agent(execution: Execution, key: str, asked: Any, labels: Any) -> Any:
        async def think() -> Any:
            return asked["instructions"].upper()

        return await execution.step(key, asked, think)

    room.agent = agent
    room.use(room.tools)
    assert room.run(flow, x=1) == {"output": "LOOK AT 1"}


def test_errors_continue_or_go_elsewhere(room: Room) -> None:
    on = flow_of(
        tool("a", "boom", on_error="continue"),
        output("${nodes.a.state}: ${nodes.a.output.error.code}", ["a"]),
    )
    assert room.run(on) == {"output": "failed: invalid"}
    elsewhere = flow_of(
        tool("a", "boom", on_error={"goto": "repair"}),
        tool("next", "echo", ["a"], value="next"),
        tool("repair", value="${nodes.a.output.error.message}"),
        {"id": "j", "type": "join", "needs": ["next", "repair"]},
        output("${nodes.j.output}", ["j"]),
    )
    assert room.run(elsewhere) == {"output": {"repair": "The tool boom refuses."}}
    fine = elsewhere.model_dump(mode="json")
    fine["nodes"][0] |= {"tool": "echo", "arguments": {"value": 1}}
    assert room.run(load_flow(fine)) == {"output": {"next": "next"}}
    assert failure(room.run(flow_of(tool("a", "boom"), tool("b", "echo", ["a"], value=1)))) == (
        "invalid",
        "a",
    )


def test_a_failure_stops_only_what_depends_on_it(room: Room) -> None:
    flow = flow_of(
        tool("a", "boom"),
        tool("after", "echo", ["a"], value=1),
        tool("b", value=1),
        tool("c", "echo", ["b"], value=2),
    )
    assert failure(room.run(flow)) == ("invalid", "a")
    assert set(room.tools.calls) == {"a", "b", "c"}


@pytest.mark.parametrize(("order", "first"), [("abc", "b"), ("acb", "c")])
def test_of_several_failures_the_first_one_in_the_document_counts(
    room: Room, order: str, first: str
) -> None:
    nodes = {"a": tool("a", value=1), "b": tool("b", "no"), "c": tool("c", "no", ["a"])}
    assert failure(room.run(flow_of(*(nodes[name] for name in order))))[1] == first


def test_rows_of_nodes_wait_for_one_another_where_they_cross(room: Room) -> None:
    first = [tool("a", value=1), tool("b", "echo", ["a", "d"], value="${nodes.d.output}")]
    second = [tool("c", value=3), tool("d", "echo", ["c"], value="${nodes.c.output}")]
    last = output("${nodes.b.output}", ["b"])
    assert room.run(flow_of(*first, *second, last)) == {"output": 3}


def test_retries_wait_longer_each_time_and_have_keys_of_their_own(
    room: Room, clock: MovableClock
) -> None:
    flow = flow_of(tool("a", "shaky", retries={"attempts": 3, "delay": "10s"}))
    room.tools.shaky = 2
    run_id = room.start(flow)
    room.drive()
    assert room.get(run_id).status == "blocked"
    for seconds in (10, 20):
        clock.advance(seconds=seconds - 1)
        room.drive()
        before = sum(room.tools.calls.values())
        clock.advance(seconds=1)
        room.drive()
        assert sum(room.tools.calls.values()) == before + 1
    assert room.outcome(run_id) == {"output": "at last"}
    assert room.tools.calls == {"a": 1, "a~2": 1, "a~3": 1}
    refused = flow_of(tool("a", "boom", retries={"attempts": 3}))
    assert failure(room.run(refused)) == ("invalid", "a")


def test_arguments_carry_the_labels_of_what_they_were_made_from(room: Room) -> None:
    body = {"nodes": [tool("t", value="${item}")]}
    flow = flow_of(
        tool("x", "read", arguments={"name": "x"}),
        tool("y", "read", arguments={"name": "y"}),
        tool("plain", value=1),
        tool(
            "both",
            "add",
            ["x", "y", "plain"],
            arguments={
                "values": ["${size(nodes.x.output.rows)}", "${size(nodes.y.output.rows)}"],
                "plus": "${nodes.plain.output}",
            },
        ),
        {"id": "m", "type": "map", "needs": ["x"], "over": "nodes.x.output.rows", "body": body},
        tool("last", "echo", ["m", "both"], value="${nodes.m.output} ${nodes.both.output.n}"),
    )
    assert "output" in room.run(flow)
    x, y = Marks(("dataset:x",), False), Marks(("dataset:y",), False)
    assert room.tools.labels["both"] == {"values": x.joined(y)}
    assert room.tools.labels["m[0]/t"] == {"value": x}
    assert room.tools.labels["last"] == {"value": x.joined(y)}
    assert room.tools.labels["plain"] == {}
    child = {"id": "s", "type": "subflow", "flow": INNER, "inputs": {"x": 1}, "run_as": "child"}
    assert "output" in room.run(flow_of(child, tool("z", "echo", ["s"], value="${nodes.s.output}")))
    assert room.tools.labels["z"] == {"value": Marks(("run",), False)}


def test_conditions_and_errors_carry_labels_too(room: Room) -> None:
    case = {"port": "some", "when": "size(nodes.x.output.rows) > 5"}
    failing = {
        "id": "m",
        "type": "map",
        "over": "[1]",
        "on_item_error": "continue",
        "body": {"nodes": [tool("inner", "boom")]},
    }
    flow = flow_of(
        tool("x", "read", arguments={"name": "x"}),
        {"id": "b", "type": "branch", "needs": ["x"], "cases": [case]},
        tool("way", "echo", ["b"], value="${nodes.b.output.port}"),
        tool("bad", "boom", on_error="continue"),
        tool("said", "echo", ["bad"], value="${nodes.bad.output.error.message}"),
        failing,
        tool("items", "echo", ["m"], value="${nodes.m.output}"),
    )
    assert "output" in room.run(flow)
    stranger = Marks(("run",), trusted=False)
    assert room.tools.labels["way"] == {"value": Marks(("dataset:x",), trusted=False)}
    assert room.tools.labels["said"] == {"value": stranger}
    assert room.tools.labels["items"] == {"value": stranger}


def test_named_outputs_make_an_object(room: Room) -> None:
    flow = flow_of(output(1, name="one"), output("${1 + 1}", name="two"))
    assert room.run(flow) == {"output": {"one": 1, "two": 2}}
