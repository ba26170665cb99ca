"""A plan as the flow that runs: the same graph that people draw, one agent node for each step."""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.agents.planning.plan import Plan, PlanStep
from steward.broker import Risk
from steward.runs import Json


def as_flow(plan: Plan, risks: Mapping[str, Risk], flow_id: str = "plan") -> Json:
    """The flow's document. What changes something waits for everything planned before it, and is waited for."""
    nodes = []
    for number, step in enumerate(plan.steps):
        needs = _needs(plan.steps[:number], step, risks)
        nodes.append(_node(step, needs))
    return {"format": 1, "id": flow_id, "name": plan.goal[:120], "nodes": nodes}


def without(plan: Plan, skipped: Sequence[str]) -> Plan | None:
    """The plan without some steps and without what needs them; None when nothing is left."""
    left: list[PlanStep] = []
    gone = set(skipped)
    for step in plan.steps:
        if step.id in gone or gone & set(step.needs):
            gone.add(step.id)
        else:
            left.append(step)
    return Plan(goal=plan.goal, steps=left, notes=plan.notes) if left else None


def changes_something(step: PlanStep, risks: Mapping[str, Risk]) -> bool:
    return any(not risks.get(tool, Risk.secret).at_most(Risk.compute) for tool in step.allowed)


def _needs(before: Sequence[PlanStep], step: PlanStep, risks: Mapping[str, Risk]) -> list[str]:
    if changes_something(step, risks):
        return [each.id for each in before]
    writers = [each.id for each in before if changes_something(each, risks)]
    return list(dict.fromkeys([*step.needs, *writers[-1:]]))


def _node(step: PlanStep, needs: Sequence[str]) -> dict[str, Any]:
    return {
        "id": step.id,
        "type": "agent",
        "title": step.title,
        "needs": list(needs),
        "agent": step.agent,
        "instructions": literal(step.title),
        "context": {need: f"${{nodes.{need}.output}}" for need in step.needs} or None,
        "tools": list(step.tools),
        "fallback_tools": list(step.fallback_tools),
        "arguments": literal(step.arguments),
        "open": {name: list(sources) for name, sources in step.open.items()},
        "skill": step.skill,
        "budget": step.budget.model_dump(mode="json"),
    }


def literal(value: Json) -> Json:
    """A value that means what it says: nothing in it is read as an expression."""
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, dict):
        return {name: literal(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [literal(inner) for inner in value]
    return value
