"""Shadow runs: past messages planned again by another planner, on what was known then; nothing is changed or recorded."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from steward.agents.chat.context import Contexts
from steward.agents.chat.threads import CHAT_PROGRAM
from steward.agents.planning.plan import Plan, Planned
from steward.agents.planning.planner import Planner, Rules, Task
from steward.agents.planning.prompt import Recipe
from steward.core import Misconfigured, StewardError
from steward.models import Asking, Message, ModelAnswer, ModelDesk, Request, Role, ToolSpec, Usage
from steward.runs import Json, Run, Runs, StepFailed
from steward.store import Scope

_PAGE: Final = 100
_MOST_FAILURES: Final = 3
_HOPELESS: Final = frozenset({"model-unreachable"})
"""What no other task would change, besides wrong settings: the comparison would be about rules alone."""


@dataclass(frozen=True)
class Compared:
    """One task: the plan that ran, and the one that would have."""

    run_id: str
    message: str
    before: Json
    after: Json
    made_before: str
    """Who made the plan that ran."""
    made_by: str
    """Who made this one; `fallback` where the planner that is tried gave none, so that it agrees with nothing."""
    same_tools: bool
    same_steps: bool
    same_arguments: bool
    problems: list[str]
    seconds: float
    usd: str | None
    tokens: int
    differences: list[str]
    failure: str | None = None
    """Why the model gave no answer at all."""

    @property
    def agreement(self) -> str:
        if self.failure is not None:
            return "no answer"
        if self.made_by == "fallback":
            return "no valid plan"
        return "same" if self.same_arguments else "different"


@dataclass(frozen=True)
class ShadowReport:
    tasks: list[Compared] = field(default_factory=list)
    stopped: str = ""
    """Why the rest was not tried; empty when everything was."""

    @property
    def totals(self) -> dict[str, Any]:
        count = len(self.tasks)

        def share(part: int) -> float | None:
            return round(part / count, 4) if count else None

        answered = [task for task in self.tasks if task.failure is None]
        prices = [Decimal(task.usd) for task in answered if task.usd is not None]
        known = len(prices) == len(answered)
        return {
            "tasks": count,
            "answered": len(answered),
            "valid_plans": sum(task.made_by != "fallback" for task in self.tasks),
            "same_tools": share(sum(task.same_tools for task in self.tasks)),
            "same_steps": share(sum(task.same_steps for task in self.tasks)),
            "same_arguments": share(sum(task.same_arguments for task in self.tasks)),
            "valid_at_once": share(sum(not task.problems for task in self.tasks)),
            "usd": format(sum(prices, Decimal(0)), "f") if known else None,
            "tokens": sum(task.tokens for task in self.tasks),
            "seconds": round(sum(task.seconds for task in self.tasks), 3),
        }

    def to_json(self) -> Json:
        return {
            "totals": self.totals,
            "stopped": self.stopped or None,
            "tasks": [{**asdict(task), "agreement": task.agreement} for task in self.tasks],
        }


class Shadow:
    def __init__(self, runs: Runs, contexts: Contexts, rules: Rules) -> None:
        self._runs = runs
        self._contexts = contexts
        self._rules = rules

    async def against(
        self,
        scope: Scope,
        runs: Sequence[Run],
        desk: ModelDesk | None,
        recipe: Recipe | None = None,
        tell: Callable[[Compared], None] = lambda _: None,
    ) -> ShadowReport:
        """Plans each run's task again; without a desk, by rules.

        A model that cannot answer whatever it is asked is an error at once. One that failed several tasks in a row
        is left alone; the report says so and has what was found until then.
        """
        tasks: list[Compared] = []
        for run in runs:
            try:
                found = await self._compared(scope, run, desk, recipe)
            except StewardError as problem:
                if not tasks:
                    raise
                number = "1 task" if len(tasks) == 1 else f"{len(tasks)} tasks"
                return ShadowReport(tasks, f"Stopped after {number}. {problem.message}")
            if found is None:
                continue
            tasks.append(found)
            tell(found)
            latest = tasks[-_MOST_FAILURES:]
            if len(latest) == _MOST_FAILURES and all(task.failure for task in latest):
                told = f"Stopped after {_MOST_FAILURES} tasks in a row without an answer."
                return ShadowReport(tasks, f"{told} {found.failure}")
        return ShadowReport(tasks)

    def latest(self, scope: Scope, count: int) -> list[Run]:
        """The latest chat turns that got as far as a plan, newest first."""
        return [run for run in self._chats(scope) if self._recorded(scope, run)][:count]

    def _chats(self, scope: Scope) -> Iterator[Run]:
        before: str | None = None
        while True:
            page = self._runs.records.listed(scope, before=before, limit=_PAGE)
            yield from (run for run in page if run.program == CHAT_PROGRAM)
            if len(page) < _PAGE:
                return
            before = page[-1].id

    def _recorded(self, scope: Scope, run: Run) -> dict[str, Any] | None:
        known = {entry.key: entry for entry in self._runs.journal.entries(scope, run.id)}
        wanted = ("moment", "context", "plan/1")
        if any(key not in known or "result" not in known[key].data for key in wanted):
            return None
        return {key: self._runs.payload(known[key].data["result"]) for key in wanted}

    async def _compared(
        self, scope: Scope, run: Run, desk: ModelDesk | None, recipe: Recipe | None
    ) -> Compared | None:
        recorded = self._recorded(scope, run)
        if recorded is None:
            return None
        request = self._runs.request(scope, run.id)
        moment = datetime.fromisoformat(recorded["moment"])
        task = Task.of(request.document, recorded["context"], today=moment.date(), nonce="shadow")
        catalogue = self._contexts.catalogue(recorded["context"], request.grant)
        asked = _Unrecorded(scope, desk)
        task = replace(task, stages=asked.plans_in_stages(scope))
        began = time.perf_counter()
        after = await Planner(asked, self._rules, recipe).plan(None, "plan", task, catalogue)
        spent = time.perf_counter() - began
        before = Planned.model_validate(recorded["plan/1"])
        return _difference(run, task, before, after, spent, asked)


class _Unrecorded:
    """A desk for planning outside a run."""

    def __init__(self, scope: Scope, desk: ModelDesk | None) -> None:
        self._scope = scope
        self._desk = desk
        self.usage = Usage()
        self.failure: str | None = None

    def configured(self, scope: Scope | None, role: Role) -> bool:  # noqa: ARG002
        return self._desk is not None and self._desk.configured(self._scope, role)

    def plans_in_stages(self, scope: Scope | None) -> bool:  # noqa: ARG002
        return self._desk is not None and self._desk.plans_in_stages(self._scope)

    async def request(
        self,
        execution: Any,  # noqa: ARG002
        key: str,
        role: Role,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        asking: Asking | None = None,
    ) -> ModelAnswer:
        assert self._desk is not None  # noqa: S101
        request = Request(role.value, tuple(messages), tuple(tools), asking or Asking())
        try:
            answer = await self._desk.answer(self._scope, request)
        except StewardError as problem:
            if isinstance(problem, Misconfigured) or problem.specific_code in _HOPELESS:
                raise
            self.failure = problem.message
            # As a run would see it.
            raise StepFailed(key, problem.specific_code, problem.message) from None
        self.usage = self.usage + answer.usage
        return answer


def _difference(
    run: Run, task: Task, before: Planned, after: Planned, seconds: float, asked: _Unrecorded
) -> Compared:
    old, new, usage = before.plan, after.plan, asked.usage
    # What rules made in a model's stead says nothing about the model.
    own = after.made_by != "fallback"
    return Compared(
        run_id=run.id,
        message=task.message,
        before=old.to_json(),
        after=new.to_json(),
        made_before=before.made_by,
        made_by=after.made_by,
        same_tools=own and set(old.tools) == set(new.tools),
        same_steps=own and _shape(old) == _shape(new),
        same_arguments=own and _shape(old, arguments=True) == _shape(new, arguments=True),
        problems=list(after.problems),
        seconds=round(seconds, 4),
        usd=None if usage.cost is None else format(usage.cost, "f"),
        tokens=usage.input_tokens + usage.output_tokens,
        differences=list(_plan_differences(old, new)) if own else [],
        failure=asked.failure if not own else None,
    )


def _shape(plan: Plan, *, arguments: bool = False) -> list[Any]:
    return [(step.agent, tuple(step.tools), step.arguments if arguments else None) for step in plan]


def _plan_differences(old: Plan, new: Plan) -> Iterator[str]:
    for number in range(max(len(old.steps), len(new.steps))):
        before = old.steps[number] if number < len(old.steps) else None
        after = new.steps[number] if number < len(new.steps) else None
        if before is None and after is not None:
            yield f"step {number + 1} is new: {after.agent} with {', '.join(after.tools) or 'no tools'}"
        elif after is None and before is not None:
            yield f"step {number + 1} is gone: {before.agent} with {', '.join(before.tools)}"
        elif before is not None and after is not None:
            if before.agent != after.agent:
                yield f"step {number + 1}: {after.agent} instead of {before.agent}"
            if before.tools != after.tools:
                yield f"step {number + 1}: {', '.join(after.tools)} instead of {', '.join(before.tools)}"
            elif before.arguments != after.arguments:
                names = sorted(
                    name
                    for name in {*before.arguments, *after.arguments}
                    if before.arguments.get(name) != after.arguments.get(name)
                )
                yield f"step {number + 1}: other {', '.join(names)}"
