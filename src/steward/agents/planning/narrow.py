"""JSON Schema of a plan narrowed to the closed lists of a catalogue, for models that can be held to one."""

from typing import Any, Final

from steward.agents.planning.plan import MOST_STEPS
from steward.agents.planning.plan_checks import Catalogue

_MOST_NAMES: Final = 120
"""Longer lists make grammars slow; then any text is taken and the check decides."""
_FUNCTIONS: Final = ("count", "count_distinct", "sum", "avg", "min", "max", "median")


def output_schema(catalogue: Catalogue) -> dict[str, Any]:
    tools = [name for name in catalogue.tools if catalogue.usable(name)]
    step = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "maxLength": 30},
            "title": {"type": "string", "maxLength": 200},
            "agent": _one_of([agent.name for agent in catalogue.agents]),
            "tools": {"type": "array", "items": _one_of(tools), "maxItems": 8},
            "fallback_tools": {"type": "array", "items": _one_of(tools), "maxItems": 8},
            "arguments": _arguments(catalogue),
            "open": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
            },
            "needs": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_STEPS},
            **({"skill": _one_of(list(catalogue.skills))} if catalogue.skills else {}),
            "reason": {"type": "string", "maxLength": 1_000},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["id", "title", "agent", "tools", "arguments"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "goal": {"type": "string", "maxLength": 2_000},
            "steps": {"type": "array", "items": step, "minItems": 1, "maxItems": MOST_STEPS},
            "notes": {"type": "string", "maxLength": 2_000},
        },
        "required": ["goal", "steps"],
        "additionalProperties": False,
    }


def _arguments(catalogue: Catalogue) -> dict[str, Any]:
    names = list(catalogue.datasets)
    dataset = _one_of(names)
    column = _one_of(
        list(
            dict.fromkeys(column for facts in catalogue.datasets.values() for column in facts.names)
        )
    )
    return {
        "type": "object",
        "properties": {
            "dataset": {"type": "string"},
            "datasets": {"type": "array", "items": {"type": "string"}},
            "plan": _query_plan(dataset, column),
        },
        "additionalProperties": True,
    }


def _query_plan(dataset: dict[str, Any], column: dict[str, Any]) -> dict[str, Any]:
    aggregate = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "function": {"enum": list(_FUNCTIONS)},
            "column": column,
        },
        "required": ["name", "function"],
    }
    order = {
        "type": "object",
        "properties": {
            "column": {"type": "string"},
            "direction": {"enum": ["ascending", "descending"]},
        },
        "required": ["column"],
    }
    return {
        "type": "object",
        "properties": {
            "source": dataset,
            "group": {"type": "array", "items": {"type": "string"}},
            "aggregate": {"type": "array", "items": aggregate},
            "order": {"type": "array", "items": order},
            "limit": {"type": "integer", "minimum": 1},
        },
        "required": ["source"],
        "additionalProperties": True,
    }


def _one_of(names: list[str]) -> dict[str, Any]:
    return {"enum": names} if 0 < len(names) <= _MOST_NAMES else {"type": "string"}
