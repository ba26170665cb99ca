"""Fills a recipe's parameters in: what comes out is an ordinary plan, checked like any other."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.planning.plan import MOST_STEPS, Plan
from steward.agents.planning.plan_checks import Catalogue, PlanRefused, check_plan
from steward.agents.recipes.model import Recipe, RecipeStep
from steward.broker import problems_of, with_defaults
from steward.core import Invalid, Problem

_PLACE: Final = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")
_NOTHING: Final = object()


@dataclass(frozen=True)
class Compiled:
    plan: Plan
    message: str
    """The same in words: what stands in the thread."""
    review: bool
    """Whether a person looks at the plan before it runs, whatever the thread's settings say."""


def compiled(recipe: Recipe, given: Mapping[str, Any], catalogue: Catalogue) -> Compiled:
    """The plan of a recipe; Invalid when the parameters do not fit it or the plan cannot be carried out."""
    values = parameters_of(recipe, given)
    ids: dict[str, list[str]] = {}
    steps: list[dict[str, Any]] = []
    for step in recipe.steps:
        made = _steps(step, values, ids)
        ids[step.id] = [each["id"] for each in made]
        steps += made
    if len(steps) > MOST_STEPS:
        raise Invalid(
            f"{recipe.title} would have {len(steps)} steps; a plan has at most {MOST_STEPS}. Name fewer datasets.",
            code="recipe-too-long",
        )
    document = {"goal": filled(recipe.message, values), "steps": steps, "notes": recipe.notes}
    try:
        plan = check_plan(document, catalogue)
    except PlanRefused as refused:
        raise Invalid(
            f"{recipe.title} cannot be carried out like this: {refused.problems[0].message}.",
            code="recipe-refused",
            problems=refused.problems,
        ) from None
    return Compiled(plan, str(filled(recipe.message, values)), bool(recipe.approvals))


def parameters_of(recipe: Recipe, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with their defaults; Invalid with every mistake."""
    values: dict[str, Any] = with_defaults(recipe.parameters, dict(given))
    # A form leaves what is not filled in empty.
    values = {name: value for name, value in values.items() if value not in (None, "", [])}
    closed = {"additionalProperties": False, **recipe.parameters}
    problems = problems_of(closed, values, "/parameters")
    if problems:
        first = problems[0]
        raise Invalid(
            f"The parameters of {recipe.title} do not fit: {first.pointer}: {first.message}.",
            code="recipe-parameters",
            problems=[Problem(each.pointer, each.message) for each in problems],
        )
    return values


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its places filled; a field whose parameter is not given is left out."""
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template.strip())
        if whole is not None:
            return values.get(whole.group(1), _NOTHING)
        return _PLACE.sub(lambda place: _words(values.get(place.group(1), "")), template)
    if isinstance(template, Mapping):
        made = {key: filled(inner, values) for key, inner in template.items()}
        return {key: inner for key, inner in made.items() if inner is not _NOTHING}
    if isinstance(template, list):
        return [
            inner for inner in (filled(each, values) for each in template) if inner is not _NOTHING
        ]
    return template


def _words(value: Any) -> str:
    return " and ".join(str(each) for each in value) if isinstance(value, list) else str(value)


def _steps(
    step: RecipeStep, values: Mapping[str, Any], ids: Mapping[str, list[str]]
) -> list[dict[str, Any]]:
    if step.when is not None and not values.get(step.when):
        return []
    items = [None] if step.each is None else list(values.get(step.each, []))
    made = []
    for number, item in enumerate(items, 1):
        known = values if item is None else {**values, "item": item}
        made.append(
            {
                "id": step.id if item is None else f"{step.id}_{number}",
                "title": str(filled(step.title, known))[:200],
                "agent": step.agent,
                "tools": step.tools,
                "arguments": filled(step.arguments, known),
                # Steps that were left out are not waited for.
                "needs": [each for need in step.needs for each in ids.get(need, [])],
                "reason": step.reason,
                "confidence": 1.0,
            }
        )
    return made
