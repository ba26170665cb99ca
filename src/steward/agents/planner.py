"""The planner: asks a model for a plan, checks it, has it repaired once, and falls back on rules that need no model."""

from collections.abc import Sequence
from typing import Any, Final, Protocol

from steward.agents.checking import Catalogue, PlanRefused, check
from steward.agents.plan import MadeBy, Plan, Planned
from steward.agents.planning.answers import found_in
from steward.agents.planning.narrow import output_schema
from steward.agents.planning.prompt import Recipe, opening, repair
from steward.agents.planning.task import Exchange, Last, Task
from steward.models import NO_MODEL, Asking, Message, ModelAnswer, Role, ToolSpec
from steward.models.desk import Journaled
from steward.runs import StepFailed

__all__ = ["Exchange", "Last", "Planner", "Recipe", "Rules", "Task"]

_MOST_TOKENS: Final = 4_000
_LONGEST_PROBLEM: Final = 400


class Rules(Protocol):
    """Plans without a model. Its plan always passes `check`, whatever was asked."""

    def plan(self, task: Task, catalogue: Catalogue) -> tuple[Plan, str]:
        """The plan, and what the person should be told about it; empty when nothing."""
        ...


class Desk(Protocol):
    """Where models are asked; a run's own desk pays for it from the run's budget."""

    def configured(self, role: Role) -> bool: ...

    async def request(
        self,
        execution: Any,
        key: str,
        role: Role,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = ...,
        asking: Asking | None = ...,
    ) -> ModelAnswer: ...


class Planner:
    def __init__(self, desk: Desk, rules: Rules, recipe: Recipe | None = None) -> None:
        self._desk = desk
        self._rules = rules
        self._recipe = recipe or Recipe()

    async def plan(
        self,
        execution: Journaled | None,
        key: str,
        task: Task,
        catalogue: Catalogue,
        *,
        use_model: bool | None = None,
    ) -> Planned:
        """Always a plan that passed `check`; how it came about is part of it.

        `use_model` is whether there was a model when the run began; unset: whether there is one.

        Requests to a model are steps of the run at `key/request` and `key/repair`. Everything else depends on the
        task, the catalogue and the recorded answers alone, so the caller records the result.
        """
        if task.given is not None and not task.failed:
            return self._as_given(task, task.given, catalogue)
        if not (self._desk.configured(Role.planner) if use_model is None else use_model):
            return self._by_rules(task, catalogue, "rules", said=NO_MODEL)
        messages = opening(task, catalogue, self._recipe)
        problems: list[str] = []
        model: str | None = None
        for attempt, name in enumerate(("request", "repair")):
            try:
                answer = await self._desk.request(
                    execution,
                    f"{key}/{name}",
                    Role.planner,
                    messages,
                    (),
                    self._asking(task, catalogue),
                )
            except StepFailed as failure:
                problems.append(f"The model gave no answer: {failure.message}"[:_LONGEST_PROBLEM])
                break
            model = answer.model
            try:
                plan = check(found_in(answer.text, task.message), catalogue)
            except PlanRefused as refused:
                said = [f"{each.pointer or '/'}: {each.message}" for each in refused.problems]
                problems += [each[:_LONGEST_PROBLEM] for each in said]
                messages = [*messages, *repair(answer.said, said, task.nonce)]
            else:
                return Planned(
                    plan=plan, made_by="model", model=model, problems=problems, repaired=attempt > 0
                )
        return self._by_rules(task, catalogue, "fallback", problems, model, _told(model))

    def _as_given(self, task: Task, given: Any, catalogue: Catalogue) -> Planned:
        try:
            return Planned(plan=check(given, catalogue), made_by="person")
        except PlanRefused as refused:
            # The data may have changed since the plan was chosen.
            said = [f"{each.pointer or '/'}: {each.message}" for each in refused.problems]
            told = "The chosen plan cannot be carried out any more, so this plan was made by rules."
            return self._by_rules(task, catalogue, "fallback", said, said=told)

    def _by_rules(
        self,
        task: Task,
        catalogue: Catalogue,
        made_by: MadeBy,
        problems: list[str] | None = None,
        model: str | None = None,
        said: str = "",
    ) -> Planned:
        plan, told = self._rules.plan(task, catalogue)
        words = " ".join(each for each in (told, said) if each)
        return Planned(plan=plan, made_by=made_by, model=model, problems=problems or [], said=words)

    def _asking(self, task: Task, catalogue: Catalogue) -> Asking:
        schema: Any = output_schema(catalogue) if self._recipe.constrained else None
        return Asking(
            temperature=0.0,
            max_tokens=_MOST_TOKENS,
            output_schema=schema,
            allow_rows=task.may_see_rows,
        )


def _told(model: str | None) -> str:
    if model is None:
        return "The model did not answer, so this plan was made by rules."
    return f"What {model} proposed was not valid twice, so this plan was made by rules."
