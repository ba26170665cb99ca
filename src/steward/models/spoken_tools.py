"""Tools for a model that cannot call any: told in words, called by JSON that the answer is held to."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from steward.core import Invalid, read_json
from steward.models.messages import (
    Call,
    Json,
    Message,
    Part,
    Request,
    Said,
    System,
    Text,
    ToolResult,
    ToolSpec,
    User,
)

_HOW: Final = (
    "You have tools. Answer with one JSON object and nothing else. To call a tool: "
    '{"tool": name, "arguments": {...}}. When you are done: {"answer": text}.'
)
_DEFS: Final = "#/$defs/"
_MARK: Final = "<tool_call>"


def spoken(request: Request) -> Request:
    """The same request without tools: what they are stands in the prompt, earlier calls in the conversation."""
    listed = "\n".join(
        f"- {tool.name}: {tool.description} Arguments: {_compact(tool.parameters)}"
        for tool in request.tools
    )
    told = System(f"{_HOW}\nTools:\n{listed}")
    messages = [told, *(_said_in_words(message) for message in request.messages)]
    asking = replace(
        request.asking,
        tool_choice="auto",
        parallel_calls=None,
        output_schema=_answer_schema(request),
    )
    return Request(request.role, tuple(messages), (), asking)


def understood(parts: tuple[Part, ...], request: Request) -> tuple[Part, ...]:
    """The calls in an answer that was written as JSON; an answer that is none stays as it is."""
    text = "".join(part.text for part in parts if isinstance(part, Text)).strip()
    found = _loaded(text)
    if found is None:
        return parts
    rest = tuple(part for part in parts if not isinstance(part, Text))
    tool = found.get("tool", found.get("name"))
    if isinstance(tool, str):
        arguments = found.get("arguments")
        number = 1 + sum(
            len(message.calls) for message in request.messages if isinstance(message, Said)
        )
        given = dict(arguments) if isinstance(arguments, Mapping) else {}
        return (*rest, Call(f"spoken-{number}", tool, given))
    if isinstance(found.get("answer"), str):
        return (*rest, Text(found["answer"]))
    return parts


def is_spoken_call(parts: tuple[Part, ...], tools: tuple[ToolSpec, ...]) -> bool:
    """Whether a model wrote a call into its text, because its server did not make one of it."""
    text = "".join(part.text for part in parts if isinstance(part, Text)).strip()
    found = _loaded(text)
    names = {tool.name for tool in tools}
    return found is not None and found.get("tool", found.get("name")) in names


def _loaded(text: str) -> dict[str, Any] | None:
    inner = text.partition(_MARK)[2].partition("</tool_call>")[0] if _MARK in text else text
    bare = inner.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        found = read_json(bare)
    except Invalid:
        return None
    return found if isinstance(found, dict) else None


def _answer_schema(request: Request) -> Json:
    """One alternative for each tool, and one for the answer, as far as the request allows them."""
    calls: list[Json] = []
    named: dict[str, Json] = {}
    for tool in request.tools:
        arguments, own = _with_own_names(tool)
        named |= own
        calls.append(
            {
                "type": "object",
                "properties": {"tool": {"enum": [tool.name]}, "arguments": arguments},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            }
        )
    final = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    choice = request.asking.tool_choice
    allowed = {"required": calls, "none": [final]}.get(choice, [*calls, final])
    found = allowed[0] if len(allowed) == 1 else {"anyOf": allowed}
    return {**found, "$defs": named} if named else found


def _with_own_names(tool: ToolSpec) -> tuple[Json, dict[str, Json]]:
    """A tool's schema and its definitions under names that no other tool's have: all of them share one document."""
    prefix = re.sub(r"\W", "_", tool.name)

    def renamed(value: Json) -> Json:
        if isinstance(value, Mapping):
            return {
                key: f"{_DEFS}{prefix}_{inner.removeprefix(_DEFS)}"
                if key == "$ref" and isinstance(inner, str) and inner.startswith(_DEFS)
                else renamed(inner)
                for key, inner in value.items()
                if key != "$defs"
            }
        return [renamed(each) for each in value] if isinstance(value, list) else value

    own = tool.parameters.get("$defs") or {}
    return renamed(tool.parameters), {
        f"{prefix}_{name}": renamed(inner) for name, inner in own.items()
    }


def _said_in_words(message: Message) -> Message:
    match message:
        case Said() if message.calls:
            lines = [part.text for part in message.parts if isinstance(part, Text)]
            lines += [
                _compact({"tool": call.tool, "arguments": dict(call.arguments)})
                for call in message.calls
            ]
            return Said((Text("\n".join(line for line in lines if line)),))
        case ToolResult():
            state = "failed" if message.failed else "answered"
            return User(f"{message.tool} {state}:\n{message.text}")
        case _:
            return message


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
