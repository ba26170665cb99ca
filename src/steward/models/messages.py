"""What is said to a model and what it says: plain values that a journal can keep, whoever the provider is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from steward.core import Bug

Json: TypeAlias = Any
"""A value made of dicts with text keys, lists, text, numbers, booleans and None."""

WITHHELD: Final = "[Rows of data are not sent to this model. Work with schemas and statistics.]"


@dataclass(frozen=True)
class System:
    """Instructions of the application."""

    text: str

    def to_json(self) -> Json:
        return {"kind": "system", "text": self.text}


@dataclass(frozen=True)
class User:
    """What a person said, or what the application adds to it."""

    text: str
    rows: bool = False
    """Whether the text shows rows of data, which not every model may see."""
    without_rows: str | None = None
    """What such a model is told instead."""

    def to_json(self) -> Json:
        return {"kind": "user", "text": self.text, **_privacy(self.rows, self.without_rows, False)}


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered; taken to show rows unless its maker knows better."""

    call_id: str
    tool: str
    text: str
    failed: bool = False
    rows: bool = True
    without_rows: str | None = None

    def to_json(self) -> Json:
        said: Json = {"kind": "tool", "call_id": self.call_id, "tool": self.tool, "text": self.text}
        if self.failed:
            said["failed"] = True
        return {**said, **_privacy(self.rows, self.without_rows, True)}


@dataclass(frozen=True)
class Text:
    text: str
    extra: Mapping[str, Json] = field(default_factory=dict)
    """What the provider wants back with it: ids and signatures, for itself alone."""


@dataclass(frozen=True)
class Thought:
    """What a reasoning model shows of its reasoning."""

    text: str
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A tool that the model wants called."""

    id: str
    tool: str
    arguments: Mapping[str, Json]
    broken: str | None = None
    """The arguments as they were written, where they are not a JSON object; `arguments` is then empty."""
    extra: Mapping[str, Json] = field(default_factory=dict)


Part: TypeAlias = Text | Thought | Call


@dataclass(frozen=True)
class Said:
    """An earlier answer of the model, part by part."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))

    def to_json(self) -> Json:
        return {"kind": "model", "parts": [part_to_json(part) for part in self.parts]}


Message: TypeAlias = System | User | ToolResult | Said


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: Json
    """JSON Schema of the arguments, an object."""

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }


@dataclass(frozen=True)
class Asking:
    """How to ask; what is left out is up to the provider."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    tool_choice: Literal["auto", "required", "none"] = "auto"
    parallel_calls: bool | None = None
    effort: Literal["minimal", "low", "medium", "high"] | None = None
    """How long a reasoning model should think."""
    output_schema: Json = None
    """JSON Schema that the answer's text must follow, for models that can be held to one."""
    allow_rows: bool = True
    """Off: no model of the role sees rows in this request, whatever the settings allow it."""
    model: str | None = None
    """A certain model, as `provider:name`, instead of those of the role."""
    pinned: Json = None
    """Models that a deployment fixed, in the order in which they are asked, each with `model`, `settings` and `rows`.
    No other one is asked."""

    def to_json(self) -> Json:
        given = {name: getattr(self, name) for name in self.__dataclass_fields__}
        defaults = {name: item.default for name, item in self.__dataclass_fields__.items()}
        return {name: value for name, value in given.items() if value != defaults[name]}


@dataclass(frozen=True)
class Request:
    """One request to a model; which one is decided by the role."""

    role: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    asking: Asking = Asking()

    def to_json(self) -> Json:
        return {
            "role": self.role,
            "messages": [message.to_json() for message in self.messages],
            "tools": [tool.to_json() for tool in self.tools],
            "asking": self.asking.to_json(),
        }

    @property
    def shows_rows(self) -> bool:
        return any(isinstance(m, User | ToolResult) and m.rows for m in self.messages)

    def without_rows(self) -> "Request":
        """The same request for a model that may see schemas only."""
        hidden = tuple(_hidden(message) for message in self.messages)
        return Request(self.role, hidden, self.tools, self.asking)


def part_to_json(part: Part) -> Json:
    extra = {"extra": dict(part.extra)} if part.extra else {}
    match part:
        case Text():
            return {"kind": "text", "text": part.text, **extra}
        case Thought():
            return {"kind": "thought", "text": part.text, **extra}
        case Call():
            said = {
                "kind": "call",
                "id": part.id,
                "tool": part.tool,
                "arguments": dict(part.arguments),
            }
            broken = {} if part.broken is None else {"broken": part.broken}
            return {**said, **broken, **extra}


def part_from_json(data: Mapping[str, Json]) -> Part:
    extra = data.get("extra", {})
    match data["kind"]:
        case "text":
            return Text(data["text"], extra)
        case "thought":
            return Thought(data["text"], extra)
        case "call":
            return Call(data["id"], data["tool"], data["arguments"], data.get("broken"), extra)
        case kind:
            raise Bug(f"No part of an answer is called {kind!r}.")


def message_from_json(data: Mapping[str, Json]) -> Message:
    """A message from what `to_json` made of it."""
    match data["kind"]:
        case "system":
            return System(data["text"])
        case "user":
            return User(data["text"], data.get("rows", False), data.get("without_rows"))
        case "tool":
            return ToolResult(
                data["call_id"],
                data["tool"],
                data["text"],
                data.get("failed", False),
                data.get("rows", True),
                data.get("without_rows"),
            )
        case "model":
            return Said(parts_from_json(data["parts"]))
        case kind:
            raise Bug(f"No message is called {kind!r}.")


def parts_from_json(data: Sequence[Mapping[str, Json]]) -> tuple[Part, ...]:
    return tuple(part_from_json(item) for item in data)


def _privacy(rows: bool, without_rows: str | None, usual: bool) -> dict[str, Json]:
    said: dict[str, Json] = {} if rows is usual else {"rows": rows}
    return said if without_rows is None else {**said, "without_rows": without_rows}


def _hidden(message: Message) -> Message:
    match message:
        case User(rows=True):
            return User(message.without_rows or WITHHELD)
        case ToolResult(rows=True):
            instead = message.without_rows or WITHHELD
            return ToolResult(message.call_id, message.tool, instead, message.failed, rows=False)
        case _:
            return message
