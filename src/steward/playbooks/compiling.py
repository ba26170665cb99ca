"""Makes a playbook into the flow that runs: steps in a row or a graph, with its inputs and what it must leave behind."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from steward.broker import PRESETS, faults, problems_of, schema_problem, with_defaults
from steward.core import Invalid, Problem
from steward.flows import (
    NODES,
    Flow,
    ToolSchema,
    expressions_in,
    load_flow,
    tools_in,
    validate,
)
from steward.playbooks.model import DataNeed, Playbook
from steward.playbooks.standing_in import standing_in
from steward.playbooks.trigger import EVENT, EVENTS, MOMENT

_OUTPUT: Final = "result"
_GRAPH: Final = frozenset({"nodes", "outputs", "layout"})
TELLING: Final = {
    "tool": "tool",
    "question": "question",
    "message": "approval",
    "instructions": "agent",
    "language": "code",
}
"""A step whose type is left out is told by one of its fields."""


def compiled(playbook: Playbook) -> Flow:
    """The flow; Invalid with pointers into the playbook where it is not one."""
    wrong = schema_problem(playbook.inputs)
    if wrong is None and playbook.inputs.get("type") != "object":
        wrong = "the inputs are an object: write type: object"
    if wrong is not None:
        raise Invalid(
            f"The inputs are not a schema: {wrong}.", problems=[Problem("/inputs", wrong)]
        )
    graph = (
        _from_steps(playbook)
        if playbook.graph is None
        else _from_graph(playbook.graph, playbook.data)
    )
    document = {
        "format": 1,
        "id": playbook.id.replace("-", "_")[:40].rstrip("_"),
        "name": playbook.title,
        "description": playbook.goal[:5_000],
        "inputs": _with_start(playbook),
        "artifacts": [
            {"path": each.path, "required": each.required, "max_bytes": each.max_bytes}
            for each in playbook.artifacts
        ],
        **graph,
    }
    try:
        return load_flow(document)
    except Invalid as problem:
        places = [Problem(place(playbook, p.pointer), p.message) for p in problem.problems]
        raise Invalid(problem.message, problems=places) from None


def problems(playbook: Playbook, tools: Mapping[str, ToolSchema] | None) -> Iterator[Problem]:
    """What is wrong with a playbook whose form is right; without `tools`, tools are not looked at."""
    try:
        flow = compiled(playbook)
    except Invalid as problem:
        yield from problem.problems
        return
    for found in validate(flow, tools):
        yield Problem(place(playbook, found.pointer), found.message)
    yield from _tools(playbook, flow, tools)
    yield from _triggers(playbook, flow)
    if playbook.approval is not None and playbook.approval.cedar is not None:
        for fault in faults(playbook.approval.cedar):
            said = f"line {fault.line}, column {fault.column} of the policy: {fault.message}"
            yield Problem("/approval/cedar", said)


def _tools(
    playbook: Playbook, flow: Flow, known: Mapping[str, ToolSchema] | None
) -> Iterator[Problem]:
    if playbook.tools is None:
        return
    for index, name in enumerate(playbook.tools):
        if known is not None and name not in known:
            yield Problem(f"/tools/{index}", f"there is no tool {name!r}")
    for name in sorted(set(tools_in(flow)) - set(playbook.tools)):
        yield Problem("/tools", f"the steps call {name!r}, which is not among its tools")


def _triggers(playbook: Playbook, flow: Flow) -> Iterator[Problem]:
    for index, trigger in enumerate(playbook.triggers):
        if trigger.type == "manual":
            continue
        given = with_defaults(flow.inputs, {**trigger.inputs, MOMENT: ""})
        later = {name for name, value in trigger.inputs.items() if any(expressions_in(value))}
        for found in problems_of(flow.inputs, given):
            # What is taken from an event is looked at when there is one.
            if found.pointer.split("/")[1:2] not in [[name] for name in later]:
                yield Problem(f"/triggers/{index}/inputs{found.pointer}", found.message)


def policy_text(playbook: Playbook) -> str | None:
    """The policy of the playbook itself, beside those of the project and the organisation."""
    if playbook.approval is None:
        return None
    if playbook.approval.preset is not None:
        return PRESETS[playbook.approval.preset]
    return playbook.approval.cedar


def place(playbook: Playbook, pointer: str) -> str:
    """Where something of the flow stands in the playbook."""
    if playbook.graph is not None:
        return f"/graph{pointer}" if pointer.split("/")[1:2] != ["inputs"] else pointer
    parts = pointer.split("/")
    if parts[1:2] != ["nodes"]:
        return pointer
    if len(parts) > 2 and playbook.steps is not None and int(parts[2]) >= len(playbook.steps):
        return "/output"
    return "/".join(["", "steps", *parts[2:]])


def _from_graph(graph: Mapping[str, Any], data: Sequence[DataNeed]) -> dict[str, Any]:
    unknown = sorted(graph.keys() - _GRAPH)
    if unknown:
        known = ", ".join(sorted(_GRAPH))
        found = [
            Problem(f"/graph/{name}", f"is not known here; a graph has {known}") for name in unknown
        ]
        raise Invalid("The graph has fields of a playbook or none at all.", problems=found)
    nodes = graph.get("nodes")
    if not isinstance(nodes, list) or not all(isinstance(node, Mapping) for node in nodes):
        return dict(graph)
    return {**graph, "nodes": [standing_in(node, data) for node in nodes]}


def _from_steps(playbook: Playbook) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    before: str | None = None
    for index, step in enumerate(playbook.steps or ()):
        told = next((kind for word, kind in TELLING.items() if word in step), None)
        kind = step.get("type", told)
        if kind is None:
            known = ", ".join(name for name, _ in NODES)
            said = f"what kind of step is this? Say its type: {known}"
            raise Invalid("A step has no type.", problems=[Problem(f"/steps/{index}/type", said)])
        node = {"id": f"step_{index + 1}", **standing_in(step, playbook.data), "type": kind}
        if before is not None:
            node.setdefault("needs", [before])
        nodes.append(node)
        before = str(node["id"])
    if any(node["id"] == _OUTPUT for node in nodes):
        if playbook.output is not None:
            said = f"the step {_OUTPUT!r} says what the output is; remove one of the two"
            raise Invalid("The output is given twice.", problems=[Problem("/output", said)])
        return {"nodes": nodes}
    value = playbook.output if playbook.output is not None else f"${{nodes.{before}.output}}"
    nodes.append({"id": _OUTPUT, "type": "output", "needs": [before], "value": value})
    return {"nodes": nodes}


def _with_start(playbook: Playbook) -> dict[str, Any]:
    """The inputs with what triggers add: the moment of a schedule, an event. Nobody has to declare these."""
    inputs = playbook.inputs
    added: dict[str, Any] = {}
    if inputs.get("additionalProperties", True) is False:
        said = "The moment of the schedule that started it."
        added[MOMENT] = {"type": "string", "description": said}
    for trigger in playbook.triggers:
        if not trigger.is_subscribed or trigger.trusted:
            continue
        if trigger.delivery.batch is None:
            added[EVENT] = {"type": "object", "description": "The event that started it."}
        else:
            events = {"type": "array", "items": {"type": "object"}}
            added[EVENTS] = {**events, "description": "The events that started it."}
    if not added:
        return dict(inputs)
    return {**inputs, "properties": {**added, **inputs.get("properties", {})}}
