"""The planner: asks a model for a plan, checks it, has it repaired once, and falls back on rules that need no model.

Reading a question and checking a plan calculate for up to a tenth of a second: threads do it, so that the runs of others go
on meanwhile.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final, Protocol

from steward.agents.asking.reading import Asked
from steward.agents.planning.answers import document_in, found_in
from steward.agents.planning.forms import FormRefused, query_plan
from steward.agents.planning.narrow import output_schema
from steward.agents.planning.plan import MadeBy, Plan, Planned
from steward.agents.planning.plan_checks import Catalogue, PlanRefused, check_plan
from steward.agents.planning.plan_repair import mended
from steward.agents.planning.prompt import Recipe, opening, repair
from steward.agents.planning.stages import (
    KIND_SCHEMA,
    QUERY_TOOL,
    Stage,
    kind_in,
    kind_messages,
    second_stage,
)
from steward.agents.planning.task import Exchange, Last, Task
from steward.models import NO_MODEL, Asking, Journaled, Message, ModelAnswer, Role, ToolSpec, gist
from steward.runs import StepFailed
from steward.store import Scope

__all__ = ["Exchange", "Last", "Planner", "Recipe", "Rules", "Task"]

_MOST_TOKENS: Final = 4_000
_FEWER_TOKENS: Final = 1_000
_MOST_SHORTENED: Final = 2
TOO_LONG: Final = "model-context-exceeded"
_LONGEST_PROBLEM: Final = 400


class Ruled(Protocol):
    @property
    def plan(self) -> Plan: ...
    @property
    def said(self) -> str: ...
    @property
    def asked(self) -> Asked | None: ...


class Rules(Protocol):
    """Plans without a model. Its plan always passes `check`, whatever was asked."""

    def plan(self, task: Task, catalogue: Catalogue) -> "Ruled":
        """The plan, what the person should be told about it, and what a question was taken to ask."""
        ...


class Desk(Protocol):
    """Where models are asked; a run's own desk pays for it from the run's budget."""

    def configured(self, scope: Scope | None, role: Role) -> bool: ...

    def plans_in_stages(self, scope: Scope | None) -> bool: ...

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
            return await self._as_given(task, task.given, catalogue)
        if task.reading is not None and not task.failed:
            return await self._by_rules(task, catalogue, "person")
        scope = None if execution is None else execution.run.scope
        if not (self._desk.configured(scope, Role.planner) if use_model is None else use_model):
            return await self._by_rules(task, catalogue, "rules", said=NO_MODEL)
        if task.stages and not task.failed:
            return await self._in_stages(execution, key, task, catalogue)
        messages = await asyncio.to_thread(opening, task, catalogue, self._recipe)
        problems: list[str] = []
        model: str | None = None
        silence = ""
        for attempt, name in enumerate(("request", "repair")):
            try:
                answer, messages = await self._asked(
                    execution, f"{key}/{name}", messages, task, catalogue, may_shorten=attempt == 0
                )
            except StepFailed as failure:
                silence = failure.message
                problems.append(f"The model gave no answer: {silence}"[:_LONGEST_PROBLEM])
                break
            model = answer.model
            try:
                plan = await asyncio.to_thread(_checked, answer.text, task, catalogue)
            except PlanRefused as refused:
                said = [f"{each.pointer or '/'}: {each.message}" for each in refused.problems]
                problems += [each[:_LONGEST_PROBLEM] for each in said]
                messages = [*messages, *repair(answer.said, said, task.nonce)]
            else:
                return Planned(
                    plan=plan, made_by="model", model=model, problems=problems, repaired=attempt > 0
                )
        return await self._by_rules(
            task, catalogue, "fallback", problems, model, _why_by_rules(model, silence)
        )

    async def instead(self, task: Task, catalogue: Catalogue, why: str) -> Planned | None:
        """A plan that needs no model, for a task that models failed at; None where rules do not understand it."""
        planned = await self._by_rules(task, catalogue, "fallback", [why[:_LONGEST_PROBLEM]])
        if planned.asked is not None and planned.asked.status != "fact":
            return None
        told = f"{gist(why)} So this plan was made by rules and needs no model."
        words = " ".join(each for each in (planned.said, told) if each)
        return planned.model_copy(update={"said": words})

    async def _in_stages(
        self, execution: Journaled | None, key: str, task: Task, catalogue: Catalogue
    ) -> Planned:
        """What kind of work it is, then one narrow question about it, with one round of repair."""
        problems: list[str] = []
        model, silence = None, ""
        try:
            chosen = await self._short(
                execution, f"{key}/kind", kind_messages(task, catalogue), dict(KIND_SCHEMA), task
            )
            stage = second_stage(kind_in(document_in(chosen.text)), task, catalogue)
            messages = stage.messages
            schema = stage.schema or output_schema(stage.catalogue)
            for name in ("request", "repair"):
                answer = await self._short(execution, f"{key}/{name}", messages, schema, task)
                model = answer.model
                try:
                    document = await asyncio.to_thread(_staged, answer.text, stage, task)
                    plan = await asyncio.to_thread(check_plan, document, catalogue)
                except (PlanRefused, FormRefused) as refused:
                    said = [f"{each.pointer or '/'}: {each.message}" for each in refused.problems]
                    problems += [each[:_LONGEST_PROBLEM] for each in said]
                    messages = [*messages, *repair(answer.said, said, task.nonce)]
                else:
                    return Planned(
                        plan=plan,
                        made_by="model",
                        model=model,
                        problems=problems,
                        repaired=name == "repair",
                    )
        except StepFailed as failure:
            silence = failure.message
            problems.append(f"The model gave no answer: {silence}"[:_LONGEST_PROBLEM])
        return await self._by_rules(
            task, catalogue, "fallback", problems, model, _why_by_rules(model, silence)
        )

    async def _short(
        self,
        execution: Journaled | None,
        key: str,
        messages: Sequence[Message],
        schema: dict[str, Any],
        task: Task,
    ) -> ModelAnswer:
        asking = Asking(
            temperature=0.0,
            max_tokens=_FEWER_TOKENS,
            output_schema=schema,
            allow_rows=task.may_see_rows,
        )
        return await self._desk.request(execution, key, Role.planner, messages, (), asking)

    async def _asked(
        self,
        execution: Journaled | None,
        key: str,
        messages: list[Message],
        task: Task,
        catalogue: Catalogue,
        *,
        may_shorten: bool,
    ) -> tuple[ModelAnswer, list[Message]]:
        """The answer, and what was asked in the end: a prompt that is too long for the model is made shorter."""
        asking = await asyncio.to_thread(self._asking, task, catalogue)
        recipe = self._recipe
        for attempt in count():
            name = key if attempt == 0 else f"{key}/shorter/{attempt}"
            try:
                answer = await self._desk.request(
                    execution, name, Role.planner, messages, (), asking
                )
            except StepFailed as failure:
                if failure.code != TOO_LONG or not may_shorten or attempt == _MOST_SHORTENED:
                    raise
                recipe = recipe.shorter()
                messages = await asyncio.to_thread(opening, task, catalogue, recipe)
                # The schema's closed lists are tokens as well.
                asking = replace(asking, output_schema=None, max_tokens=_FEWER_TOKENS)
            else:
                return answer, messages
        raise AssertionError  # pragma: no cover

    async def _as_given(self, task: Task, given: Any, catalogue: Catalogue) -> Planned:
        try:
            plan = await asyncio.to_thread(check_plan, given, catalogue)
        except PlanRefused as refused:
            # The data may have changed since the plan was chosen.
            said = [f"{each.pointer or '/'}: {each.message}" for each in refused.problems]
            told = "The chosen plan cannot be carried out any more, so this plan was made by rules."
            return await self._by_rules(task, catalogue, "fallback", said, said=told)
        return Planned(plan=plan, made_by="person")

    async def _by_rules(
        self,
        task: Task,
        catalogue: Catalogue,
        made_by: MadeBy,
        problems: list[str] | None = None,
        model: str | None = None,
        said: str = "",
    ) -> Planned:
        ruled = await asyncio.to_thread(self._rules.plan, task, catalogue)
        words = " ".join(each for each in (ruled.said, said) if each)
        return Planned(
            plan=ruled.plan,
            made_by=made_by,
            model=model,
            problems=problems or [],
            said=words,
            asked=ruled.asked,
        )

    def _asking(self, task: Task, catalogue: Catalogue) -> Asking:
        schema: Any = output_schema(catalogue) if self._recipe.constrained else None
        return Asking(
            temperature=0.0,
            max_tokens=_MOST_TOKENS,
            output_schema=schema,
            allow_rows=task.may_see_rows,
        )


def _checked(text: str, task: Task, catalogue: Catalogue) -> Plan:
    """The plan in an answer; PlanRefused when it is none that may run."""
    return check_plan(mended(found_in(text, task.message), catalogue), catalogue)


def _staged(text: str, stage: Stage, task: Task) -> Any:
    """The plan document that an answer to the second stage stands for."""
    if not stage.is_form:
        return mended(found_in(text, task.message), stage.catalogue)
    plan = query_plan(document_in(text), stage.catalogue)
    agent = stage.catalogue.agent_for(QUERY_TOOL, ("data-analyst",))
    step = {
        "id": "query",
        "title": f"Ask {plan['source']}",
        "agent": agent,
        "tools": [QUERY_TOOL],
        "arguments": {"plan": plan},
        "reason": "As the model read the question",
        "confidence": 0.7,
    }
    return {"goal": task.message[:2_000].strip() or "As asked", "steps": [step]}


def _why_by_rules(model: str | None, silence: str) -> str:
    if silence:
        return f"The model did not answer, so this plan was made by rules. {gist(silence)}"
    return f"What {model} proposed was not valid twice, so this plan was made by rules."
