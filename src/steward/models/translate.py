"""Between Steward's messages and those of the SDK; imported when a model is used, not before."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic_ai import messages as sdk
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from steward.core import Invalid, read_json
from steward.models.abilities import Way
from steward.models.grammar import grammar_schema
from steward.models.messages import (
    Asking,
    Call,
    Json,
    Message,
    Part,
    Request,
    Said,
    System,
    Text,
    Thought,
    ToolResult,
    ToolSpec,
    User,
)

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64
_AS_JSON: Final = "Answer with one JSON object and nothing else."
_KEPT: Final = ("id", "signature", "provider_name", "provider_details")
_FINISH: Final = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filtered",
    "tool_call": "tool-calls",
    "error": "error",
}


class Names:
    """Names of tools as providers accept them, and back."""

    def __init__(self, tools: Iterable[ToolSpec]) -> None:
        self._ours: dict[str, str] = {}
        for tool in tools:
            outside = self.outside(tool.name)
            if self._ours.setdefault(outside, tool.name) != tool.name:
                raise Invalid(
                    f"The tools {self._ours[outside]!r} and {tool.name!r} look the same to a model; rename one."
                )

    def outside(self, name: str) -> str:
        return _FOREIGN.sub("_", name)[:_LONGEST_NAME]

    def inside(self, name: str) -> str:
        """Our name; a tool that the model made up keeps the name it gave."""
        return self._ours.get(name, name)


def to_sdk(request: Request, names: Names, way: Way = "json_schema") -> list[sdk.ModelMessage]:
    """The conversation as the SDK has it: requests and responses by turns."""
    turns: list[sdk.ModelMessage] = []
    asked: list[sdk.ModelRequestPart] = []
    if request.asking.output_schema is not None and way in {"json_object", "text"}:
        # Some servers refuse JSON mode where no message says so.
        asked.append(sdk.SystemPromptPart(_AS_JSON))
    for message in request.messages:
        if isinstance(message, Said):
            if asked:
                turns.append(sdk.ModelRequest(parts=asked))
                asked = []
            turns.append(
                sdk.ModelResponse(parts=[part_to_sdk(part, names) for part in message.parts])
            )
        else:
            asked.append(_asked(message, names))
    if asked:
        turns.append(sdk.ModelRequest(parts=asked))
    return turns


def parameters(request: Request, names: Names, way: Way = "json_schema") -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=names.outside(tool.name),
            description=tool.description,
            parameters_json_schema=tool.parameters,
        )
        for tool in request.tools
    ]
    schema = request.asking.output_schema
    if schema is None or way != "json_schema":
        return ModelRequestParameters(function_tools=tools)
    return ModelRequestParameters(
        function_tools=tools,
        output_mode="native",
        output_object=OutputObjectDefinition(name="answer", json_schema=grammar_schema(schema)),
    )


def sdk_settings(asking: Asking, has_tools: bool, way: Way = "json_schema") -> ModelSettings:
    settings: ModelSettings = {}
    if asking.output_schema is not None and way in {"json_object", "json_object_schema"}:
        wanted: dict[str, Any] = {"type": "json_object"}
        if way == "json_object_schema":
            wanted["schema"] = grammar_schema(asking.output_schema)
        settings["extra_body"] = {"response_format": wanted}
    if asking.temperature is not None:
        settings["temperature"] = asking.temperature
    if asking.max_tokens is not None:
        settings["max_tokens"] = asking.max_tokens
    if asking.seed is not None:
        settings["seed"] = asking.seed
    if asking.effort is not None:
        settings["thinking"] = asking.effort
    if has_tools:
        settings["tool_choice"] = asking.tool_choice
        if asking.parallel_calls is not None:
            settings["parallel_tool_calls"] = asking.parallel_calls
    return settings


def from_sdk(response: sdk.ModelResponse, names: Names) -> tuple[Part, ...]:
    found = (_part_from_sdk(part, names) for part in response.parts)
    return tuple(part for part in found if part is not None)


def finish(response: sdk.ModelResponse, parts: tuple[Part, ...]) -> str:
    if response.finish_reason == "stop" and any(isinstance(part, Call) for part in parts):
        return "tool-calls"  # some servers say so, whatever they send
    usual = "tool-calls" if any(isinstance(part, Call) for part in parts) else "stop"
    return _FINISH.get(response.finish_reason or "", usual)


def _asked(message: Message, names: Names) -> sdk.ModelRequestPart:
    match message:
        case System():
            return sdk.SystemPromptPart(message.text)
        case User():
            return sdk.UserPromptPart(message.text)
        case ToolResult():
            return sdk.ToolReturnPart(
                names.outside(message.tool),
                message.text,
                message.call_id,
                outcome="failed" if message.failed else "success",
            )
        case Said():
            raise TypeError("an answer is not a part of a request")


def part_to_sdk(part: Part, names: Names) -> sdk.ModelResponsePart:
    extra: dict[str, Any] = dict(part.extra)
    match part:
        case Text():
            extra.pop("signature", None)
            return sdk.TextPart(part.text, **extra)
        case Thought():
            return sdk.ThinkingPart(part.text, **extra)
        case Call():
            extra.pop("signature", None)
            # What was written is shown to the model as it wrote it, so that it can mend it.
            arguments = dict(part.arguments) if part.broken is None else part.broken
            return sdk.ToolCallPart(names.outside(part.tool), arguments, part.id, **extra)


def _part_from_sdk(part: sdk.ModelResponsePart, names: Names) -> Part | None:
    match part:
        case sdk.TextPart():
            return Text(part.content, _extra(part)) if part.content else None
        case sdk.ThinkingPart():
            return Thought(part.content, _extra(part))
        case sdk.ToolCallPart():
            arguments, broken = _arguments(part.args)
            name = names.inside(part.tool_name)
            return Call(part.tool_call_id, name, arguments, broken, _extra(part))
        case _:
            return None  # files and the provider's own tools, which Steward never asks for


def _arguments(given: str | Mapping[str, Any] | None) -> tuple[Mapping[str, Json], str | None]:
    if given is None or given == "":
        return {}, None
    if not isinstance(given, str):
        return dict(given), None
    try:
        value = read_json(given)
    except Invalid:
        return {}, given
    return (value, None) if isinstance(value, dict) else ({}, given)


def _extra(part: Any) -> dict[str, Json]:
    kept = {name: getattr(part, name, None) for name in _KEPT}
    found = {name: value for name, value in kept.items() if value is not None}
    # Without an id, a signature or details there is nothing for the provider to recognise.
    return found if set(found) - {"provider_name"} else {}
