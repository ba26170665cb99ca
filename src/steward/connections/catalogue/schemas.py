"""JSON Schemas of operations: copied from a description, complete in themselves, bounded, without anything that runs away."""

import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from steward.connections.mcp.definitions import disarmed

LARGEST: Final = 48 << 10
"""Bytes of JSON for the arguments of one operation; what lies deeper is accepted as it is given."""
_MOST_NAMES: Final = 300
_DEEPEST: Final = 12
_LONGEST_TEXT: Final = 300
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})
_COUNTS: Final = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
)
_NUMBERS: Final = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_LISTS: Final = ("allOf", "anyOf", "oneOf")
Resolve = Callable[[str], Any]
"""The schema that a reference names, or None where it leads nowhere in this document."""


class SchemaCopy:
    """Gathers schemas of one operation into one: what they refer to comes along under `$defs`, while there is room."""

    def __init__(self, resolve: Resolve, *, inbound: bool = True) -> None:
        """`inbound` leaves out what only answers hold (`readOnly`)."""
        self._resolve = resolve
        self._inbound = inbound
        self._names: dict[str, str] = {}
        self._waiting: deque[str] = deque()

    def take(self, schema: Any) -> dict[str, Any]:
        """A copy that may refer to `#/$defs/…`; call `finish` once everything was taken."""
        return self._copied(schema, 0)

    def finish(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The whole schema with what it refers to."""
        spent = len(json.dumps(schema))
        kept: dict[str, Any] = {}
        while self._waiting:
            ref = self._waiting.popleft()
            # Nearest first: what does not fit any more is what lies deepest.
            if spent > LARGEST or len(kept) >= _MOST_NAMES:
                kept[self._names[ref]] = {}
                continue
            copied = self._copied(self._resolve(ref), 0)
            size = len(json.dumps(copied))
            kept[self._names[ref]] = copied if spent + size <= LARGEST else _outline(copied)
            spent += size if spent + size <= LARGEST else 0
        _cut_circles(kept)
        kept = {name: each for name, each in kept.items() if each}
        whole = {**schema, "$defs": kept} if kept else dict(schema)
        found: dict[str, Any] = _without_empty(whole, kept)
        return found

    def _copied(self, schema: Any, depth: int) -> dict[str, Any]:
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return {}
        if isinstance(schema.get("$ref"), str):
            return self._referred(schema["$ref"])
        found: dict[str, Any] = {}
        _copy_type(schema, found)
        _copy_bounds(schema, found)
        _copy_words(schema, found)
        for word in _LISTS:
            options = schema.get(word)
            if isinstance(options, list) and options:
                found[word] = [self._copied(each, depth + 1) for each in options[:50]]
        if isinstance(schema.get("items"), Mapping):
            found["items"] = self._copied(schema["items"], depth + 1)
        self._copy_fields(schema, found, depth)
        return found

    def _copy_fields(self, schema: Mapping[str, Any], found: dict[str, Any], depth: int) -> None:
        fields = schema.get("properties")
        known: dict[str, Any] = {}
        hidden: set[str] = set()
        if isinstance(fields, Mapping):
            for name, inner in fields.items():
                if self._inbound and isinstance(inner, Mapping) and inner.get("readOnly") is True:
                    hidden.add(str(name))
                else:
                    known[str(name)] = self._copied(inner, depth + 1)
            found["properties"] = known
        needed = schema.get("required")
        if isinstance(needed, list):
            wanted = sorted({str(each) for each in needed if isinstance(each, str)} - hidden)
            if wanted:
                found["required"] = wanted
        further = schema.get("additionalProperties")
        if isinstance(further, Mapping):
            found["additionalProperties"] = self._copied(further, depth + 1)

    def _referred(self, ref: str) -> dict[str, Any]:
        if ref not in self._names:
            if self._resolve(ref) is None:
                return {}
            base = "".join(c if c.isalnum() else "_" for c in ref.rsplit("/", 1)[-1])[:60] or "x"
            taken = set(self._names.values())
            name, number = base, 2
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            self._names[ref] = name
            self._waiting.append(ref)
        return {"$ref": f"#/$defs/{self._names[ref]}"}


def _copy_type(schema: Mapping[str, Any], found: dict[str, Any]) -> None:
    said = schema.get("type")
    kinds = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    known = [each for each in dict.fromkeys(kinds) if each in _TYPES]
    if "file" in kinds:
        known, found["format"] = ["string"], "binary"
    if known and schema.get("nullable") is True and "null" not in known:
        known.append("null")
    if known:
        found["type"] = known[0] if len(known) == 1 else known


def _copy_bounds(schema: Mapping[str, Any], found: dict[str, Any]) -> None:
    for word in _COUNTS & schema.keys():
        if _is_count(schema[word]):
            found[word] = schema[word]
    for word, exclusive in _NUMBERS.items():
        if _is_number(schema.get(word)):
            # OpenAPI 3.0 says with a boolean what JSON Schema says with a number.
            found[exclusive if schema.get(exclusive) is True else word] = schema[word]
        if _is_number(schema.get(exclusive)):
            found[exclusive] = schema[exclusive]


def _copy_words(schema: Mapping[str, Any], found: dict[str, Any]) -> None:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and len(choices) <= 500:
        nothing = [None] if "null" in found.get("type", ()) and None not in choices else []
        found["enum"] = [*choices, *nothing]
    if "const" in schema:
        found["const"] = schema["const"]
    if isinstance(schema.get("format"), str):
        found["format"] = schema["format"][:40]
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= 500 and compiles(pattern):
        found["pattern"] = pattern
    text = schema.get("description") or schema.get("title")
    if isinstance(text, str):
        found["description"] = disarmed(text, _LONGEST_TEXT)


def compiles(pattern: str) -> bool:
    """Whether a pattern can be checked in linear time."""
    quiet = re2.Options()
    quiet.log_errors = False
    try:
        re2.compile(pattern, quiet)
    except re2.error:
        return False
    return True


def _outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Only what kind of value it is, where the rest is too large."""
    return {key: schema[key] for key in ("type", "description") if key in schema}


def _cut_circles(named: dict[str, Any]) -> None:
    """Cuts references that lead back to where they started without going into the value: no validator survives them."""
    done: set[str] = set()

    def follow(name: str, path: tuple[str, ...]) -> None:
        if name in done or name not in named:
            return
        for schema in _in_place(named[name]):
            ref = schema.get("$ref")
            if not isinstance(ref, str):
                continue
            target = ref.removeprefix("#/$defs/")
            if target in path or target == name:
                del schema["$ref"]
            else:
                follow(target, (*path, name))
        done.add(name)

    for each in list(named):
        follow(each, ())


def _in_place(schema: Any) -> list[dict[str, Any]]:
    """The schema and those that speak of the same value."""
    found: list[dict[str, Any]] = []
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found.append(each)
            for word in _LISTS:
                waiting.extend(each.get(word, ()))
    return found


def _without_empty(schema: Any, named: Mapping[str, Any]) -> Any:
    """The schema with references to nothing taken out."""
    if isinstance(schema, list):
        return [_without_empty(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref.removeprefix("#/$defs/") not in named:
        return {}
    return {
        key: value
        if key in {"enum", "const", "required", "type"}
        else {name: _without_empty(each, named) for name, each in value.items()}
        if key in {"properties", "$defs"}
        else _without_empty(value, named)
        for key, value in schema.items()
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
