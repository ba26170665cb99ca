"""Says what is wrong with a flow before it runs: each problem with its place and what to do."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from steward.broker import Schema, schema_problem
from steward.core import Invalid, Problem, and_more
from steward.flows import _fitting as types
from steward.flows import _order as order
from steward.flows.expressions import (
    Expression,
    ExpressionError,
    Path,
    Text,
    expression,
    expressions_in,
)
from steward.flows.model import DEEPEST, Flow, load_flow
from steward.flows.node import NODES, Body, Goto, Graph, Node, Reads
from steward.flows.nodes.agent import AgentNode
from steward.flows.nodes.branch import BranchNode
from steward.flows.nodes.output import OutputNode
from steward.flows.nodes.subflow import SubflowNode
from steward.runs import Json, canonical


@dataclass(frozen=True)
class ToolSchema:
    """What validation knows of a tool."""

    arguments: Schema
    output: Schema | None = None


def validate(flow: Flow, tools: Mapping[str, ToolSchema] | None = None) -> list[Problem]:
    """Everything wrong with a flow, in the order of the document; without `tools`, tools are not looked at."""
    try:
        return list(_flow(flow, tools, "", 0, room=iter(range(MOST_EXPRESSIONS))))
    except _TooMany:
        said = f"a flow holds at most {MOST_EXPRESSIONS:,} expressions; split it into several"
        return [Problem("", said)]


def require_valid(flow: Flow, tools: Mapping[str, ToolSchema] | None = None) -> None:
    problems = validate(flow, tools)
    if problems:
        first = problems[0]
        raise Invalid(
            f"The flow {flow.id!r} is not valid: {first.pointer or '/'} {first.message}.{and_more(problems)}",
            problems=problems,
        )


def runnable(document: Json) -> Flow:
    """The flow of a run; Invalid where it is none. Thousands of runs of one document read and check it once."""
    return _runnable(canonical(document), tuple(NODES))


@lru_cache(maxsize=64)
def _runnable(document: str, _nodes: tuple[Any, ...]) -> Flow:
    flow = load_flow(json.loads(document))
    # A graph with a cycle would wait for itself for ever.
    require_valid(flow)
    return flow


@dataclass(frozen=True)
class _Around:
    """What can be seen at one place of the document."""

    tools: Mapping[str, ToolSchema] | None
    all_ids: frozenset[str]
    before: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset({"inputs", "run"})
    known: types.Known = field(default_factory=dict)
    depth: int = 0
    key: int = 0
    """How long the keys of nodes are before their ids."""
    room: Iterator[int] = field(default_factory=lambda: iter(()))
    """Has one for each expression that may still be looked at."""


class _TooMany(Exception):
    """More expressions than one request may have looked at."""


MOST_EXPRESSIONS: Final = 5_000
"""In a whole flow, with those inside it: some seconds."""

LONGEST_KEY: Final = 300
"""The journal's keys have at most 400 characters, and tools add to them."""


def _flow(
    flow: Flow,
    tools: Mapping[str, ToolSchema] | None,
    at: str,
    depth: int,
    key: int = 0,
    *,
    room: Iterator[int],
) -> Iterator[Problem]:
    broken = {
        name: said
        for name, schema in (("inputs", flow.inputs), ("outputs", flow.outputs))
        if schema is not None and (said := schema_problem(schema)) is not None
    }
    for name, said in broken.items():
        yield Problem(f"{at}/{name}", said)
    counted = Counter(_ids(flow))
    for pointer, name in _places(flow, at):
        if counted[name] > 1:
            yield Problem(f"{pointer}/id", f"the id {name!r} is used {counted[name]} times")
    known: types.Known = {} if broken else {("inputs",): flow.inputs}
    around = _Around(tools, frozenset(counted), known=known, depth=depth, key=key, room=room)
    yield from _graph(flow, around, at)


def _graph(graph: Graph, around: _Around, at: str) -> Iterator[Problem]:
    if around.depth > DEEPEST:
        yield Problem(at, f"graphs are nested more than {DEEPEST} deep")
        return
    has_output = any(isinstance(node, OutputNode) for node in graph.nodes)
    if isinstance(graph, Body) and len(graph.nodes) > 1 and not has_output:
        yield Problem(f"{at}/nodes", "a graph with several nodes needs an output node")
    yield from _outputs(graph, at)
    yield from _needs(graph, at)
    edges = order.edges_of(graph)
    sequence, cycle = order.ordered(edges)
    if cycle:
        index = next(i for i, node in enumerate(graph.nodes) if node.id == cycle[0])
        said = f"a cycle without a bound: {' → '.join(cycle)}; use a loop node"
        yield Problem(f"{at}/nodes/{index}/needs", said)
    yield from order.unreachable(graph, edges, sequence, at)
    above = order.ancestors(edges, sequence)
    outputs = {name: dict(tool.output or {}) for name, tool in (around.tools or {}).items()}
    known = dict(around.known)
    for node in graph.nodes:
        schema = node.output_schema(outputs)
        # After an error that does not end the flow, the output is the error.
        if schema and node.on_error == "fail":
            known["nodes", node.id, "output"] = schema
    for index, node in enumerate(graph.nodes):
        before = around.before | above.get(node.id, frozenset(around.all_ids))
        inside = replace(around, before=before, known=known)
        yield from _node(node, inside, f"{at}/nodes/{index}")


def _node(node: Node, around: _Around, at: str) -> Iterator[Problem]:
    for pointer, schema in node.schemas():
        said = schema_problem(schema)
        if said is not None:
            yield Problem(at + pointer, said)
    if isinstance(node, BranchNode):
        counted = Counter(node.ports())
        for index, case in enumerate(node.cases):
            if counted[case.port] > 1:
                yield Problem(f"{at}/cases/{index}/port", f"the port {case.port!r} is there twice")
    for pointer, reads, value in node.reads():
        yield from _expressions(value, reads, around, at + pointer)
    yield from _calls(node, around, at)
    if around.key + len(node.id) > LONGEST_KEY:
        yield Problem(f"{at}/id", "the ids on the way to this node are too long together")
    names, depth = around.names | frozenset(node.parts), around.depth + 1
    for pointer, body in node.bodies():
        # A branch's name, or an index, and what sets it apart.
        key = around.key + len(node.id) + max(8, len(pointer.rpartition("/")[2]) + 2)
        inner = replace(around, names=names, depth=depth, key=key)
        yield from _graph(body, inner, at + pointer)
    if isinstance(node, SubflowNode) and node.flow is not None:
        yield from types.fitting(node.inputs, node.flow.inputs, {}, f"{at}/inputs", around.known)
        key = around.key + len(node.id) + 1
        yield from _flow(node.flow, around.tools, f"{at}/flow", depth, key, room=around.room)


def _calls(node: Node, around: _Around, at: str) -> Iterator[Problem]:
    if around.tools is None:
        return
    if isinstance(node, AgentNode):
        for index, name in enumerate(node.tools):
            if name not in around.tools:
                yield Problem(f"{at}/tools/{index}", f"there is no tool {name!r}")
    call = node.tool_call()
    if call is None:
        return
    tool = around.tools.get(call.tool)
    if tool is None:
        yield Problem(at + call.tool_pointer, f"there is no tool {call.tool!r}")
        return
    pointers = {name: at + pointer for name, pointer in call.pointers.items()}
    yield from types.fitting(call.arguments, tool.arguments, pointers, at, around.known)


def _expressions(value: object, reads: Reads, around: _Around, at: str) -> Iterator[Problem]:
    names = around.names | frozenset(reads.names)
    if reads.bare:
        _count(around)
        try:
            yield from _references(expression(str(value)), names, around, at)
        except ExpressionError as problem:
            yield Problem(at, _said(problem))
        return
    for pointer, found in expressions_in(value):
        if isinstance(found, Text):
            for _, each in found.expressions:
                _count(around)
                yield from _references(each, names, around, at + pointer)
        else:
            yield Problem(at + pointer, _said(found))


def _count(around: _Around) -> None:
    if next(around.room, None) is None:
        raise _TooMany


def _references(
    parsed: Expression, names: frozenset[str], around: _Around, at: str
) -> Iterator[Problem]:
    wrong = False
    for path in parsed.paths:
        said = _unknown(path, names, around)
        if said is not None:
            wrong = True
            yield Problem(at, f"{said} (“{path}”, at character {path.column})")
    if wrong:
        return
    try:
        parsed.type(types.reading(around.known))
    except ExpressionError as problem:
        yield Problem(at, _said(problem))


def _unknown(path: Path, names: frozenset[str], around: _Around) -> str | None:
    if path.root == "nodes":
        node = path.names[1]
        if node not in around.all_ids:
            return f"there is no node {node!r}"
        if node not in around.before:
            return f"the node {node!r} cannot have run before; add it to `needs`"
    elif path.root not in names:
        return f"there is no {path.root!r} here"
    if types.declared(path, around.known) is None:
        return "there is no such field"
    return None


def _said(problem: ExpressionError) -> str:
    where = f" at character {problem.column}" if problem.column else ""
    return f"the expression does not work: {problem.reason}{where}"


def _outputs(graph: Graph, at: str) -> Iterator[Problem]:
    named = Counter(node.name for node in graph.nodes if isinstance(node, OutputNode))
    for index, node in enumerate(graph.nodes):
        if isinstance(node, OutputNode) and node.name is None and len(named) > 1:
            yield Problem(f"{at}/nodes/{index}", "this output needs a name, as the others have one")


def _needs(graph: Graph, at: str) -> Iterator[Problem]:
    by_id = {node.id: node for node in graph.nodes}
    for index, node in enumerate(graph.nodes):
        for position, need in enumerate(node.needs):
            name, _, port = need.partition(".")
            where = f"{at}/nodes/{index}/needs/{position}"
            if name not in by_id:
                yield Problem(where, f"there is no node {name!r} in this graph")
            elif port and port not in by_id[name].ports():
                known = ", ".join(by_id[name].ports()) or "none"
                yield Problem(where, f"{name!r} has no port {port!r}; there are {known}")
        if isinstance(node.on_error, Goto) and node.on_error.goto not in by_id:
            said = f"there is no node {node.on_error.goto!r} in this graph"
            yield Problem(f"{at}/nodes/{index}/on_error/goto", said)


def _places(graph: Graph, at: str) -> Iterator[tuple[str, str]]:
    for index, node in enumerate(graph.nodes):
        here = f"{at}/nodes/{index}"
        yield here, node.id
        for pointer, body in node.bodies():
            yield from _places(body, here + pointer)


def _ids(graph: Graph) -> Iterator[str]:
    return (name for _, name in _places(graph, ""))
