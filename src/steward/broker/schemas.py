"""JSON Schema: what a schema says about a value, about a field, and about the kinds of value it takes."""

import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator, validators  # type: ignore[import-untyped]
from jsonschema.exceptions import SchemaError, ValidationError  # type: ignore[import-untyped]
from referencing import Registry
from referencing.exceptions import Unresolvable

from steward.core import Problem
from steward.runs import Json, canonical

Schema = Mapping[str, Any]
_MOST_STEPS: Final = 100_000
"""Keywords that are looked at for one value: a second or two."""
VALUES: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords that hold values and no schemas."""
NAMED: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
"""Keywords that hold schemas by names that their author chose."""


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Any:
    """As the standard has it, but in linear time: schemas come from people."""
    if not isinstance(instance, str):
        return
    if not _compiles(pattern):
        yield ValidationError(f"cannot be compared with the pattern {pattern!r}")
    elif re2.search(pattern, instance) is None:
        yield ValidationError(f"does not match the pattern {pattern!r}")


def _unique_items(_: Any, wanted: bool, instance: Any, __: Any) -> Any:
    """As the standard has it, but without comparing each with each."""
    if wanted and isinstance(instance, list):
        known = {canonical(json.loads(canonical(item), parse_float=_number)) for item in instance}
        if len(known) < len(instance):
            yield ValidationError("has an item twice")


def _number(text: str) -> int | float:
    """1.0 is 1 in JSON Schema."""
    number = float(text)
    return int(number) if number.is_integer() else number


class _Endless(Exception):
    """A schema that makes more of a value than it is worth looking at."""


_steps: ContextVar[Iterator[int]] = ContextVar("steps of a validation")


def _counted(keyword: Any) -> Any:
    """The keyword, which may be looked at so many times: a few references can make millions of ways."""

    def look(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
        if next(_steps.get(), None) is None:
            raise _Endless
        return keyword(validator, wanted, instance, schema)

    return look


_NOTHING_ELSE: Final[Registry[Any]] = Registry()
"""An empty registry: the default one would fetch foreign schemas over the network."""
_Validator: Final = validators.extend(
    Draft202012Validator,
    {
        name: _counted(keyword)
        for name, keyword in {
            **Draft202012Validator.VALIDATORS,
            "pattern": _pattern,
            "uniqueItems": _unique_items,
        }.items()
    },
)


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    """Made once for all values of a schema: to set one up takes as long as to look at a small value."""
    return _Validator(json.loads(schema), registry=_NOTHING_ELSE)


def schema_problem(schema: Json) -> str | None:
    """What is wrong with a schema itself."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as problem:
        return f"not a JSON Schema: {_said(problem)}"
    for keyword, value in _keywords(schema):
        if keyword in {"patternProperties", "$dynamicRef"}:
            return f"`{keyword}` is not supported"
        if keyword == "$ref" and not str(value).startswith("#"):
            return "a `$ref` must stay within the schema"
        if keyword == "pattern" and isinstance(value, str) and not _compiles(value):
            return f"the pattern {value!r} is not a regular expression"
    return None


def problems_of(schema: Schema, value: Json, pointer: str = "") -> list[Problem]:
    """Where a value breaks a schema, each with its JSON pointer."""
    validator = _validator(canonical(schema))
    found: list[Problem] = []
    token = _steps.set(iter(range(_MOST_STEPS)))
    try:
        for error in validator.iter_errors(value):
            path = "".join(f"/{_escaped(str(part))}" for part in error.absolute_path)
            found.append(Problem(pointer + path, _said(error)))
    except Unresolvable:
        found.append(Problem(pointer, "its schema refers to a part that does not exist"))
    except (_Endless, RecursionError):
        found.append(
            Problem(
                pointer, "its schema refers to itself, or has too many parts for a value like this"
            )
        )
    finally:
        _steps.reset(token)
    return sorted(found, key=lambda problem: problem.pointer)


def first_problem(schema: Schema, value: Json) -> str | None:
    """The first thing wrong with a value, as a sentence; None when it is right."""
    found = problems_of(schema, value)
    if not found:
        return None
    where = f"{found[0].pointer}: " if found[0].pointer else ""
    return f"{where}{found[0].message}"


def with_defaults(schema: Schema, value: Json) -> Json:
    """An object with the defaults of its top-level fields."""
    if not isinstance(value, dict):
        return value
    fields = schema.get("properties", {})
    defaults = {
        name: field["default"]
        for name, field in fields.items()
        if isinstance(field, Mapping) and "default" in field
    }
    return {**defaults, **value}


KINDS: Final = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})


def kinds_of(schema: Any, root: Schema) -> frozenset[str]:
    """The types of JSON value that can fulfil a schema, as far as it says."""
    return _kinds(schema, root, {})


def _kinds(schema: Any, root: Schema, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """Each part is looked at once, however often it is referred to; one that refers to itself says nothing more."""
    schema = resolved(schema, root)
    if schema is True or not isinstance(schema, Mapping):
        return KINDS
    if id(schema) in known:
        return known[id(schema)]
    known[id(schema)] = found = KINDS
    if "type" in schema:
        said = schema["type"]
        found = frozenset([said] if isinstance(said, str) else said)
    if "const" in schema:
        found &= {kind_of(schema["const"])}
    if "enum" in schema:
        found &= {kind_of(value) for value in schema["enum"]} | {"number", "integer"}
    for word in ("anyOf", "oneOf"):
        if word in schema:
            options = (_kinds(option, root, known) for option in schema[word])
            found &= frozenset[str]().union(*options)
    known[id(schema)] = found | {"integer"} if "number" in found else found
    return known[id(schema)]


def kind_of(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def field_of(schema: Any, name: str, root: Schema, *, closed: bool) -> Any:
    """The schema of a field; `None` when there is no such field, `True` when nothing is known.

    `closed` refuses fields that are not listed even where the schema does not forbid them.
    """
    schema = resolved(schema, root)
    if not isinstance(schema, Mapping):
        return True
    for word in ("anyOf", "oneOf"):
        if word in schema:
            options = [field_of(option, name, root, closed=closed) for option in schema[word]]
            known = [option for option in options if option is not None]
            return {"anyOf": known} if known else None
    if "object" not in kinds_of(schema, root):
        return None
    fields = schema.get("properties", {})
    if name in fields:
        return fields[name]
    further = schema.get("additionalProperties", not (closed and fields))
    return None if further is False else further


def resolved(schema: Any, root: Schema) -> Any:
    """Follows references within the schema; a circle says nothing."""
    for _ in range(20):
        if not (isinstance(schema, Mapping) and str(schema.get("$ref", "")).startswith("#/")):
            return schema
        schema = _referred(schema["$ref"], root)
    return True


def _referred(reference: str, root: Schema) -> Any:
    """The schema at a pointer; values that stand in a schema, such as a default, are none."""
    found: Any = root
    is_name = False
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if name in VALUES and not is_name:
            return True
        is_name = name in NAMED and not is_name
        found = found.get(name, True) if isinstance(found, Mapping) else True
    return found


def _escaped(segment: str) -> str:
    """A name as a JSON pointer spells it."""
    return segment.replace("~", "~0").replace("/", "~1")


def _keywords(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            yield key, value
            if key not in VALUES:
                yield from _keywords(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _keywords(item)


def _compiles(pattern: str) -> bool:
    try:
        re2.compile(pattern)
    except re2.error:
        return False
    return True


def _said(error: ValidationError) -> str:
    """The library's message without the value, which may be large or private."""
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"{missing[0]!r} is missing" if missing else "a field is missing"
        case "type":
            wanted = error.validator_value
            words = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"must be {words}, not {kind_of(error.instance)}"
        case "additionalProperties":
            known = set(error.schema.get("properties", {}))
            extra = sorted(set(error.instance) - known)
            return f"{extra[0]!r} is not known here" if extra else "has a field too many"
        case "enum":
            return f"must be one of {', '.join(map(repr, error.validator_value[:20]))}"
        case _:
            return f"does not fulfil {error.validator}: {str(error.validator_value)[:100]}"
