"""The contract of node types: what every type keeps, whoever wrote it."""

import json
import sys
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import ValidationError

from steward.flows import Node, Reads

_UNFINISHED = {"missing", "too_short", "string_too_short", "value_error", "string_pattern_mismatch"}
"""A starter may leave to the person what only they can fill in."""


def check_node(name: str, kind: type[Node]) -> None:
    """AssertionError says what a type of node does not keep."""
    told = (sys.modules[kind.__module__].__doc__ or "").strip()
    assert told, f"the module of {name} says nothing about it; the palette shows its docstring"
    assert kind.group, f"{name} is in no group of the palette"
    Draft202012Validator.check_schema(kind.model_json_schema())
    for starter in kind.starters:
        assert starter.title, f"a starter of {name} has no title"
        _check_starter(name, kind, dict(starter.fields))
    try:
        kind.model_validate({"id": "one", "type": name, "no such field": 1})
    except ValidationError as problem:
        found = [each["type"] for each in problem.errors()]
        assert "extra_forbidden" in found, f"{name} takes fields that it does not have"
    else:
        raise AssertionError(f"{name} takes fields that it does not have")


def _check_starter(name: str, kind: type[Node], fields: dict[str, Any]) -> None:
    try:
        node = kind.model_validate({"id": "one", "type": name, **fields})
    except ValidationError as problem:
        wrong = [each for each in problem.errors() if each["type"] not in _UNFINISHED]
        assert not wrong, f"a new {name} is wrong: {wrong[0]['loc']}: {wrong[0]['msg']}"
        return
    assert node.type == name, f"a new {name} says that it is a {node.type}"
    dumped = node.model_dump(mode="json", exclude_defaults=True)
    json.dumps(dumped)
    assert kind.model_validate(dumped | {"type": name}) == node, (
        f"{name} is not what was stored of it"
    )
    assert len(set(node.ports())) == len(node.ports()), f"{name} has two ways out of one name"
    for pointer, mark, _ in node.reads():
        assert pointer.startswith("/"), f"{name} reads {pointer!r}, which is no JSON pointer"
        assert isinstance(mark, Reads), f"{name} does not say how {pointer} is read"
    schema = node.output_schema({})
    if schema is not None:
        Draft202012Validator.check_schema(schema)
