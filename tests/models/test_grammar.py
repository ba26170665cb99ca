"""Every schema that is sent stays within what llama.cpp, Ollama and vLLM can turn into a grammar."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from steward.agents.planning.forms import form_schema
from steward.agents.planning.narrow import output_schema
from steward.agents.planning.stages import KIND_SCHEMA
from steward.models import Request, ToolSpec, User
from steward.models.grammar import MOST_ITEMS, grammar_schema
from steward.models.spoken_tools import spoken
from steward.tools import load_tools
from tests.agents.planning_kit import catalogue

HELD = {
    *("type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
    *("enum", "anyOf", "$ref", "$defs", "definitions", "maxLength", "minimum", "maximum"),
}
KNOWN = catalogue()


def spoken_schema() -> Any:
    tools = tuple(ToolSpec(name, tool.description, tool.schema()) for name, tool in load_tools())
    return spoken(Request("operator", (User("?"),), tools)).asking.output_schema


def parts(schema: Any, inside: bool = True) -> Iterator[Mapping[str, Any]]:
    """Every schema within a schema; names of properties and definitions are not keywords."""
    if isinstance(schema, list):
        for each in schema:
            yield from parts(each)
    if isinstance(schema, Mapping):
        if inside:
            yield schema
        for key, value in schema.items():
            if key != "enum":
                yield from parts(value, inside=not inside or key not in {"properties", "$defs"})


@pytest.mark.parametrize(
    "schema",
    [KIND_SCHEMA, form_schema(KNOWN), output_schema(KNOWN), spoken_schema()],
    ids=["kind", "form", "plan", "tools"],
)
def test_only_what_a_grammar_can_hold_is_sent(schema: Mapping[str, Any]) -> None:
    sent = grammar_schema(schema)
    known = {f"#/$defs/{name}" for name in sent.get("$defs", {})}
    for each in parts(sent):
        assert each.get("$ref") is None or each["$ref"] in known
        assert set(each) <= HELD, sorted(set(each) - HELD)
        assert each.get("maxItems", 0) <= MOST_ITEMS


def test_choices_and_constants_are_said_another_way_and_nothing_gets_stricter() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"oneOf": [{"const": 1}, {"type": ["string", "null"], "pattern": "^x$"}]},
            "b": {"type": "array", "items": {"type": "integer", "minimum": 3}, "maxItems": 5_000},
            "c": {"type": "number", "minimum": 3},
            "d": {"type": "string", "maxLength": 5_000},
        },
        "required": ["a", "gone"],
    }
    assert grammar_schema(schema) == {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"enum": [1]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}]},
            "b": {"type": "array", "items": {"type": "integer", "minimum": 3}},
            "c": {"type": "number"},
            "d": {"type": "string"},
        },
        "required": ["a"],
    }
