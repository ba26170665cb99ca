"""What a node is: a document with an id, what it needs, what it reads, and how it runs.

A node type is one file in `flows/nodes/` with a subclass of Node that is added to NODES.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Protocol, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from steward.core import Registry
from steward.flows.expressions import escaped
from steward.runs import Execution, Json

if TYPE_CHECKING:
    AnyNode: TypeAlias = "Node"

    from steward.flows.model import Flow

RESERVED: Final = frozenset(
    [
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void"),
        "while",
    ]
)
"""Words of the expression language: `nodes.in.output` could not be written."""


def _identifier(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", text) or text in RESERVED:
        raise ValueError(
            "an id has at most 40 small letters, digits and _, starts with a letter, and is no "
            "word of the expression language"
        )
    return text


_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def _duration(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,5}[smhd]", text):
        raise ValueError("a duration is a number and a unit: 90s, 15m, 2h, 7d")
    return text


def seconds_of(duration: str) -> timedelta:
    return timedelta(**{_UNITS[duration[-1]]: int(duration[:-1])})


@dataclass(frozen=True)
class Reads:
    """Marks a field that holds expressions, for whoever looks at all of them."""

    bare: bool
    """The whole text is an expression; otherwise expressions stand in `${ … }`."""
    names: tuple[str, ...] = ()
    """Further names it may use."""


Id = Annotated[str, AfterValidator(_identifier)]
Need = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$")]
Duration = Annotated[str, AfterValidator(_duration)]
Expr = Annotated[str, Reads(bare=True), Field(min_length=1)]
TextTemplate = Annotated[str, Reads(bare=False)]
Template = Annotated[Any, Reads(bare=False)]
Templates = Annotated[dict[str, Any], Reads(bare=False)]
JsonSchema = dict[str, Any]


class Labels(Protocol):
    """Where a value comes from and whether it can be trusted."""

    def joined(self, other: Any, /) -> Any: ...


def joined(labels: Sequence[Labels | None]) -> Labels | None:
    found: Labels | None = None
    for each in labels:
        if each is not None:
            found = each if found is None else found.joined(each)
    return found


@dataclass(frozen=True)
class Valued:
    """A value with what is known about its origin."""

    value: Json
    labels: Labels | None = None
    port: str | None = None
    """Which way the flow goes on; None for a node with one way out."""
    parts: Mapping[str, Labels] = field(default_factory=dict)
    """Labels of its fields where they differ from those of the whole, by name."""


@dataclass(frozen=True)
class ToolCall:
    tool: str
    tool_pointer: str
    arguments: Mapping[str, Json]
    pointers: Mapping[str, str]
    """Where in the node an argument is written, by its name."""


class Place(Protocol):
    """A node being run: what it may use."""

    @property
    def key(self) -> str:
        """The name of this node in the journal; everything it records starts with it."""
        ...

    @property
    def execution(self) -> Execution: ...

    @property
    def taken_ports(self) -> frozenset[str]:
        """Ports of this node that some other node needs."""
        ...

    def error(self, code: str, message: str) -> Valued:
        """An error as the output of what failed."""
        ...

    def filled(self, value: Json) -> Valued: ...
    def computed(self, text: str, also: Mapping[str, Valued] | None = None) -> Valued: ...
    async def call_tool(
        self, tool: str, arguments: Mapping[str, Json], *, accept_failure: bool = False
    ) -> Valued: ...
    async def approve_together(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        each: Sequence[Mapping[str, Valued]],
    ) -> None: ...
    def budget_for(self, parts: int) -> AbstractAsyncContextManager[None]:
        """Around so many items or branches: what they will cost is held before the first begins."""
        ...

    async def run_agent(self, agent: Json, labels: Mapping[str, Labels | None]) -> Valued: ...
    async def body(self, part: str, body: "Body", also: Mapping[str, Valued]) -> Valued: ...
    async def flow(self, flow: "Flow", inputs: Valued) -> Valued: ...
    async def child(self, flow: "Flow", inputs: Valued) -> Valued: ...
    def part_done(self, done: int, total: int) -> None: ...


class Document(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


@dataclass(frozen=True)
class Starter:
    """A new node as the palette of an editor adds it."""

    title: str
    fields: Mapping[str, Json] = field(default_factory=dict)
    takes: str | None = None
    """The field that gets the output of the step after which the node is added."""


class Goto(Document):
    goto: Id


class Retry(Document):
    attempts: int = Field(ge=2, le=20, title="Tries in all", description="Empty: it is tried once.")
    delay: Duration = Field(
        "10s", title="Wait before the second", description="Such as 10s or 5m; doubled each time."
    )


class Node(Document):
    """What every node has."""

    id: Id
    type: str
    title: str = Field("", max_length=200)
    needs: list[Need] = Field(
        default=[],
        description="Nodes that come before, or `node.port` for one way out of a node with several.",
    )
    start: Literal["all", "any"] = Field(
        "all", description="Whether all needs must have been taken, or one is enough."
    )
    on_error: Literal["fail", "continue"] | Goto = Field(
        "fail",
        description="Fail the flow, go on with the error as output, or go to another node.",
    )
    retries: Retry | None = Field(None, title="Try again after an error")

    parts: ClassVar[tuple[str, ...]] = ()
    """Names that expressions inside its bodies may use besides `inputs`, `nodes` and `run`."""
    exits: ClassVar[tuple[str, ...]] = ()
    """The ways out, when there are several: names, or pointers to the fields that hold them (`/cases/*/port`)."""
    graphs: ClassVar[tuple[str, ...]] = ()
    """Pointers to the graphs inside it; `*` stands for every key (`/branches/*`)."""
    flows: ClassVar[tuple[str, ...]] = ()
    """Pointers to whole flows inside it, whose nodes have ids of their own."""
    group: ClassVar[str] = "Other"
    """Where the palette of an editor lists it."""
    starters: ClassVar[tuple[Starter, ...]] = ()
    """What the palette offers of this type; without any, a node with no fields filled in."""

    def ports(self) -> tuple[str, ...]:
        """The ways out, when there are several."""
        found: list[str] = []
        for name in self.exits:
            found += [str(value) for _, value in _found(self, name)] if name[0] == "/" else [name]
        return tuple(found)

    def bodies(self) -> Iterator[tuple[str, "Body"]]:
        """Graphs inside the node, each with its JSON pointer within the node."""
        for pointer in self.graphs:
            yield from _found(self, pointer)

    def tool_call(self) -> "ToolCall | None":
        """The tool it calls and with what, for whoever checks that."""
        return None

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        """What is known of its output; `tool_outputs` by name of the tool."""
        return None

    def schemas(self) -> Iterator[tuple[str, JsonSchema]]:
        """JSON Schemas it holds, each with its JSON pointer within the node."""
        return iter(())

    def reads(self) -> Iterator[tuple[str, Reads, Json]]:
        """Every field with expressions: JSON pointer within the node, how to read it, its value."""
        return _reads(self, "")

    def stand_in(self, at: Place) -> "Valued | None":  # noqa: ARG002
        """What it gives in a test where nobody is asked and nothing waits; None: it runs as always."""
        return None

    @abstractmethod
    async def run(self, at: Place) -> Valued:
        """Does what the node is for; everything that could come out differently goes through `at`."""


def _found(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """The values at a pointer, in which `*` stands for every key or index, each with its own pointer."""
    places = [("", value)]
    for name in pointer.split("/")[1:]:
        places = [
            (f"{at}/{escaped(str(key))}", inner)
            for at, around in places
            for key, inner in _members(around, name)
        ]
    yield from places


def _members(value: Any, name: str) -> Iterator[tuple[str | int, Any]]:
    if name != "*":
        yield name, getattr(value, name)
    elif isinstance(value, Mapping):
        yield from value.items()
    else:
        yield from enumerate(value)


def _reads(document: BaseModel, pointer: str) -> Iterator[tuple[str, Reads, Json]]:
    for name, info in type(document).model_fields.items():
        value = getattr(document, name)
        here = f"{pointer}/{escaped(name)}"
        marks = [mark for mark in info.metadata if isinstance(mark, Reads)]
        if marks and value is not None:
            yield here, marks[0], value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, Document) and not isinstance(item, Node | Graph):
                    yield from _reads(item, f"{here}/{index}")
        elif isinstance(value, Document) and not isinstance(value, Graph):
            yield from _reads(value, here)


class Graph(Document):
    """Nodes that belong together."""

    nodes: "list[AnyNode]" = Field(min_length=1, max_length=500)


class Body(Graph):
    """A graph inside a node. Its output is that of its output node, or of its only node."""


NODES: Registry[type[Node]] = Registry("node")
