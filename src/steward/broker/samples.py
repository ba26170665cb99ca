"""Values made from a JSON Schema: an ordinary one, and edge cases, to test what takes such a value."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from re import _parser as regex
from typing import Any, Final

from steward.broker.schemas import first_problem

_DEEPEST: Final = 8
_LONG: Final = 200
_MOST: Final = 1_000
"""Items and characters of a made value: some schemas come from services, and ask for what they like."""
_FORMATS: Final = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T08:30:00Z",
    "time": "08:30:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/page",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_ODD_TEXT: Final = "Ünïcödé “quotes” 'and' \\ 漢字"


@dataclass(frozen=True)
class Sample:
    name: str
    """What is special about it, in words."""
    value: Any
    is_valid: bool


def sample(schema: Mapping[str, Any], depth: int = 0) -> Any:
    """An ordinary value that the schema takes, as far as it can be made without guessing."""
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    for name in ("examples", "enum", "anyOf", "oneOf", "allOf"):
        found = schema.get(name)
        if isinstance(found, list) and found:
            first = found[0]
            if name in {"examples", "enum"}:
                return first
            return sample(first, depth + 1) if isinstance(first, Mapping) else None
    return _of_type(schema, depth) if depth <= _DEEPEST else None


def _of_type(schema: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    match "object" if "properties" in schema else kind:
        case "object":
            return _object(schema, depth)
        case "array":
            items = schema.get("items")
            count = max(1, _count(schema.get("minItems"), 1))
            return [sample(items if isinstance(items, Mapping) else {}, depth + 1)] * count
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case "null":
            return None
    return _text(schema)


def samples(schema: Mapping[str, Any]) -> list[Sample]:
    """An ordinary value, then edge cases of one field at a time; those that the schema refuses say so."""
    usual = sample(schema)
    found = [_judged(schema, "Ordinary values", usual)]
    properties = schema.get("properties")
    if not isinstance(usual, dict) or not isinstance(properties, Mapping):
        return found
    required = schema.get("required", ())
    for name, part in properties.items():
        if not isinstance(part, Mapping):
            continue
        found += [
            _judged(schema, f"{name}: {told}", {**usual, name: value})
            for told, value in _edges(part)
        ]
        less = {key: value for key, value in usual.items() if key != name}
        told = "is missing" if name in required else "is left out"
        found.append(_judged(schema, f"{name} {told}", less))
    return found


def _judged(schema: Mapping[str, Any], name: str, value: Any) -> Sample:
    return Sample(name, value, first_problem(schema, value) is None)


def _edges(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    kind = schema.get("type")
    choices = schema.get("enum")
    if isinstance(choices, list):
        for choice in choices[1:]:
            yield f"{choice}", choice
    elif kind in {"integer", "number"}:
        yield "smallest", schema.get("minimum", 0)
        yield "largest", schema.get("maximum", 10**9)
        yield "negative", -1
    elif kind == "string":
        yield "empty", ""
        yield "unusual characters", _ODD_TEXT
        yield "long", "x" * min(int(schema.get("maxLength", _LONG)), _LONG)
    elif kind == "array":
        yield "empty", []
    elif kind == "boolean":
        yield "false", False


def _object(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    return {
        name: sample(part, depth + 1)
        for name, part in properties.items()
        if isinstance(part, Mapping)
    }


def _number(schema: Mapping[str, Any]) -> Any:
    lowest = _amount(schema.get("minimum"), _amount(schema.get("exclusiveMinimum"), 0) + 1)
    highest = _amount(schema.get("maximum"), lowest)
    return max(lowest, min(1, highest)) if lowest <= 1 else lowest


def _text(schema: Mapping[str, Any]) -> str:
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        try:
            return _matching(regex.parse(pattern))
        except (re.error, RecursionError, OverflowError):
            return ""
    text = _FORMATS.get(str(schema.get("format")), "Example")
    least, most = _count(schema.get("minLength"), 0), _count(schema.get("maxLength"), _LONG)
    return text.ljust(least, "x")[:most]


def _matching(parsed: Sequence[Any]) -> str:
    """The shortest simple text that a pattern takes; what it cannot make it leaves out."""
    made = ""
    for operation, value in parsed:
        match str(operation):
            case "LITERAL":
                made += chr(value)
            case "IN":
                made += _member(value)
            case "ANY" | "NOT_LITERAL":
                made += "x"
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, _, inner = value
                made += _matching(inner) * min(least, _MOST)
            case "SUBPATTERN":
                made += _matching(value[-1])
            case "BRANCH":
                made += _matching(value[1][0])
        made = made[:_MOST]
    return made


def _count(given: Any, otherwise: int) -> int:
    return min(given, _MOST) if type(given) is int and given >= 0 else otherwise


def _amount(given: Any, otherwise: float) -> float:
    return given if type(given) in {int, float} else otherwise


def _member(choices: Sequence[Any]) -> str:
    for operation, value in choices:
        match str(operation):
            case "LITERAL":
                return chr(value)
            case "RANGE":
                return chr(value[0])
            case "CATEGORY":
                return {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}.get(str(value), "x")
    return "x"
