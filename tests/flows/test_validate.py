"""Every problem validation knows, each with its place; and flows that have none."""

from typing import Any

import pytest

from steward.core.errors import Invalid, Problem
from steward.flows import ToolSchema, load_flow, validate
from steward.flows.validate import require_valid
from tests.flows.kit import flow_of, output, tool

QUERY = ToolSchema(
    {
        "type": "object",
        "properties": {
            "sql": {"type": "string"},
            "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
            "mode": {"$ref": "#/$defs/Mode"},
            "options": {
                "type": "object",
                "properties": {"names": {"type": "array", "items": {"type": "string"}}},
                "additionalProperties": False,
            },
            "parameters": {"type": "object"},
        },
        "required": ["sql"],
        "additionalProperties": False,
        "$defs": {"Mode": {"enum": ["fast", "exact"], "type": "string"}},
    },
    {
        "type": "object",
        "properties": {"rows": {"type": "array"}, "count": {"type": "integer"}},
        "additionalProperties": False,
    },
)
ECHO = ToolSchema({"type": "object", "properties": {"value": {}}})
TOOLS = {"query": QUERY, "echo": ECHO}


def found(*nodes: dict[str, Any], **fields: Any) -> list[tuple[str, str]]:
    problems = validate(flow_of(*nodes, **fields), TOOLS)
    return [(problem.pointer, problem.message) for problem in problems]


def one(*nodes: dict[str, Any], **fields: Any) -> tuple[str, str]:
    problems = found(*nodes, **fields)
    assert len(problems) == 1, problems
    return problems[0]


def query(name: str = "q", **arguments: Any) -> dict[str, Any]:
    return tool(name, "query", arguments={"sql": "SELECT 1", **arguments})


@pytest.mark.parametrize(
    ("document", "pointer", "message"),
    [
        ({"id": "x", "type": "nope"}, "/nodes/0/type", "no node type 'nope'"),
        ({"id": "x"}, "/nodes/0/type", "is missing"),
        ({"id": "X", "type": "join"}, "/nodes/0/id", "small letters"),
        ({"id": "in", "type": "join"}, "/nodes/0/id", "expression language"),
        ({"id": "x", "type": "tool"}, "/nodes/0/tool", "is missing"),
        ({"id": "x", "type": "join", "extra": 1}, "/nodes/0/extra", "is not known here"),
        ({"id": "x", "type": "join", "needs": ["a b"]}, "/nodes/0/needs/0", "match pattern"),
        ({"id": "x", "type": "wait"}, "/nodes/0", "either"),
        ({"id": "x", "type": "wait", "duration": "1 hour"}, "/nodes/0/duration", "90s"),
        ({"id": "x", "type": "subflow"}, "/nodes/0", "named by `ref`"),
        (
            {"id": "x", "type": "loop", "until": "true", "body": {"nodes": []}},
            "/nodes/0/at_most",
            "is missing",
        ),
        (
            {
                "id": "x",
                "type": "map",
                "over": "a",
                "body": {"nodes": [{"id": "y", "type": "map", "over": "a", "body": {}}]},
            },
            "/nodes/0/body/nodes/0/body/nodes",
            "is missing",
        ),
    ],
)
def test_what_is_no_flow_is_refused_with_places(
    document: dict[str, Any], pointer: str, message: str
) -> None:
    with pytest.raises(Invalid) as raised:
        flow_of(document)
    problem = next(each for each in raised.value.problems if each.pointer == pointer)
    assert message in problem.message


def test_the_version_of_the_format_is_checked() -> None:
    for wrong in ({"format": 2}, {"format": None}, {}):
        with pytest.raises(Invalid) as raised:
            load_flow({"id": "a", "nodes": [{"id": "x", "type": "join"}], **wrong})
        assert raised.value.problems[0].pointer == "/format"
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(Invalid, match="too deeply"):
        load_flow({"format": 1, "id": "a", "nodes": deep})


def test_ids_are_used_once_bodies_included() -> None:
    body = {"nodes": [tool("a", value=1)]}
    problems = found(tool("a", value=1), {"id": "m", "type": "map", "over": "[1]", "body": body})
    assert problems == [
        ("/nodes/0/id", "the id 'a' is used 2 times"),
        ("/nodes/1/body/nodes/0/id", "the id 'a' is used 2 times"),
    ]


def test_needs_name_nodes_and_ports_that_exist() -> None:
    branch = {"id": "b", "type": "branch", "cases": [{"port": "yes", "when": "true"}]}
    assert one(tool("a", "echo", ["nope"], value=1)) == (
        "/nodes/0/needs/0",
        "there is no node 'nope' in this graph",
    )
    assert one(branch, tool("a", "echo", ["b.no"], value=1)) == (
        "/nodes/1/needs/0",
        "'b' has no port 'no'; there are yes, else",
    )
    assert one(tool("a", value=1, on_error={"goto": "nope"}))[0] == "/nodes/0/on_error/goto"
    twice = {**branch, "cases": [{"port": "yes", "when": "true"}] * 2}
    said = "the port 'yes' is there twice"
    assert found(twice) == [(f"/nodes/0/cases/{index}/port", said) for index in range(2)]


def test_a_cycle_needs_a_bound() -> None:
    pointer, message = one(
        tool("a", "echo", ["c"], value=1),
        tool("b", "echo", ["a"], value=1),
        tool("c", "echo", ["b"], value=1),
        tool("d", "echo", ["c"], value=1),
    )
    assert pointer == "/nodes/0/needs"
    assert message == "a cycle without a bound: a → b → c → a; use a loop node"
    assert "a → a" in one(tool("a", "echo", ["a"], value=1))[1]
    jump = found(tool("a", value=1), tool("b", "echo", ["a"], value=1, on_error={"goto": "a"}))
    assert "a cycle without a bound" in jump[0][1]


def test_what_can_never_be_reached() -> None:
    branch = {"id": "b", "type": "branch", "cases": [{"port": "yes", "when": "true"}]}
    left, right = tool("l", "echo", ["b.yes"], value=1), tool("r", "echo", ["b.else"], value=1)
    both = tool("both", "echo", ["l", "r"], value=1)
    after = tool("after", "echo", ["both"], value=1)
    assert found(branch, left, right, both, after) == [
        ("/nodes/3/needs", "can never be reached: it needs two ways out of 'b' at once"),
        ("/nodes/4/needs", "can never be reached: nor can what it needs"),
    ]
    assert found(branch, left, right, {**both, "start": "any"}, after) == []
    assert found(branch, left, right, {"id": "j", "type": "join", "needs": ["l", "r"]}) == []
    jumping = tool("a", value=1, on_error={"goto": "repair"})
    normal = tool("n", "echo", ["a"], value=1)
    assert found(jumping, tool("repair", value=1), normal) == []
    stuck = tool("s", "echo", ["n", "repair"], value=1)
    assert "two ways out of 'a'" in one(jumping, tool("repair", value=1), normal, stuck)[1]


def test_references_are_to_what_has_run_before() -> None:
    a, b = tool("a", value=1), tool("b", "echo", value="${nodes.a.output}")
    assert one(a, b) == (
        "/nodes/1/arguments/value",
        "the node 'a' cannot have run before; add it to `needs` (“nodes.a.output”, at character 1)",
    )
    assert found(a, {**b, "needs": ["a"]}) == []
    assert found(a, tool("m", "echo", ["a"], value=1), {**b, "needs": ["m"]}) == []
    assert "there is no node 'zz'" in one(tool("b", value="x${nodes.zz.output}"))[1]
    inner = {"nodes": [tool("i", value="${nodes.a.output}${item}")]}
    mapped = {"id": "m", "type": "map", "over": "[1]", "body": inner}
    assert one(a, mapped)[0] == "/nodes/1/body/nodes/0/arguments/value"
    assert found(a, {**mapped, "needs": ["a"]}) == []
    outside = tool("o", "echo", ["m"], value="${nodes.i.output}")
    assert "cannot have run before" in one(a, {**mapped, "needs": ["a"]}, outside)[1]


def test_names_exist_where_they_are_used() -> None:
    assert "there is no 'item' here" in one(tool("a", value="${item}"))[1]
    assert "there is no 'last' here" in one(tool("a", value="${last}"))[1]
    loop = {"id": "l", "type": "loop", "until": "last > index", "at_most": 2}
    assert found({**loop, "body": {"nodes": [tool("t", value="${last}${index}")]}}) == []
    wrong = {**loop, "until": "item", "body": {"nodes": [tool("t", value=1)]}}
    assert one(wrong)[0] == "/nodes/0/until"


def test_expressions_say_where_they_are_wrong() -> None:
    assert one(tool("a", value={"x": ["${1 +}"]})) == (
        "/nodes/0/arguments/value/x/0",
        "the expression does not work: it ends too early at character 4",
    )
    branch = {"id": "b", "type": "branch", "cases": [{"port": "p", "when": "nope(1)"}]}
    assert one(branch)[0] == "/nodes/0/cases/0/when"
    assert "there is no function 'nope'" in one(branch)[1]
    assert "missing at its end" in one(output("${inputs"))[1]


def test_tools_exist() -> None:
    assert one(tool("a", "nope")) == ("/nodes/0/tool", "there is no tool 'nope'")
    assert one({"id": "c", "type": "code", "language": "python", "code": "1"}) == (
        "/nodes/0/language",
        "there is no tool 'execute_python'",
    )
    agent = {"id": "a", "type": "agent", "instructions": "x", "tools": ["query", "nope"]}
    assert one(agent) == ("/nodes/0/tools/1", "there is no tool 'nope'")
    assert validate(flow_of(tool("a", "nope"))) == [], "not looked at without a catalogue"


def test_arguments_fit_the_tool() -> None:
    assert found(query(limit=3, mode="fast", options={"names": ["a", "${'b'}"]})) == []
    assert one(tool("a", "query")) == ("/nodes/0", "the argument 'sql' is missing")
    assert one(query(nope=1))[0] == "/nodes/0/arguments/nope"
    assert one(query(limit=0))[0] == "/nodes/0/arguments/limit"
    assert "'fast', 'exact'" in one(query(mode="slow"))[1]
    assert one(query(options={"names": ["a", 1]})) == (
        "/nodes/0/arguments/options/names/1",
        "must be string, not integer",
    )
    assert one(query(options={"nope": "${1}"}))[0] == "/nodes/0/arguments/options/nope"
    assert one(query(limit=["${1}"]))[1] == "must be integer or null, not array"
    assert one(query(limit={"a": "${1}"}))[1] == "must be integer or null, not object"
    code = {"id": "c", "type": "code", "language": "sql", "code": "SELECT '${x}'"}
    assert found(code) == []


def test_expressions_fit_by_declared_types() -> None:
    inputs = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "s": {"type": "string"}, "any": {}},
    }
    assert found(query(limit="${inputs.n}"), inputs=inputs) == []
    assert found(query(limit="${inputs.any}"), inputs=inputs) == []
    assert found(query(limit="${inputs.n + 1}"), inputs=inputs) == []
    assert "gives string" in one(query(limit="${inputs.s + 'x'}"), inputs=inputs)[1]
    assert one(query(limit="${1 + (inputs.n + inputs.s)}"), inputs=inputs) == (
        "/nodes/0/arguments/limit",
        "the expression does not work: number and text do not go together here at character 6",
    )
    assert one(query(limit="${inputs.s}"), inputs=inputs) == (
        "/nodes/0/arguments/limit",
        "must be integer or null; the expression gives string",
    )
    assert "gives string" in one(query(limit="${inputs.n}%"), inputs=inputs)[1]
    first, second = query("one"), query("two", limit="${nodes.one.output.rows}")
    assert "the expression gives array" in one(first, {**second, "needs": ["one"]})[1]
    fine = query("two", limit="${nodes.one.output.count}")
    assert found(first, {**fine, "needs": ["one"]}) == []
    # After an error the output is something else.
    careful = {**first, "on_error": "continue"}
    assert found(careful, {**second, "needs": ["one"]}) == []


def test_fields_exist_where_they_are_declared() -> None:
    inputs = {"type": "object", "properties": {"limit": {"type": "integer"}}}
    assert "there is no such field" in one(tool("a", value="${inputs.limt}"), inputs=inputs)[1]
    assert "no such field" in one(query(), tool("b", "echo", ["q"], value="${nodes.q.output.x}"))[1]
    assert found(tool("a", value="${inputs.whatever}"), inputs={"type": "object"}) == []


def test_schemas_are_schemas() -> None:
    assert one(tool("a", value=1), inputs={"type": "nope"})[0] == "/inputs"
    assert one(tool("a", value=1), outputs={"properties": 1})[0] == "/outputs"
    form = {"id": "q", "type": "question", "question": "?", "form": {"type": 3}}
    assert one(form)[0] == "/nodes/0/form"
    remote = {**form, "form": {"$ref": "https://example.com/schema.json"}}
    assert "within the schema" in one(remote)[1]
    slow = {**form, "form": {"type": "string", "pattern": "(?=a)"}}
    assert "not a regular expression" in one(slow)[1]
    agent = {"id": "a", "type": "agent", "instructions": "x", "output": {"type": 1}}
    assert one(agent)[0] == "/nodes/0/output"


def test_outputs_are_clear() -> None:
    assert one(output(1), output(2, name="b"))[0] == "/nodes/0"
    assert found(output(1, name="a"), output(2, name="b")) == []
    body = {"nodes": [tool("a", value=1), tool("b", value=1)]}
    assert one({"id": "m", "type": "map", "over": "[1]", "body": body}) == (
        "/nodes/0/body/nodes",
        "a graph with several nodes needs an output node",
    )


def test_sub_flows_are_looked_into() -> None:
    inner = {
        "format": 1,
        "id": "inner",
        "inputs": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "nodes": [tool("a", value="${nodes.top.output}")],
    }
    sub = {"id": "s", "type": "subflow", "needs": ["top"], "flow": inner, "inputs": {"x": "y"}}
    assert found(tool("top", value=1), sub) == [
        ("/nodes/1/inputs/x", "must be integer, not string"),
        (
            "/nodes/1/flow/nodes/0/arguments/value",
            "there is no node 'top' (“nodes.top.output”, at character 1)",
        ),
    ]
    assert "the argument 'x' is missing" in found(tool("top", value=1), {**sub, "inputs": {}})[0][1]


def test_graphs_are_not_nested_without_end() -> None:
    node: dict[str, Any] = tool("a", value=1)
    for depth in range(8):
        node = {"id": f"m{depth}", "type": "map", "over": "[1]", "body": {"nodes": [node]}}
    assert "nested more than 6 deep" in one(node)[1]


def test_keys_fit_the_journal() -> None:
    node: dict[str, Any] = tool("a" * 40, value=1)
    for depth in range(4):
        branches = {"b" * 40: {"nodes": [node]}}
        node = {"id": f"p{depth}".ljust(40, "p"), "type": "parallel", "branches": branches}
    pointer, message = one(node)
    assert pointer.endswith("/nodes/0/id")
    assert "too long together" in message


def test_requiring_a_valid_flow_names_the_first_problem() -> None:
    flow = flow_of(tool("a", "nope"), tool("b", "nope"))
    with pytest.raises(Invalid, match="There is 1 more problem") as raised:
        require_valid(flow, TOOLS)
    assert raised.value.problems[0] == Problem("/nodes/0/tool", "there is no tool 'nope'")
    require_valid(flow)


def test_a_flow_of_very_many_expressions_is_not_read_to_its_end() -> None:
    """Each takes a moment to parse: a document of 2 MB held up a server for minutes."""
    many = "".join(f"${{ {number} }}" for number in range(300_000))
    ((pointer, said),) = found(tool("a", "echo", value=many))
    assert pointer == "/nodes/0/arguments/value"
    assert "at most 200" in said
    texts = [f"${{ {number} }}" for number in range(6_000)]
    assert [each[1] for each in found(tool("a", "echo", value=texts))] == [
        "a flow holds at most 5,000 expressions; split it into several"
    ]
