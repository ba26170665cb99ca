"""Whether what a node passes on fits what is expected: literals by JSON Schema, expressions by declared types."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from steward.broker import KINDS, Schema, field_of, kinds_of, problems_of, resolved
from steward.core import Problem
from steward.flows.expressions import Expression, ExpressionError, Path, escaped, expressions_in
from steward.flows.expressions import template as parsed_text
from steward.runs import Json

if TYPE_CHECKING:
    from steward.flows._typing import Reading, Type

Known = Mapping[tuple[str, ...], Schema]
"""Declared schemas of what expressions read, by the start of the path: ("inputs",), ("nodes", id, "output")."""


def fitting(
    given: Mapping[str, Json], schema: Schema, pointers: Mapping[str, str], at: str, known: Known
) -> Iterator[Problem]:
    """Problems of an object of templates against the schema of what it becomes."""
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in given:
            yield Problem(at, f"the argument {name!r} is missing")
    for name, value in given.items():
        where = pointers.get(name, f"{at}/{escaped(name)}")
        if name in fields:
            yield from _value(value, fields[name], schema, where, known)
        elif schema.get("additionalProperties") is False:
            listed = ", ".join(sorted(fields)) or "none"
            yield Problem(where, f"there is no argument {name!r}; there are {listed}")


def _value(value: Json, schema: Any, root: Schema, at: str, known: Known) -> Iterator[Problem]:
    schema = resolved(schema, root)
    if not any(True for _ in expressions_in(value)):
        if isinstance(schema, Mapping):
            definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
            literal = _unescaped(value)
            yield from problems_of({**definitions, **schema}, literal, at)
    elif isinstance(value, str):
        yield from _text(value, schema, root, at, known)
    elif isinstance(value, dict):
        if "object" not in kinds_of(schema, root):
            yield Problem(at, f"must be {_words(kinds_of(schema, root))}, not object")
            return
        for name, item in value.items():
            inner = field_of(schema, name, root, closed=False)
            if inner is None:
                yield Problem(f"{at}/{escaped(name)}", "is not known here")
            else:
                yield from _value(item, inner, root, f"{at}/{escaped(name)}", known)
    else:
        if "array" not in kinds_of(schema, root):
            yield Problem(at, f"must be {_words(kinds_of(schema, root))}, not array")
        items = schema.get("items", True) if isinstance(schema, Mapping) else True
        for index, item in enumerate(value):
            yield from _value(item, items, root, f"{at}/{index}", known)


def _text(text: str, schema: Any, root: Schema, at: str, known: Known) -> Iterator[Problem]:
    try:
        parts = parsed_text(text)
    except ExpressionError:
        # Reported where all expressions are.
        return
    wanted = kinds_of(schema, root)
    given = frozenset({"string"}) if parts.only is None else kinds_given(parts.only, known)
    if not given & wanted:
        yield Problem(at, f"must be {_words(wanted)}; the expression gives {_words(given)}")


def kinds_given(parsed: Expression, known: Known) -> frozenset[str]:
    """The types an expression can give, where they are declared; every type where not."""
    try:
        kinds = parsed.type(reading(known)).kinds
    except ExpressionError:
        # Reported where all expressions are.
        return KINDS
    return kinds | {"integer"} if "number" in kinds else kinds


def reading(known: Known) -> "Reading":
    """The types of references, as far as they are declared."""
    from steward.flows._typing import ANY, of_schema

    def read(path: Path) -> "Type":
        found = declared(path, known)
        return ANY if found is None or found is True else of_schema(*found)

    return read


def declared(path: Path, known: Known) -> tuple[Any, Schema] | Literal[True] | None:
    """The schema at the end of a path with its root; None when there is no such field; True when unknown."""
    length = 3 if path.root == "nodes" else 1
    root = known.get(path.names[:length])
    if root is None:
        return True
    schema: Any = root
    for name in path.names[length:]:
        schema = field_of(schema, name, root, closed=path.root == "inputs")
        if schema is None:
            return None
        if schema is True:
            return True
    return schema, root


def _unescaped(value: Json) -> Json:
    if isinstance(value, str):
        return value.replace("$${", "${")
    if isinstance(value, list):
        return [_unescaped(item) for item in value]
    if isinstance(value, dict):
        return {key: _unescaped(item) for key, item in value.items()}
    return value


def _words(kinds: frozenset[str]) -> str:
    shown = kinds - {"integer"} if "number" in kinds else kinds
    return " or ".join(sorted(shown)) or "nothing"
