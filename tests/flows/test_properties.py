"""Random flows: the interpreter gives what simple evaluation gives, and a crash anywhere changes nothing."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from steward.broker.schemas import problems_of
from steward.core import MovableClock
from steward.flows import diff, dump_flow, dump_yaml, flow_schema, load_flow, load_yaml, validate
from steward.flows.interpret import flow_program
from steward.runs import StepFailed
from steward.runs.entries import Entry
from steward.runs.worker import LEASE
from tests.flows.graphs import ANSWER, Failed, Simple, flows
from tests.flows.kit import SCOPE, Crash, Room, Tools, flow_of, on_paper, output, tool

SCHEMA = flow_schema()
MANY_FILTERED = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


class Everybody(dict[str, Any]):
    """Answers every question."""

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: str) -> Any:
        return {"answer": ANSWER}


def driven(document: Any, entries: list[Entry], tools: Tools) -> tuple[Any, list[Entry]]:
    clock = MovableClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    program = flow_program(tools.call)
    kept: list[Entry] = []

    async def ends(execution: Any) -> Any:
        try:
            return await program(execution)
        except StepFailed as failure:
            return Failed(failure.key).args

    result, kept = on_paper(ends, document, {"k": 7}, entries, clock, Everybody())
    return result, kept


def simply(document: dict[str, Any]) -> tuple[Any, Counter[str]]:
    simple = Simple({"k": 7})
    try:
        result: Any = simple.graph(document["nodes"], {}, "")
    except Failed as failure:
        result = failure.args
    return result, Counter(simple.calls)


@MANY_FILTERED
@given(flows())
def test_flows_give_what_simple_evaluation_gives(document: dict[str, Any]) -> None:
    assume(not validate(load_flow(document)))
    tools = Tools()
    result, _ = driven(document, [], tools)
    expected, calls = simply(document)
    assert result == expected
    assert tools.calls == calls


@settings(MANY_FILTERED, max_examples=25)
@given(flows())
def test_a_crash_after_any_entry_changes_nothing(document: dict[str, Any]) -> None:
    assume(not validate(load_flow(document)))
    tools = Tools()
    result, entries = driven(document, [], tools)
    whole = Counter(tools.calls)
    assert set(whole.values()) <= {1}
    for cut in range(len(entries)):
        again = Tools()
        resumed, kept = driven(document, entries[:cut], again)
        done_before = Counter(
            e.key for e in entries[:cut] if e.kind == "step.outcome" and e.key in whole
        )
        assert resumed == result
        assert done_before + again.calls == whole, "each call is made once, before or after"
        assert Counter(e.key for e in kept) == Counter(e.key for e in entries)


@settings(max_examples=30)
@given(flows())
def test_documents_survive_yaml_and_fulfil_the_schema(document: dict[str, Any]) -> None:
    flow = load_flow(document)
    assert load_yaml(dump_yaml(flow)) == flow
    assert dump_yaml(load_yaml(dump_yaml(flow))) == dump_yaml(flow)
    assert load_flow(dump_flow(flow)) == flow
    assert problems_of(SCHEMA, dump_flow(flow)) == []
    assert diff(flow, load_yaml(dump_yaml(flow))) == []


FLOW = flow_of(
    tool("a", value=2),
    {
        "id": "m",
        "type": "map",
        "needs": ["a"],
        "over": "[1, 2, 3]",
        "concurrency": 2,
        "body": {
            "nodes": [tool("t", "add", arguments={"values": ["${item}", "${nodes.a.output}"]})]
        },
    },
    {"id": "gate", "type": "approval", "message": "Go on?", "needs": ["a"]},
    tool("b", "echo", ["gate.approved", "m"], value="${nodes.m.output.map(x, x.n)}"),
    output("${nodes.b.output}", ["b"]),
)


@pytest.mark.parametrize("point", ["before", "done", "recorded"])
@pytest.mark.parametrize("count", range(1, 6))
def test_a_real_run_survives_a_crash_at_any_call(
    room: Room, clock: MovableClock, point: str, count: int
) -> None:
    """The worker dies, and another one, which knows nothing but the journal, goes on once the lease is over."""
    run_id = room.start(FLOW)
    room.tools.crash_at = (point, count)
    first = room.tools
    deaths = 0
    for _ in range(5):
        try:
            room.drive()
        except Crash:
            deaths += 1
            room.use(Tools())
            clock.advance(seconds=LEASE.total_seconds() + 1)
            continue
        if room.get(run_id).status == "waiting_for_approval":
            room.runs.records.signal(SCOPE, run_id, "gate", {"decision": "approve"})
    assert deaths == 1
    assert room.outcome(run_id) == {"output": [3, 4, 5]}
    recorded = Counter(e.key for e in room.entries(run_id) if e.kind == "step.outcome")
    assert recorded == {"a": 1, "m[0]/t": 1, "m[1]/t": 1, "m[2]/t": 1, "gate:asked": 1, "b": 1}
    made = first.calls + room.tools.calls
    # A step that was done and not recorded is done again; nothing else is.
    assert set(made) == set(recorded) - {"gate:asked"}
    assert sum(made.values()) == 5 + (point == "done")
    assert room.runs.verify(SCOPE, run_id).is_intact
