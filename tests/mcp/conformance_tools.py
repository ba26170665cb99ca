"""The tools that the conformance suite calls by name, as any plug-in would bring them: tools of Steward, governed as such."""

import base64
import struct
import zlib
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from steward.broker.roles import PLAIN
from steward.broker.tool import TOOLS, Arguments, Artifact, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Unavailable

SOUND: Final = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PICTURE: Final = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
FILES: Final = {
    "picture": ("picture.png", "image/png", PICTURE),
    "sound": ("sound.wav", "audio/wav", SOUND),
    "text": ("words.txt", "text/plain", b"Words of a file."),
}


class Header(Arguments):
    """An argument that the client repeats as a header, for those who look at headers alone."""

    region: Annotated[str, PLAIN] = Field(
        "here", max_length=50, json_schema_extra={"x-mcp-header": "Region"}
    )


class Anything(Arguments):
    """Of tools that the suite gives arguments which it makes up."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Person(Arguments):
    """The schema of the scenario json-schema-2020-12, letter by letter."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        return SCHEMA


SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _making(*kinds: str) -> Any:
    async def run(context: ToolContext, _: Arguments) -> Outcome:
        made = []
        for kind in kinds:
            name, media, content = FILES[kind]
            digest = context.services["blobs"].put([content]).digest
            made.append(Artifact(name, media, digest, len(content)))
        return Outcome("This is a simple text response for testing.", "Done", tuple(made))

    return run


async def _fails(_: ToolContext, __: Arguments) -> Outcome:
    raise Unavailable("This tool intentionally returns an error for testing.")


async def _in_steps(context: ToolContext, _: Arguments) -> Outcome:
    for step in (0, 50, 100):
        context.report("Counting", step, 100)
    return Outcome("Done", "Done")


def _tool(
    name: str, run: Any, risk: Risk = Risk.compute, arguments: type[Arguments] = Anything
) -> Tool[Any]:
    return Tool(name, name, f"{name} of the conformance suite.", arguments, risk, run)


_SENT: Final = _making()
_ASKING: Final = (
    "test_elicitation",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
)
"""Tools about which a person is asked: Steward's own question, as for every call that sends something."""
ALL: Final = (
    _tool("test_simple_text", _making()),
    _tool("test_image_content", _making("picture")),
    _tool("test_audio_content", _making("sound")),
    _tool("test_embedded_resource", _making("text")),
    _tool("test_multiple_content_types", _making("picture", "text")),
    _tool("test_error_handling", _fails),
    _tool("test_tool_with_progress", _in_steps),
    _tool("test_logging_tool", _making()),
    _tool("test_custom_header", _making(), arguments=Header),
    _tool("json_schema_2020_12_tool", _making(), arguments=Person),
    *(_tool(name, _SENT, Risk.external_send) for name in _ASKING),
)


def add_tools() -> None:
    for tool in ALL:
        TOOLS.add(tool.name, tool)


def remove_tools() -> None:
    for tool in ALL:
        TOOLS.remove(tool.name)
