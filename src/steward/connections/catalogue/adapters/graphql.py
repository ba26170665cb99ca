"""GraphQL APIs, as their own introspection or their schema language describes them: each root field is an operation."""

import re
from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLError,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    build_ast_schema,
    build_client_schema,
    is_required_argument,
    is_required_input_field,
    parse,
    print_ast,
)
from graphql.utilities import get_default_value_ast

from steward.connections.catalogue.adapters.graphql_selections import (
    SCALARS,
    connection_items,
    selection_of,
)
from steward.connections.catalogue.graphql_calls import LONGEST_SELECTION, SELECTION
from steward.connections.catalogue.names import MOST_OPERATIONS, named, slug, too_many
from steward.connections.catalogue.record import (
    DESTROY,
    READ,
    SEND,
    LeftOut,
    Operation,
    Pagination,
    Scheme,
    Service,
)
from steward.connections.catalogue.schemas import SchemaCopy
from steward.connections.mcp.definitions import disarmed
from steward.core import Invalid, TooLarge

_PAGE_SIZE: Final = 20
_MOST_TOKENS: Final = 600_000
_DEFINES: Final = re.compile(r"^(?:extend\s+)?(?:type|schema|interface)\b[^:\n]*\{", re.MULTILINE)
_OTHER: Final = re.compile(r"""^["']?(?:openapi|swagger|kind)["']?\s*:""", re.MULTILINE)
# What the library raises for schemas that are no schemas.
_WRONG: Final = (GraphQLError, TypeError, KeyError, ValueError, AttributeError)
_DESTROYS: Final = frozenset(
    {"delete", "remove", "destroy", "purge", "terminate", "revoke", "erase", "wipe", "drop", "truncate"}
)  # fmt: skip


def is_introspection(document: Mapping[str, Any]) -> bool:
    return isinstance(_introspected(document).get("__schema"), Mapping)


def is_schema_language(content: bytes) -> bool:
    """Whether a text defines GraphQL types, and is not another description that quotes some."""
    text = content.decode("utf-8-sig", "replace")
    if text.lstrip()[:1] in {"{", "["} or _OTHER.search(text):
        return False
    return _DEFINES.search(text) is not None


def read_introspection(document: Mapping[str, Any]) -> GraphQLSchema:
    try:
        return build_client_schema(dict(_introspected(document)), assume_valid=True)  # type: ignore[arg-type]
    except _WRONG as problem:
        raise _unreadable(problem) from None


def read_schema_language(content: bytes) -> GraphQLSchema:
    try:
        text = content.decode("utf-8-sig")
        found = parse(text, no_location=True, max_tokens=_MOST_TOKENS)
        return build_ast_schema(found, assume_valid=True, assume_valid_sdl=True)
    except RecursionError:
        raise _too_deep() from None
    except _WRONG as problem:
        if f"more than {_MOST_TOKENS}" in str(problem):
            raise TooLarge(
                f"The schema has more than {_MOST_TOKENS:,} words and signs. Install a part of it.",
                code="description-too-large",
            ) from None
        raise _unreadable(problem) from None


def describe(schema: GraphQLSchema, sha256: str, address: str = "", name: str = "") -> Service:
    """The service; `address` is where the API answers, where that is known."""
    try:
        operations, left_out = _operations(schema)
    except RecursionError:
        raise _too_deep() from None
    except _WRONG as problem:
        raise _unreadable(problem) from None
    if not operations:
        raise Invalid("The schema has neither queries nor mutations.", code="empty")
    title = name.replace("-", " ").capitalize() or "GraphQL API"
    return Service(
        id=slug(name or "graphql"),
        title=disarmed(title, 100),
        description=disarmed(schema.description or "", 500),
        vendor=disarmed(title, 100),
        adapter="graphql",
        version="",
        licence="",
        sha256=sha256,
        base_url=address,
        schemes=(Scheme("bearer", "bearer"),),
        operations=tuple(operations),
        left_out=tuple(left_out),
    )


def risk_of(name: str) -> str:
    """Of a mutation. Every one may change something; the verb in its name can only raise that."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")
    return DESTROY if {words[0], words[-1]} & _DESTROYS else SEND


def _operations(schema: GraphQLSchema) -> tuple[list[Operation], list[LeftOut]]:
    taken: set[str] = set()
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    for kind, root in (("query", schema.query_type), ("mutation", schema.mutation_type)):
        for key, field in (root.fields if root is not None else {}).items():
            if len(found) + len(left_out) >= MOST_OPERATIONS:
                raise too_many()
            name = named(key, f"{kind}.{key}", taken)
            if name is None:
                left_out.append(LeftOut(key[:200], "another operation has the same name"))
            elif SELECTION in field.args:
                left_out.append(LeftOut(key[:200], f"it has an argument called {SELECTION}"))
            else:
                taken.add(name)
                found.append(_operation(schema, kind, key, name, field))
    events = schema.subscription_type
    left_out.extend(
        LeftOut(key[:200], "it is a subscription, which never ends")
        for key in list(events.fields if events is not None else {})[:200]
    )
    return found, left_out


def _operation(
    schema: GraphQLSchema, kind: str, key: str, name: str, field: GraphQLField
) -> Operation:
    copy = SchemaCopy(lambda ref: _input_object(schema, ref))
    fields = {each: copy.take(_argument(argument)) for each, argument in field.args.items()}
    needed = [each for each, argument in field.args.items() if is_required_argument(argument)]
    selected = selection_of(schema, field.type)
    arguments: dict[str, Any] = {
        "type": "object",
        "properties": fields,
        "additionalProperties": False,
    }
    if needed:
        arguments["required"] = needed
    arguments = copy.finish(arguments)
    if selected.text:
        arguments["properties"][SELECTION] = {
            "type": "string",
            "format": "multiline",
            "maxLength": LONGEST_SELECTION,
            "default": selected.text,
            "description": "Which fields of the answer you want, as GraphQL writes them.",
        }
    items = connection_items(field.type) if "after" in field.args else None
    if items and "first" in field.args and "first" not in needed:
        fields = arguments["properties"]
        said = fields["first"].get("description", "")
        told = f"{said} Without a value: {_PAGE_SIZE}.".strip()
        fields["first"] = {**fields["first"], "description": told}
    # Many servers refuse a list of which nobody says how long it may be.
    page_size = {"page_size": _PAGE_SIZE} if items and "first" in field.args else {}
    return Operation(
        name=name,
        title=_title(key),
        description=disarmed(field.description or "", 500),
        verb=kind.upper(),
        path=key,
        arguments=arguments,
        body="application/json",
        risk=READ if kind == "query" else risk_of(key),
        pagination=Pagination("token", "after", "pageInfo.endCursor", items, "pageInfo.hasNextPage")
        if items
        else None,
        answer=selected.schema,
        deprecated=field.deprecation_reason is not None,
        extra={
            "field": key,
            "variables": {each: str(argument.type) for each, argument in field.args.items()},
            **page_size,
        },
    )


def _argument(argument: GraphQLArgument) -> dict[str, Any]:
    said = argument.description or ""
    otherwise = get_default_value_ast(argument)
    if otherwise is not None:
        said = f"{said} Without a value: {print_ast(otherwise)[:100]}.".strip()
    found = _input(argument.type)
    return {**found, **({"description": said} if said else {})}


def _input(kind: GraphQLInputType) -> dict[str, Any]:
    if isinstance(kind, GraphQLNonNull):
        return _input(kind.of_type)
    if isinstance(kind, GraphQLList):
        return {"type": "array", "items": _input(kind.of_type)}
    if isinstance(kind, GraphQLEnumType):
        return {"type": "string", "enum": list(kind.values)}
    if isinstance(kind, GraphQLInputObjectType):
        return {"$ref": kind.name}
    assert isinstance(kind, GraphQLScalarType)  # noqa: S101
    known = SCALARS.get(kind.name)
    return dict(known) if known is not None else {"description": kind.description or kind.name}


def _input_object(schema: GraphQLSchema, name: str) -> dict[str, Any] | None:
    kind = schema.get_type(name)
    if not isinstance(kind, GraphQLInputObjectType):
        return None
    fields = {}
    for key, each in kind.fields.items():
        may_be_null = {} if isinstance(each.type, GraphQLNonNull) else {"nullable": True}
        said = {"description": each.description} if each.description else {}
        fields[key] = {**_input(each.type), **may_be_null, **said}
    return {
        "type": "object",
        "properties": fields,
        "required": [key for key, each in kind.fields.items() if is_required_input_field(each)],
        **({"minProperties": 1, "maxProperties": 1} if kind.is_one_of else {}),
        **({"description": kind.description} if kind.description else {}),
    }


def _introspected(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer to an introspection, or what such an answer holds as its data."""
    data = document.get("data")
    return data if isinstance(data, Mapping) else document


def _title(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name).split()
    return " ".join([words[0].capitalize(), *(each.lower() for each in words[1:])])


def _too_deep() -> TooLarge:
    return TooLarge("The schema is nested too deeply.", code="description-too-deep")


def _unreadable(problem: Exception) -> Invalid:
    first = str(problem).partition("\n")[0]
    why = disarmed(first, 200).rstrip(". ")
    return Invalid(
        f"The GraphQL schema cannot be read: {why or 'it is not complete'}.",
        code="description-unreadable",
    )
