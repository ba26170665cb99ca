"""Flows as documents: typed, versioned, with a JSON Schema and a YAML form in which unknown fields are refused."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from threading import RLock
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from steward.core import Invalid, NotFound, Problem, documents
from steward.flows.artifacts import ArtifactSpec
from steward.flows.expressions import escaped
from steward.flows.node import NODES, Body, Document, Graph, Id, JsonSchema
from steward.flows.nodes.subflow import SubflowNode
from steward.runs import Json

FORMAT: Final = 1
DEEPEST: Final = 6
"""Graphs within graphs."""


class Flow(Graph):
    """A graph that runs."""

    format: Literal[1] = Field(description="Version of this schema.")
    id: Id
    name: str = Field("", max_length=200)
    description: str = Field("", max_length=5_000)
    inputs: JsonSchema = Field(
        {"type": "object", "properties": {}}, description="JSON Schema of what it is given."
    )
    outputs: JsonSchema | None = Field(None, description="JSON Schema of what it gives back.")
    artifacts: list[ArtifactSpec] = Field(
        [], max_length=100, description="Files it leaves behind; looked at when it ends."
    )
    layout: dict[str, Any] = Field(
        {}, description="Where an editor draws the nodes; running ignores it."
    )


NODES.load_package("steward.flows.nodes")
NODES.load_entry_points()
_BUILDING: Final = RLock()
"""Held while flows are read or written, as a plug-in may bring or take a node type meanwhile."""


def build_flow_types() -> None:
    """Makes flows of all node types that NODES has now."""
    types = tuple(node for _, node in NODES)
    any_node: Any = Annotated[reduce(or_, types), Field(discriminator="type")]
    names = {"AnyNode": any_node, "AnyFlow": Flow, "Body": Body, "Flow": Flow}
    models: tuple[type[Document], ...] = (Graph, Body, *types, Flow)
    with _BUILDING:
        for graph in (Graph, Body, Flow):
            field = graph.__pydantic_fields__["nodes"]
            if graph.__pydantic_fields_complete__:
                # Once resolved, a name is not looked up again.
                field.annotation = list[any_node]
        for model in models:
            model.model_rebuild(force=True, raise_errors=False, _types_namespace=names)
        for model in models:
            model.model_rebuild(force=True, _types_namespace=names)


build_flow_types()


def load_flow(document: Json) -> Flow:
    """A flow from JSON; Invalid with a JSON pointer for each thing wrong with its shape."""
    _check_depth(document)
    try:
        return _read(document)
    except ValidationError as problem:
        found = [_problem(error) for error in problem.errors(include_url=False)]
        raise Invalid(
            f"This is not a flow: {found[0].pointer or '/'} {found[0].message}.", problems=found
        ) from None


def _read(document: Json) -> Flow:
    try:
        with _BUILDING:
            return Flow.model_validate(document)
    except ValidationError as problem:
        if not any(error["type"] == "union_tag_invalid" for error in problem.errors()):
            raise
    NODES.look_again()
    with _BUILDING:
        return Flow.model_validate(document)


def dump_flow(flow: Flow) -> dict[str, Any]:
    """The flow as JSON, in a stable order, without what is as it is by default."""
    with _BUILDING:
        found: dict[str, Any] = flow.model_dump(mode="json", exclude_defaults=True)
    ordered: dict[str, Any] = _ordered(found)
    return ordered


def load_yaml(text: str) -> Flow:
    return load_flow(documents.read_yaml(text))


def dump_yaml(flow: Flow) -> str:
    return documents.dump_yaml(dump_flow(flow))


def flow_schema() -> dict[str, Any]:
    """The JSON Schema of flow documents, for editors."""
    with _BUILDING:
        schema = Flow.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema


def pinned(flow: Flow, find: Callable[[str], Flow]) -> Flow:
    """The flow with every named sub-flow written out as it is now; a run starts with this.

    `find` raises NotFound for a name it does not know.
    """
    problems: list[Problem] = []
    document: Flow = _pinned(flow, find, (flow.id,), "", problems)
    if problems:
        raise Invalid(f"Sub-flows cannot be pinned: {problems[0].message}.", problems=problems)
    return document


def _pinned(
    graph: Any, find: Callable[[str], Flow], within: tuple[str, ...], at: str, into: list[Problem]
) -> Any:
    if len(within) > DEEPEST:
        into.append(Problem(at, f"sub-flows are nested more than {DEEPEST} deep"))
        return graph
    nodes = []
    for index, node in enumerate(graph.nodes):
        pointer = f"{at}/nodes/{index}"
        changes: dict[str, Any] = {}
        if isinstance(node, SubflowNode):
            inner = node.flow
            try:
                inner = inner or find(node.ref or "")
            except NotFound as missing:
                into.append(Problem(f"{pointer}/ref", missing.message))
            if inner is not None:
                if inner.id in within:
                    said = f"{inner.id!r} would run itself; repeat with a loop instead"
                    into.append(Problem(pointer, said))
                else:
                    changes["flow"] = _pinned(inner, find, (*within, inner.id), pointer, into)
        for place, body in node.bodies():
            new = _pinned(body, find, within, pointer + place, into)
            first, *rest = place[1:].split("/")
            changes[first] = (
                {**getattr(node, first), **changes.get(first, {}), rest[0]: new} if (rest) else new
            )
        nodes.append(node.model_copy(update=changes) if changes else node)
    return graph.model_copy(update={"nodes": nodes})


def _check_depth(document: Json) -> None:
    """Documents come from outside: nothing recursive looks at one that is too deep."""
    level, depth = [document], 0
    while level:
        depth += 1
        if depth > 200:
            raise Invalid("The document is nested too deeply.")
        level = [
            child
            for each in level
            for child in (
                each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
            )
        ]


_LEADING: Final = ("format", "id", "name", "description", "inputs", "outputs")


def _ordered(document: Any) -> Any:
    """What a flow is comes before its nodes, in flows within flows too."""
    if isinstance(document, list):
        return [_ordered(item) for item in document]
    if not isinstance(document, dict):
        return document
    if "format" in document and "nodes" in document:
        leading = {name: document[name] for name in _LEADING if name in document}
        document = leading | {k: v for k, v in document.items() if k not in leading}
    return {key: _ordered(value) for key, value in document.items()}


_MESSAGES: Final = {
    "extra_forbidden": "is not known here",
    "missing": "is missing",
    "union_tag_not_found": "is missing",
}


def _problem(error: ErrorDetails) -> Problem:
    parts = []
    after_nodes = 0
    for part in error["loc"]:
        # pydantic names the chosen type of a node between its index and its fields.
        if after_nodes == 2 and part in NODES:
            after_nodes = 0
            continue
        if after_nodes == 1 and isinstance(part, int):
            after_nodes = 2
        else:
            after_nodes = 1 if part == "nodes" else 0
        parts.append(str(part))
    if error["type"] == "union_tag_invalid":
        given = str(error.get("ctx", {}).get("tag", ""))[:40]
        known = ", ".join(name for name, _ in NODES)
        return Problem(
            _pointer([*parts, "type"]), f"there is no node type {given!r}; there are {known}"
        )
    if error["type"] == "union_tag_not_found":
        parts.append("type")
    message = _MESSAGES.get(error["type"], error["msg"].removeprefix("Value error, "))
    return Problem(_pointer(parts), message)


def _pointer(parts: list[str]) -> str:
    return "".join(f"/{escaped(part)}" for part in parts)
