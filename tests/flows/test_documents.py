"""The YAML form, the JSON Schema, what differs between versions, and the example of the guide."""

import re

import pytest

from steward.broker.schemas import problems_of, schema_problem
from steward.core.errors import Invalid, TooLarge
from steward.flows import NODES, diff, dump_yaml, flow_schema, load_yaml
from tests.flows.kit import flow_of, output, tool

SMALL = "format: 1\nid: small\nnodes:\n- id: a\n  type: output\n  value: {}\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x [1]\nb: *x", "anchors"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: 'a' is there twice"),
        ("a: [", "line 1"),
        ("a: !!python/object:os.system x", "tags"),
        ("? [1]\n: 2", "a key is a text"),
        ("a: 1.0e999", "finite"),
        ("[" * 3000, "nested more than 100 deep"),
        ("a: \x01", "cannot be read"),
        ("- 1", "is not a flow"),
        ("", "is not a flow"),
    ],
)
def test_yaml_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Invalid, match=re.escape(reason)):
        load_yaml(text)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("2026-03-02", "2026-03-02"),
        ("1:30", "1:30"),
        ("1.5e3", 1500.0),
        ("'1.5e3'", "1.5e3"),
        ("True", True),
        ("0x10", "0x10"),
        ("1e3", "1e3"),
        ("010", "010"),
        ("null", None),
        ("true", True),
        ("-3", -3),
        ("2.5", 2.5),
        ("1.0e+20", 1e20),
        ("'true'", "true"),
        ("|\n    two\n    lines", "two\nlines\n"),
    ],
)
def test_yaml_values_are_what_json_says(written: str, value: object) -> None:
    flow = load_yaml(SMALL.format(written))
    assert flow.nodes[0].model_dump()["value"] == value
    assert load_yaml(dump_yaml(flow)) == flow


def test_a_huge_document_is_refused() -> None:
    with pytest.raises(TooLarge):
        load_yaml(SMALL.format("x" * 1_000_001))


def test_the_order_is_stable_and_defaults_are_left_out() -> None:
    flow = flow_of(tool("a", value=1), output(1, ["a"]), name="N", layout={"a": {"x": 1}})
    lines = dump_yaml(flow).splitlines()
    assert lines[:5] == ["format: 1", "id: test", "name: N", "nodes:", "- id: a"]
    assert "start" not in dump_yaml(flow)
    assert lines[-3:] == ["layout:", "  a:", "    x: 1"]


def test_the_json_schema_knows_every_node_type() -> None:
    schema = flow_schema()
    assert schema_problem(schema) is None
    assert {name for name, _ in NODES} == {
        *("agent", "approval", "branch", "code", "join", "loop", "map", "output", "parallel"),
        *("question", "subflow", "tool", "wait"),
    }
    for name, _ in NODES:
        assert f"'const': '{name}'" in str(schema)
    wrong = {"format": 1, "id": "a", "nodes": [{"id": "x", "type": "nope"}]}
    assert problems_of(schema, wrong)


def test_versions_are_compared_in_words() -> None:
    before = flow_of(
        tool("a", value=1),
        tool("gone", value=1),
        {"id": "m", "type": "map", "over": "[1]", "body": {"nodes": [tool("t", value=1)]}},
        name="Old",
        layout={"a": 1},
    )
    after = flow_of(
        {"id": "m", "type": "map", "over": "[2]", "body": {"nodes": [tool("t", value=2)]}},
        tool("a", "echo", ["m"], value="x" * 200),
        tool("new", value=1),
        layout={"a": 2},
    )
    lines = diff(before, after)
    assert lines[0] == 'name: removed "Old"'
    assert lines[1:5] == [
        "node gone (tool): removed",
        'node m: over: "[1]" → "[2]"',
        "node m: body: node t: arguments value: 1 → 2",
        f'node a: arguments value: 1 → "{"x" * 78}…',
    ]
    assert lines[5:] == [
        'node a: needs: added ["m"]',
        "node new (tool): added",
        "nodes: in another order",
    ]
    assert diff(before, before.model_copy(update={"layout": {}})) == []
