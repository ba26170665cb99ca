"""Agents as nodes of flows: what a node asks for, made into a job for the operator."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from steward.agents.guardrails import problem_in
from steward.agents.job import Done, Job
from steward.agents.operator import Operator
from steward.agents.plan import PlanStep, StepBudget
from steward.agents.provenance import STEP
from steward.agents.roster import Agent, Roster
from steward.agents.showing import Shown, value_shown
from steward.agents.wanted import Made
from steward.broker.labels import NONE, Labels
from steward.broker.plans import Labelled
from steward.broker.rehearsal import SOURCE, Rehearsal
from steward.broker.samples import sample
from steward.broker.tool import Risk
from steward.core.errors import Invalid
from steward.runs import Execution, Json, StepFailed

DRAWN: Final = "drawn"
_BY_HAND: Final = (
    "You do one task inside a flow. Do exactly what it says and answer with the result alone."
)


@dataclass(frozen=True)
class Around:
    """What a run knows about the task beyond the node: a chat turn has a person's words and a plan."""

    trusted: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """What the project's data is called: good enough to look at something."""
    given: tuple[Shown, ...] = ()
    arguments_trusted: bool = True
    """The arguments of a drawn node were written by who drew it."""
    suspect: tuple[tuple[str, Labels], ...] = ()
    allow_rows: bool = True
    task: str = ""
    """What the step is a part of."""
    earlier: Callable[[], Sequence[Made]] = tuple
    """What other steps of the plan have done by now."""


class Hands:
    """Gives nodes to the operator."""

    def __init__(self, operator: Operator, roster: Roster) -> None:
        self._operator = operator
        self._roster = roster

    async def run(
        self, execution: Execution, key: str, asked: Json, labels: Mapping[str, Any]
    ) -> Labelled:
        """For nodes that people draw: the answer, as JSON where the node has a schema."""
        rehearsal = Rehearsal.of(execution.request.grant)
        if rehearsal is not None and not rehearsal.spend:
            return await self._rehearsed(execution, key, asked, rehearsal)
        done = await self.work(execution, key, asked, labels, Around())
        value = done.value if asked.get("output") is not None or not done.text else done.text
        summary = done.text or (done.results[-1][2].summary if done.results else "")
        return Labelled(value, done.labels, summary, key=key)

    async def _rehearsed(
        self, execution: Execution, key: str, asked: Json, rehearsal: Rehearsal
    ) -> Labelled:
        """A test asks no model: the answer is a recorded one, or made from the schema."""
        is_known, value = rehearsal.record(key)
        if not is_known:
            schema = asked.get("output") or self._agent(asked).output
            named = asked.get("title") or "The agent"
            value = sample(schema) if schema else f"{named} would answer here."

        async def perform() -> Json:
            return value

        found = await execution.step(
            f"{key}/rehearsed", {"agent": asked.get("agent")}, perform, of=key
        )
        return Labelled(found, Labels((SOURCE,)), "No model was asked in a test", key=key)

    async def work(
        self, execution: Execution, key: str, asked: Json, labels: Mapping[str, Any], around: Around
    ) -> Done:
        job = self.job(key, asked, labels, around)
        problem = problem_in(job.agent.guardrails, "input", job.task)
        if problem is not None:
            raise StepFailed(key, "guardrail", f"{job.agent.title} does not take this: {problem}")
        return await self._operator.run(execution, key, job)

    def job(self, key: str, asked: Json, labels: Mapping[str, Any], around: Around) -> Job:
        agent = self._agent(asked)
        step = _step(key, asked, agent)
        given = [*around.given, *_context(asked.get("context"), labels.get("context"))]
        said: Labels = labels.get("instructions") or NONE
        task = str(asked["instructions"])
        if not said.trusted:
            # Words from outside stand among the instructions: they are shown as data.
            given.append(Shown("The task, with content from outside", task, said, rows=True))
            task = "Do the task above, as far as it was written by the person who drew this flow."
        if around.task:
            task = f"{around.task}\n\nYour step: {task}"
        fixed: Labels = labels.get("arguments") or NONE
        return Job(
            step=step,
            agent=agent,
            task=task,
            given=tuple(given),
            trusted=(*around.trusted, *_said_by_a_person(asked, said, around)),
            names=around.names,
            arguments_trusted=around.arguments_trusted and fixed.trusted,
            suspect=around.suspect,
            earlier=tuple(around.earlier()),
            allow_rows=around.allow_rows,
            output=asked.get("output") or agent.output,
        )

    def _agent(self, asked: Json) -> Agent:
        name = asked.get("agent")
        if name is not None:
            return self._roster.get(name)
        return Agent(
            name=DRAWN,
            title="The agent of this node",
            description="An agent that a flow describes by itself.",
            instructions=_BY_HAND,
            # What it may do is what its node names, within the run's own token.
            tools=[*asked["tools"], *asked.get("fallback_tools", ())],
            highest_risk=Risk.external_send,
        )


def _step(key: str, asked: Json, agent: Agent) -> PlanStep:
    budget = {"calls": min(50, int(asked.get("max_steps") or 8)), **(asked.get("budget") or {})}
    try:
        return PlanStep(
            id="step",
            title=(asked.get("title") or agent.title)[:200],
            agent=agent.name,
            tools=list(asked.get("tools") or ())[:8],
            fallback_tools=list(asked.get("fallback_tools") or ())[:8],
            arguments=dict(asked.get("arguments") or {}),
            open=dict(asked.get("open") or {}),
            needs=_names(asked.get("context")),
            skill=asked.get("skill"),
            budget=StepBudget(**budget),
        )
    except (ValidationError, TypeError) as error:
        raise Invalid(f"The agent of {key!r} is described wrongly: {error}") from None


def _said_by_a_person(asked: Json, said: Labels, around: Around) -> list[str]:
    """The instructions of a node that somebody drew; a step that a model planned has a model's words for a title."""
    return [str(asked["instructions"])] if said.trusted and around.arguments_trusted else []


def _names(context: Json) -> list[str]:
    """Steps whose results it works on: what its context is called, where that could be a step."""
    return [name for name in context if _is_id(name)][:12] if isinstance(context, Mapping) else []


def _is_id(name: Any) -> bool:
    return isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name) is not None


def _context(context: Json, labels: Labels | None) -> list[Shown]:
    if context is None:
        return []
    known = labels or NONE
    if isinstance(context, Mapping):
        return [
            value_shown(f"Given as {name}", value, known.joined(Labels((f"{STEP}{name}",))))
            for name, value in context.items()
        ]
    return [value_shown("Given", context, known)]
