"""Which fields of a GraphQL answer are asked for: plain values and one level of objects, within limits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
SCALARS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": _TEXT,
    "Boolean": {"type": "boolean"},
    "ID": _TEXT,
    # Not of the standard, but with these names all over.
    "DateTime": {"type": "string", "format": "date-time"},
    "Date": {"type": "string", "format": "date"},
    "Time": {"type": "string", "format": "time"},
    "UUID": _TEXT,
    "URI": {"type": "string", "format": "uri"},
    "URL": {"type": "string", "format": "uri"},
    "Email": {"type": "string", "format": "email"},
    "EmailAddress": {"type": "string", "format": "email"},
}
_MOST_FIELDS: Final = 60
"""Of one selection altogether."""
_WIDEST: Final = 30
_WIDEST_WITHIN: Final = 10
_MOST_MEMBERS: Final = 5


@dataclass(frozen=True)
class Selection:
    text: str
    """With its braces; empty where the answer is a plain value."""
    schema: dict[str, Any]
    """JSON Schema of an answer with these fields."""


class _Room:
    """How many more fields fit."""

    def __init__(self) -> None:
        self.left = _MOST_FIELDS

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def selection_of(schema: GraphQLSchema, kind: GraphQLOutputType) -> Selection:
    """What is asked for unless a person wants something else."""
    lines, found = _selected(schema, kind, 1, _Room())
    text = "\n".join(["{", *(f"  {line}" for line in lines), "}"]) if lines else ""
    return Selection(text, found)


def connection_items(kind: GraphQLOutputType) -> str | None:
    """The field with the items, where the type has pages as Relay's specification wants them."""
    named = get_named_type(kind)
    if not isinstance(named, GraphQLObjectType) or _is_list(kind):
        return None
    about = named.fields.get("pageInfo")
    page = get_named_type(about.type) if about is not None else None
    if not isinstance(page, GraphQLObjectType) or not {"hasNextPage", "endCursor"} <= set(
        page.fields
    ):
        return None
    return next((each for each in ("nodes", "edges") if each in named.fields), None)


def _selected(
    schema: GraphQLSchema, kind: GraphQLOutputType, depth: int, room: _Room
) -> tuple[list[str], dict[str, Any]]:
    """Lines of the selection and the schema of the answer."""
    if isinstance(kind, GraphQLNonNull):
        return _selected(schema, kind.of_type, depth, room)
    if isinstance(kind, GraphQLList):
        lines, inner = _selected(schema, kind.of_type, depth, room)
        return lines, {"type": "array", "items": inner}
    if isinstance(kind, GraphQLEnumType):
        return [], {"type": "string"}
    if isinstance(kind, GraphQLScalarType):
        return [], dict(SCALARS.get(kind.name, {}))
    items = connection_items(kind)
    if isinstance(kind, GraphQLObjectType) and items is not None:
        lines, fields = _connection(schema, kind, items, depth, room)
    else:
        lines, fields = _object(schema, kind, depth, room)
    return lines or ["__typename"], {"type": "object", "properties": fields}


def _connection(
    schema: GraphQLSchema, kind: GraphQLObjectType, items: str, depth: int, room: _Room
) -> tuple[list[str], dict[str, Any]]:
    lines: list[str] = []
    fields: dict[str, Any] = {}
    total = kind.fields.get("totalCount")
    if total is not None and _is_plain(total):
        _add(lines, fields, "totalCount", *_selected(schema, total.type, 0, room))
    listed = kind.fields[items].type
    edge = get_named_type(listed)
    if items == "edges" and isinstance(edge, GraphQLObjectType) and "node" in edge.fields:
        inner: list[str] = []
        found: dict[str, Any] = {"type": "object", "properties": {}}
        node = _selected(schema, edge.fields["node"].type, depth, room)
        _add(inner, found["properties"], "node", *node)
        found = {"type": "array", "items": found}
    else:
        inner, found = _selected(schema, listed, depth, room)
    _add(lines, fields, items, inner, found)
    page = {"hasNextPage": {"type": "boolean"}, "endCursor": {"type": "string"}}
    about = {"type": "object", "properties": page}
    _add(lines, fields, "pageInfo", list(page), about)
    return lines, fields


def _object(
    schema: GraphQLSchema, kind: GraphQLNamedType, depth: int, room: _Room
) -> tuple[list[str], dict[str, Any]]:
    lines: list[str] = []
    fields: dict[str, Any] = {}
    if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType):
        lines.append("__typename")
        fields["__typename"] = dict(_TEXT)
    if isinstance(kind, GraphQLUnionType):
        return [*lines, *_members(kind, room)], fields
    if not isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        return lines, fields
    widest = _WIDEST if depth else _WIDEST_WITHIN
    usable = [(name, each) for name, each in kind.fields.items() if _is_usable(each)]
    plain = [(name, each) for name, each in usable if _is_plain(each)][:widest]
    # Deeper objects come last: what does not fit any more is what says least.
    objects = [(name, each) for name, each in usable if _is_object(each)] if depth else []
    for name, each in [*plain, *objects]:
        if not room.take():
            break
        _add(lines, fields, name, *_selected(schema, each.type, depth - 1, room))
    return lines, fields


def _members(kind: GraphQLUnionType, room: _Room) -> Iterator[str]:
    """Plain fields of a union's types; a name that two of them give different types to is taken once."""
    known: dict[str, str] = {}
    for member in kind.types[:_MOST_MEMBERS]:
        names: list[str] = []
        for name, each in member.fields.items():
            fits = known.setdefault(name, str(each.type)) == str(each.type)
            if _is_usable(each) and _is_plain(each) and fits and len(names) < _WIDEST_WITHIN:
                if not room.take():
                    break
                names.append(name)
        if names:
            yield f"... on {member.name} {{"
            yield from (f"  {name}" for name in names)
            yield "}"


def _add(
    lines: list[str], fields: dict[str, Any], name: str, inner: list[str], found: dict[str, Any]
) -> None:
    fields[name] = found
    if inner:
        lines.extend([f"{name} {{", *(f"  {each}" for each in inner), "}"])
    else:
        lines.append(name)


def _is_usable(field: GraphQLField) -> bool:
    return field.deprecation_reason is None and not any(
        is_required_argument(each) for each in field.args.values()
    )


def _is_plain(field: GraphQLField) -> bool:
    return is_leaf_type(get_named_type(field.type))


def _is_object(field: GraphQLField) -> bool:
    """One that can be asked for without saying how much of it is wanted."""
    return not _is_plain(field) and not field.args and connection_items(field.type) is None


def _is_list(kind: GraphQLOutputType) -> bool:
    inner = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
    return isinstance(inner, GraphQLList)
