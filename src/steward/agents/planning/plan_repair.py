"""Puts a model's plan right where only one thing can be meant: a tool with the arguments of another one."""

import difflib
from collections.abc import Mapping
from typing import Any

from steward.agents.planning.plan_checks import Catalogue, ToolFacts
from steward.broker import problems_of


def mended(document: Any, catalogue: Catalogue) -> Any:
    """The document with each step's tool such that it takes the step's arguments; the check judges the rest."""
    steps = document.get("steps") if isinstance(document, Mapping) else None
    if not isinstance(steps, list):
        return document
    return {**document, "steps": [_step(step, catalogue) for step in steps]}


def _step(step: Any, catalogue: Catalogue) -> Any:
    if not isinstance(step, Mapping):
        return step
    tools, arguments = step.get("tools"), step.get("arguments")
    if not isinstance(tools, list) or not tools or not isinstance(arguments, Mapping):
        return step
    named = str(tools[0])
    facts = catalogue.tools.get(named)
    if not arguments or (facts is not None and _takes(facts, arguments)):
        return step
    instead = _meant(named, facts, arguments, catalogue)
    if instead is None:
        return step
    rest = [tool for tool in tools[1:] if tool != instead]
    agent = catalogue.agent_for(instead, [str(step.get("agent"))])
    return {**step, "tools": [instead, *rest], **({"agent": agent} if agent else {})}


def _meant(
    named: str, facts: ToolFacts | None, arguments: Mapping[str, Any], catalogue: Catalogue
) -> str | None:
    """The one tool that takes these arguments and can do no more than the one that was named."""
    fitting = [
        name
        for name, other in catalogue.tools.items()
        if catalogue.usable(name)
        and _takes(other, arguments)
        and all(each in arguments for each in other.schema.get("required", ()))
        and (facts is None or other.risk.at_most(facts.risk))
    ]
    if len(fitting) > 1:
        alike = difflib.get_close_matches(named, fitting, n=1, cutoff=0.3)
        return alike[0] if alike else None
    return fitting[0] if fitting else None


def _takes(facts: ToolFacts, arguments: Mapping[str, Any]) -> bool:
    partial = {key: value for key, value in facts.schema.items() if key != "required"}
    return not problems_of(partial, dict(arguments), "")
