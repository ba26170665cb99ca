"""One step of a plan by itself, to be done after all: with what it reads first, and without changes that stand already."""

from collections.abc import Collection, Mapping

from steward.agents.planning.plan import Plan, PlanStep
from steward.agents.planning.plan_flow import changes_something
from steward.broker import Risk
from steward.core import Conflict, NotFound


def alone(plan: Plan, step_id: str, done: Collection[str], risks: Mapping[str, Risk]) -> Plan:
    """The plan of one step that was left out or failed.

    What it works on is read again, since results are not kept between turns. A change that it builds upon is in the
    data where it was made; one that was not made has to come first.
    """
    wanted = next((step for step in plan if step.id == step_id), None)
    if wanted is None:
        raise NotFound(f"The plan has no step {step_id!r}.")
    if step_id in done:
        raise Conflict("This step is done already.", code="step-done")
    kept: list[PlanStep] = []
    needed = {step_id}
    for step in reversed(plan.steps):
        if step.id not in needed:
            continue
        if step.id != step_id and changes_something(step, risks):
            if step.id not in done:
                raise Conflict(
                    f"It works on “{step.title}”, which was not done. Apply that step first.",
                    code="step-needs-another",
                )
            needed.discard(step.id)
            continue
        needed |= set(step.needs)
        kept.append(step)
    names = {step.id for step in kept}
    steps = [
        step.model_copy(update={"needs": [need for need in step.needs if need in names]})
        for step in reversed(kept)
    ]
    return Plan(goal=wanted.title, steps=steps)
