"""Schemas come from people and from servers of others: none of them keeps its reader busy."""

from typing import Any

import pytest

from steward.broker.role_proposals import propose_roles
from steward.broker.schemas import first_problem, kinds_of, problems_of


def _doubling(levels: int) -> dict[str, Any]:
    """Each level refers twice to the next one: two to the power of the levels ways to the last."""
    parts: dict[str, Any] = {
        f"level{n}": {"anyOf": [{"$ref": f"#/$defs/level{n + 1}"}] * 2} for n in range(levels)
    }
    parts[f"level{levels}"] = {"type": "string"}
    return {"$defs": parts, "$ref": "#/$defs/level0"}


CIRCLES = {
    "itself": {"$ref": "#"},
    "one of itself": {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
    "each other": {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        "$ref": "#/$defs/a",
    },
}


@pytest.mark.parametrize("schema", [*CIRCLES.values(), _doubling(17)], ids=[*CIRCLES, "doubling"])
def test_a_schema_without_an_end_is_a_problem_of_the_value(schema: dict[str, Any]) -> None:
    assert "refers to itself" in (first_problem(schema, 1) or "")


def test_a_schema_that_describes_a_tree_is_no_circle() -> None:
    tree = {"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}}
    assert problems_of(tree, {"children": [{"children": []}]}) == []
    wrong = problems_of(tree, {"children": [{"children": [1]}]})
    assert [each.pointer for each in wrong] == ["/children/0/children/0"]


def test_many_values_are_no_circle() -> None:
    assert problems_of({"items": {"type": "integer"}}, list(range(20_000))) == []


def test_each_part_is_looked_at_once_for_its_kinds() -> None:
    # Looked at each time it is referred to, this would never end.
    endless = _doubling(60)
    assert kinds_of(endless, endless) == {"string"}
    arguments = {"type": "object", "properties": {"to": {"$ref": "#/$defs/level0"}}}
    assert set(propose_roles({**arguments, "$defs": endless["$defs"]})) == {"to"}


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([1, 1.0], False),
        ([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], False),
        ([1, True, "1", [1], {"a": 1}], True),
        ([{"a": n} for n in range(20_000)], True),
    ],
)
def test_items_that_must_differ(items: list[Any], unique: bool) -> None:
    assert (problems_of({"uniqueItems": True}, items) == []) is unique


def test_a_pattern_that_cannot_be_checked_is_a_problem_of_the_value() -> None:
    assert first_problem({"pattern": "(?=a)"}, "a") is not None
