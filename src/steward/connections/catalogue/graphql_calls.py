"""Requests to GraphQL APIs: arguments travel as variables, and a selection is read before it is sent."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from steward.connections.catalogue.record import Operation
from steward.connections.catalogue.requests import WireRequest
from steward.connections.mcp.definitions import disarmed
from steward.core import Invalid, Problem

if TYPE_CHECKING:
    from graphql import SelectionSetNode

SELECTION: Final = "steward_selection"
"""The argument that says which fields of the answer are wanted."""
LONGEST_SELECTION: Final = 20_000
_ACCEPT: Final = "application/graphql-response+json, application/json;q=0.9"
_HEADERS: Final = {"Content-Type": "application/json", "Accept": _ACCEPT}
_MOST_TOKENS: Final = 2_000
_DEEPEST: Final = 10
_MOST_PROBLEMS: Final = 10


def introspection_request(url: str) -> WireRequest:
    """Asks an API to describe itself, in words that old servers know too."""
    from graphql import get_introspection_query

    body = json.dumps({"query": get_introspection_query()}).encode()
    return WireRequest("POST", url, dict(_HEADERS), body)


def write_graphql(operation: Operation, arguments: Mapping[str, Any], url: str) -> WireRequest:
    """The request for arguments that fit the operation's schema. Nothing of them becomes part of the document."""
    from graphql import (
        ArgumentNode,
        FieldNode,
        NameNode,
        OperationDefinitionNode,
        OperationType,
        SelectionSetNode,
        VariableDefinitionNode,
        VariableNode,
        parse_type,
        print_ast,
    )

    types: Mapping[str, str] = operation.extra["variables"]
    given = {name: arguments[name] for name in types if name in arguments}
    if "page_size" in operation.extra and not {"first", "last"} & given.keys():
        given["first"] = operation.extra["page_size"]
    names = {name: VariableNode(name=NameNode(value=name)) for name in given}
    usual = operation.arguments["properties"].get(SELECTION, {}).get("default")
    wanted = arguments.get(SELECTION, usual)
    field = FieldNode(
        name=NameNode(value=str(operation.extra["field"])),
        arguments=tuple(
            ArgumentNode(name=NameNode(value=name), value=each) for name, each in names.items()
        ),
        selection_set=_selection(operation, wanted) if isinstance(wanted, str) else None,
    )
    document = OperationDefinitionNode(
        operation=OperationType(operation.verb.lower()),
        name=NameNode(value="Steward"),
        variable_definitions=tuple(
            VariableDefinitionNode(variable=each, type=parse_type(types[name]))
            for name, each in names.items()
        ),
        selection_set=SelectionSetNode(selections=(field,)),
    )
    body = json.dumps({"query": print_ast(document), "variables": given}, ensure_ascii=False)
    return WireRequest("POST", url, dict(_HEADERS), body.encode())


def read_graphql(operation: Operation, value: Any) -> tuple[Any, tuple[str, ...]]:
    """What the operation answered, and what the API says went wrong."""
    if not isinstance(value, Mapping) or not ({"data", "errors"} & value.keys()):
        return value, ("The address did not answer as a GraphQL API does.",)
    data, told = value.get("data"), value.get("errors")
    found = data.get(operation.extra["field"]) if isinstance(data, Mapping) else None
    errors = told if isinstance(told, list) else []
    return found, tuple(_problem(each) for each in errors[:_MOST_PROBLEMS])


def _selection(operation: Operation, text: str) -> "SelectionSetNode":
    """A selection set and nothing else; with what says whether there are more pages, where there are pages."""
    from graphql import FieldNode, SelectionSetNode

    inner = text.strip()
    chosen = _parsed(inner if inner.startswith("{") else f"{{ {inner} }}")
    _require_plain(chosen)
    names = {each.name.value for each in chosen.selections if isinstance(each, FieldNode)}
    if operation.pagination is None or "pageInfo" in names:
        return chosen
    page = _parsed("{ pageInfo { hasNextPage endCursor } }")
    return SelectionSetNode(selections=(*chosen.selections, *page.selections))


def _parsed(text: str) -> "SelectionSetNode":
    from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse

    if len(text) > LONGEST_SELECTION + 4:
        raise _unfit(f"it has more than {LONGEST_SELECTION:,} characters")
    try:
        found = parse(text, no_location=True, max_tokens=_MOST_TOKENS)
    except (GraphQLError, RecursionError) as problem:
        raise _unfit(str(problem).splitlines()[0][:200]) from None
    (first, *more) = found.definitions
    if more or not isinstance(first, OperationDefinitionNode):
        raise _unfit("it holds more than one list of fields")
    is_plain = first.operation is OperationType.QUERY and first.name is None
    if not is_plain or first.variable_definitions:
        raise _unfit("it is a whole operation; give the part between its inner braces")
    return first.selection_set


def _require_plain(selection: "SelectionSetNode") -> None:
    """No variables, no fragments of elsewhere, nothing empty, nothing too deep."""
    from graphql import FragmentSpreadNode, Node, SelectionSetNode, VariableNode

    waiting: list[tuple[Node, int]] = [(selection, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, VariableNode):
            raise _unfit("it uses a variable")
        if isinstance(node, FragmentSpreadNode):
            raise _unfit("it names a fragment; write its fields instead")
        deeper = depth + isinstance(node, SelectionSetNode)
        if isinstance(node, SelectionSetNode) and not node.selections:
            raise _unfit("a list of fields is empty")
        if deeper > _DEEPEST:
            raise _unfit(f"it is nested more than {_DEEPEST} levels deep")
        for key in node.keys:
            inside = getattr(node, key)
            parts = inside if isinstance(inside, tuple | list) else (inside,)
            waiting.extend((each, deeper) for each in parts if isinstance(each, Node))


def _problem(told: Any) -> str:
    """In the API's own words, which are not ours to trust."""
    if not isinstance(told, Mapping):
        return "The API reports an error and does not say which."
    message = disarmed(str(told.get("message") or "no message"), 300)
    path = told.get("path")
    if isinstance(path, list) and path:
        where = disarmed(".".join(str(each) for each in path[:20]), 100)
        return f"{message} (at {where})"
    return message


def _unfit(why: str) -> Invalid:
    return Invalid(
        f"The selection of fields cannot be used: {why}.",
        code="graphql-selection",
        problems=[Problem(f"/{SELECTION}", why)],
    )
