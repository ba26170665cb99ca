"""JSON Schemas within what llama.cpp, Ollama and vLLM can turn into a grammar.

Servers refuse some keywords, ignore others, and one of them ends when it meets a schema it cannot convert. So what a
grammar cannot hold is left out here, and what comes back is validated against the whole schema by those who asked.
"""

from collections.abc import Mapping
from typing import Any, Final

MOST_ITEMS: Final = 1_000
"""llama.cpp multiplies a rule out as often as it may repeat, and refuses at 2,000."""
MOST_CHARACTERS: Final = 300
_SIMPLE: Final = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})


def grammar_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what a grammar cannot hold; looser, never stricter."""
    found = _plain(schema)
    named = {
        key: {name: _plain(inner) for name, inner in schema[key].items()}
        for key in ("$defs", "definitions")
        if isinstance(schema.get(key), Mapping)
    }
    return {**found, **named}


def _plain(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        # `true` means anything at all.
        return {} if schema is True else schema
    if isinstance(schema.get("$ref"), str):
        return {"$ref": schema["$ref"]}
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list) and choices:
        # Properties beside a choice are ignored by most converters, so the choice alone stays.
        return {"anyOf": [_plain(each) for each in choices]}
    if "const" in schema:
        return {"enum": [schema["const"]]}
    if "enum" in schema:
        return {"enum": list(schema["enum"])}
    merged = schema.get("allOf")
    if isinstance(merged, list) and len(merged) == 1:
        return _plain(merged[0])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return {"anyOf": [_plain({**schema, "type": kind}) for kind in kinds if kind in _SIMPLE]}
    return _of_kind("object" if "properties" in schema else kinds, schema)


def _of_kind(kind: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    match kind:
        case "object":
            return _object(schema)
        case "array":
            return _array(schema)
        case "string":
            return _bounded(schema, {"maxLength": MOST_CHARACTERS})
        case "integer":
            return _bounded(schema, {"minimum": None, "maximum": None})
        case _:
            return {"type": kind} if kind in _SIMPLE else {}


def _bounded(schema: Mapping[str, Any], bounds: Mapping[str, int | None]) -> dict[str, Any]:
    """Bounds that a grammar can hold: without them a small model may never come to the end of a text."""
    found: dict[str, Any] = {"type": schema["type"]}
    for name, most in bounds.items():
        number = schema.get(name)
        if isinstance(number, int) and (most is None or number <= most):
            found[name] = number
    return found


def _object(schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object"}
    fields = schema.get("properties")
    if isinstance(fields, Mapping) and fields:
        found["properties"] = {name: _plain(inner) for name, inner in fields.items()}
        required = [name for name in schema.get("required") or () if name in fields]
        if required:
            found["required"] = required
    rest = schema.get("additionalProperties")
    if isinstance(rest, bool):
        found["additionalProperties"] = rest
    elif isinstance(rest, Mapping):
        found["additionalProperties"] = _plain(rest)
    return found


def _array(schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "array"}
    if isinstance(schema.get("items"), Mapping):
        found["items"] = _plain(schema["items"])
    for name in ("minItems", "maxItems"):
        number = schema.get(name)
        if isinstance(number, int) and number <= MOST_ITEMS:
            found[name] = number
    return found
