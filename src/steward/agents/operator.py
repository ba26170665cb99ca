"""The operator: does one step of a plan with the tools of that step and no others.

Where the plan fixes every argument the tool is called at once; otherwise a model chooses, call by call, and every choice
is checked against the step, the agent's policy and the broker before anything happens.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from steward.agents.doubts import Known
from steward.agents.enforcement import Made, is_asked_for, is_left_open, refusal
from steward.agents.guardrails import About, checked_output
from steward.agents.paying import PaidDesk
from steward.agents.plan import PlanStep
from steward.agents.provenance import STEP, label_arguments, trusted_for, without_links
from steward.agents.roster import Agent
from steward.agents.showing import Shown, as_message, result_shown
from steward.agents.skills import Skills
from steward.agents.skills.prompts import skill_text, tools_for
from steward.broker.broker import Broker
from steward.broker.labels import NONE, Labels, untrusted
from steward.broker.plans import Labelled, validated
from steward.broker.tool import Risk, Tool
from steward.broker.untrusted import nonce_for, system_rule
from steward.core.errors import Invalid, NotFound
from steward.models import (
    Asking,
    Call,
    Message,
    ModelAnswer,
    Role,
    System,
    ToolResult,
    ToolSpec,
    User,
)
from steward.runs import Execution, Json, Run, StepFailed

_ENDING: Final = frozenset(
    {"budget-exceeded", "too-many-steps", "rejected", "expired", "given-up", "withdrawn"}
)
"""Failures after which nothing else is tried: a person or a limit has spoken."""
_TALK: Final = 6
"""Requests to a model beyond one for each call: for the answer, a repair and a nudge."""
_ERROR_SOURCE: Final = "error of a tool"
_AT_ONCE: Final = 8
"""Calls of one answer that are looked at; a model that wants more asks again."""
READ_SKILL: Final = "skill.read"
"""Whoever follows a skill may read its files; it is no part of a plan."""
VIOLATION: Final = "plan-violation"


@dataclass(frozen=True)
class Job:
    """A step with everything its agent is told."""

    step: PlanStep
    agent: Agent
    task: str
    given: tuple[Shown, ...] = ()
    """What earlier steps found, or data that the task is about."""
    trusted: tuple[str, ...] = ()
    """Texts that people of the project wrote or approved."""
    names: tuple[str, ...] = ()
    """What the project's data is called."""
    arguments_trusted: bool = False
    """Whether the plan's arguments were written or approved by a person, or follow from rules."""
    suspect: tuple[tuple[str, Labels], ...] = ()
    """What whoever made the plan had seen."""
    earlier: tuple[Made, ...] = ()
    """What other steps of the plan did."""
    allow_rows: bool = True
    output: Json = None


@dataclass
class Done:
    """What came of a step."""

    text: str = ""
    value: Json = None
    labels: Labels = NONE
    results: list[tuple[str, str, Labelled]] = field(default_factory=list)
    """Key, tool and result of each call that worked."""
    deviations: list[Json] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    """Calls that worked and changed or sent something."""
    adhered: bool | None = None
    """Whether a primary tool did it; None for a step without tools."""

    def to_json(self) -> Json:
        return {
            "text": self.text,
            "calls": [key for key, _, _ in self.results],
            "tools": [tool for _, tool, _ in self.results],
            "summary": self.results[-1][2].summary if self.results else self.text[:200],
            "deviations": len(self.deviations),
            "adhered": self.adhered,
        }


class Operator:
    def __init__(
        self,
        broker: Broker,
        desk: PaidDesk,
        nonce_key: bytes,
        skills: Skills | None = None,
    ) -> None:
        self._broker = broker
        self.desk = desk
        self._nonce_key = nonce_key
        self._skills = skills

    async def run(self, execution: Execution, key: str, job: Job) -> Done:
        """Does the step; StepFailed when neither its tools nor its fallbacks worked."""
        work = _Work(self, execution, key, job)
        return await work.done()

    # What a piece of work uses

    async def equipment(self, execution: Execution, key: str, job: Job) -> "_Equipment":
        """What the step has to work with, as it was when the step began: a replay has the same."""
        step = job.step

        async def look() -> Json:
            return await asyncio.to_thread(self._look, execution.run, job)

        asked = {
            "agent": job.agent.name,
            "tools": list(step.allowed),
            "arguments": step.arguments,
            "skill": step.skill,
        }
        return _Equipment(**await execution.step(f"{key}/equipment", asked, look))

    def _look(self, run: Run, job: Job) -> Json:
        scope = run.scope
        found: dict[str, Json] = {}
        for name in job.step.allowed:
            try:
                found[name] = _facts(self._broker.tools.get(scope, name), job.step.arguments)
            except NotFound as missing:
                found[name] = {"missing": missing.message}
        told = ""
        if job.step.skill is not None and self._skills is not None:
            skill = self._skills.open(scope, job.step.skill)
            told = skill_text(skill)
            for name in set(found) - set(tools_for(skill, found)):
                found[name] = {"missing": f"The skill {skill.name} does not use {name}."}
            facts = _facts(self._broker.tools.get(scope, READ_SKILL), {})
            found[READ_SKILL] = {**facts, "ready": False}
        return {
            "tools": found,
            "skill": told,
            "model": self.desk.configured(Role(job.agent.role)),
            # Recorded, so that a journal replays where other keys are.
            "nonce": nonce_for(run.id, self._nonce_key),
        }

    async def call(
        self,
        execution: Execution,
        key: str,
        tool: str,
        arguments: Json,
        labels: Mapping[str, Labels],
        *,
        asked_for: bool = False,
    ) -> Labelled:
        return await self._broker.call(execution, key, tool, arguments, labels, asked_for=asked_for)


class _Work:
    """One step on its way."""

    def __init__(self, operator: Operator, execution: Execution, key: str, job: Job) -> None:
        self._operator = operator
        self._execution = execution
        self._key = key
        self._job = job
        self._step = job.step
        self._done = Done()
        self._made: list[Made] = []
        self._seen: list[tuple[str, Labels]] = [
            *job.suspect,
            *((each.searched, each.labels) for each in job.given),
        ]
        self._called = 0
        self._asked = 0
        self._labels = NONE.joined(*(each.labels for each in job.given))
        self._has = _Equipment({}, "", False, "")

    async def done(self) -> Done:
        self._has = await self._operator.equipment(self._execution, self._key, self._job)
        await self._directly()
        if not self._done.results and self._has.model:
            await self._with_model()
        elif not self._done.results:
            await self._by_fallback()
        await self._judge()
        self._done.labels = self._labels
        if self._done.value is None and self._done.results:
            self._done.value = self._done.results[-1][2].value
        await self._execution.note(f"{self._key}/done", self._done.to_json())
        return self._done

    @property
    def _role(self) -> Role:
        return Role(self._job.agent.role)

    # Without a model

    async def _directly(self) -> None:
        """Calls the first tool when the plan says all it needs."""
        if self._step.tools and self._is_ready(self._step.tools[0]):
            await self._try(self._step.tools[0], self._step.arguments, planned=True)

    async def _by_fallback(self) -> None:
        if not self._step.tools:
            raise StepFailed(
                self._key,
                "no-model",
                f"{self._job.agent.title} writes with a model, and none is configured.",
            )
        for tool in self._step.fallback_tools:
            if self._is_ready(tool):
                await self._deviate("fallback", tool, "The planned tools did not work.")
                await self._try(tool, self._step.arguments, planned=True)
            if self._done.results:
                return

    def _is_ready(self, name: str) -> bool:
        facts = self._has.tools.get(name, {})
        if not facts.get("ready"):
            return False
        takes = facts["schema"].get("properties", {})
        return not is_left_open(self._step, Risk(facts["risk"]), takes, has_model=self._has.model)

    # With a model

    async def _with_model(self) -> None:
        messages: list[Message] = self._opening()
        nudged = False
        while self._asked < self._step.budget.calls + _TALK:
            answer = await self._request(messages)
            messages.append(answer.said)
            if answer.calls:
                taken, rest = answer.calls[:_AT_ONCE], answer.calls[_AT_ONCE:]
                messages.extend([await self._answer(call) for call in taken])
                messages.extend(_not_now(call) for call in rest)
                continue
            if self._step.tools and not self._done.results and not nudged:
                nudged = True
                messages.append(User(self._nudge()))
                continue
            problem = self._finish(answer.text)
            if problem is None:
                return
            await self._deviate("guardrail", None, problem)
            messages.append(User(f"That answer cannot be used: {problem} Answer again."))
        await self._deviate("limit", None, "The step used up its requests.")

    async def _request(self, messages: Sequence[Message]) -> ModelAnswer:
        self._asked += 1
        budget = self._step.budget
        tools = [self._spec(name) for name in self._open_tools() if self._has.knows(name)]
        asking = Asking(
            allow_rows=self._job.allow_rows,
            output_schema=self._job.output if not tools else None,
            max_tokens=budget.tokens,
        )
        key = f"{self._key}/model/{self._asked}"
        return await self._operator.desk.request(
            self._execution, key, self._role, messages, tools, asking, shown_as=self._key
        )

    def _opening(self) -> list[Message]:
        nonce = self._has.nonce
        told = [system_rule(nonce), self._job.agent.instructions]
        if self._has.skill:
            told.append(f"Follow this skill.\n\n{self._has.skill}")
        if self._step.tools:
            told.append(_tools_rule(self._step))
        messages: list[Message] = [System("\n\n".join(told))]
        messages.extend(as_message(each, nonce) for each in self._job.given)
        messages.append(User(self._job.task))
        messages.extend(
            User(f"{made.tool} was tried as planned and failed: {made.why}") for made in self._made
        )
        return messages

    def _open_tools(self) -> tuple[str, ...]:
        """Fallbacks come into view once a primary has failed."""
        # What was refused was not tried: asking for nonsense opens nothing.
        failed = any(
            made.failed and made.was_tried and made.tool in self._step.tools for made in self._made
        )
        open_ = self._step.allowed if failed or not self._step.tools else tuple(self._step.tools)
        return (*open_, READ_SKILL) if self._has.skill else open_

    def _spec(self, name: str) -> ToolSpec:
        facts = self._has.tools[name]
        return ToolSpec(name, facts["description"], facts["schema"])

    async def _answer(self, call: Call) -> Message:
        if call.broken is not None:
            return ToolResult(
                call.id, call.tool, "The arguments are not a JSON object.", failed=True, rows=False
            )
        told = await self._try(call.tool, dict(call.arguments), planned=False)
        nonce = self._has.nonce
        shown = told.shown
        return as_message(shown, nonce, ToolResult(call.id, call.tool, "", failed=told.failed))

    def _nudge(self) -> str:
        names = ", ".join(self._open_tools())
        return f"Nothing was called. Do the step with: {names}."

    def _finish(self, text: str) -> str | None:
        """Takes the answer, or says why not."""
        sources = (self._job.task, *(seen for seen, _ in self._seen))
        found = checked_output(self._job.agent.guardrails, text, self._job.output, About(sources))
        if found.problem is not None:
            return found.problem
        self._done.text = found.text
        if self._job.output is not None:
            self._done.value = found.value
        return None

    # Both ways

    async def _try(self, tool: str, arguments: dict[str, Any], *, planned: bool) -> "_Told":
        if not planned:
            arguments = await self._disarmed(tool, arguments)
        labels = self._provenance(tool, arguments, planned=planned)
        why = await self._refused(tool, arguments, labels)
        if why is not None:
            return _Told(Shown.error(why), failed=True)
        self._called += 1
        key = f"{self._key}/call/{self._called}"
        try:
            found = await self._operator.call(
                self._execution,
                key,
                tool,
                arguments,
                labels,
                asked_for=self._is_asked_for(tool, arguments, labels),
            )
        except StepFailed as failure:
            if failure.code in _ENDING:
                raise
            self._made.append(Made(tool, arguments, failed=True, why=failure.message))
            # Others may have written the words of an error.
            shown = Shown.error(failure.message, untrusted(_ERROR_SOURCE))
            self._see(shown)
            return _Told(shown, failed=True)
        shown = result_shown(tool, found)
        self._see(shown)
        if tool in self._step.allowed:
            if tool not in self._step.tools:
                await self._deviate("fallback", tool, "A fallback did what a planned tool did not.")
            self._made.append(Made(tool, arguments))
            if not Risk(self._has.tools[tool]["risk"]).at_most(Risk.compute):
                self._done.made.append(Made(tool, arguments))
            self._done.results.append((key, tool, found))
        return _Told(shown)

    def _see(self, shown: Shown) -> None:
        self._seen.append((shown.searched, shown.labels))
        self._labels = self._labels.joined(shown.labels)

    def _provenance(
        self, tool: str, arguments: Mapping[str, Json], *, planned: bool
    ) -> dict[str, Labels]:
        if (planned and self._job.arguments_trusted) or not self._has.knows(tool):
            return {}
        facts = self._has.tools[tool]
        told = trusted_for(Risk(facts["risk"]), self._job.trusted, self._job.names)
        return label_arguments(arguments, told, self._seen, schema=facts["schema"])

    def _is_asked_for(
        self, tool: str, arguments: Mapping[str, Json], labels: Mapping[str, Labels]
    ) -> bool:
        facts = self._has.tools[tool]
        usual = facts["schema"].get("properties", {}).get("method", {}).get("default")
        return is_asked_for(
            self._step,
            Risk(facts["risk"]),
            {"method": usual, **arguments} if usual is not None else arguments,
            labels,
            plan_is_trusted=self._job.arguments_trusted,
            spends=facts.get("spends", False),
            earlier=self._job.earlier,
            known=self._known(labels),
        )

    def _known(self, labels: Mapping[str, Labels]) -> Known | None:
        """What open arguments are held against; nothing where the plan's own are called as they stand."""
        if not labels:
            return None
        given = {
            source.removeprefix(STEP): each
            for each in self._job.given
            for source in each.labels.sources
            if source.startswith(STEP)
        }
        return Known(
            self._job.trusted,
            {name: each.value for name, each in given.items()},
            {name: each.searched for name, each in given.items()},
        )

    async def _disarmed(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What is written inside from foreign text, with links that nobody can follow by accident."""
        if not self._has.knows(tool) or Risk(self._has.tools[tool]["risk"]) is not Risk.write:
            return arguments
        told = [*self._job.trusted, *map(str, self._step.arguments.values())]
        written = {
            name: value if name in self._step.arguments else without_links(name, value, told)
            for name, value in arguments.items()
        }
        if written != arguments:
            why = "Links that nobody named are written so that they cannot be followed."
            await self._deviate("guardrail", tool, why)
        return written

    async def _refused(
        self, tool: str, arguments: Mapping[str, Json], labels: Mapping[str, Labels]
    ) -> str | None:
        step, agent = self._step, self._job.agent
        if not self._has.knows(tool):
            named = self._has.tools.get(tool, {}).get("missing")
            why: str | None = named or f"{tool[:100]!r} is not a tool of this step."
        else:
            risk = Risk(self._has.tools[tool]["risk"])
            if tool == READ_SKILL and tool not in step.allowed:
                step = step.model_copy(update={"tools": [*step.tools, tool]})
                agent = agent.model_copy(update={"tools": [*agent.tools, tool]})
            why = refusal(
                step,
                agent,
                tool,
                risk,
                arguments,
                self._made,
                labels,
                spends=self._has.tools[tool].get("spends", False),
                optional=_optional(self._has.tools[tool]["schema"]),
                earlier=self._job.earlier,
                known=self._known(labels),
            )
        if why is not None:
            self._made.append(Made(tool, dict(arguments), failed=True, why=why, refused=True))
            await self._deviate("outside-plan", tool, why)
        return why

    async def _deviate(self, kind: str, tool: str | None, why: str) -> None:
        deviation = {"kind": kind, "tool": tool, "why": why}
        self._done.deviations.append(deviation)
        number = len(self._done.deviations)
        await self._execution.note(f"{self._key}/deviation/{number}", deviation)

    async def _judge(self) -> None:
        """Whether the plan was kept; a violation when none of its tools worked."""
        if not self._step.tools:
            return
        used = {tool for _, tool, _ in self._done.results}
        self._done.adhered = bool(used & set(self._step.tools))
        if used:
            return
        why = next((made.why for made in reversed(self._made) if made.why), "Nothing was called.")
        await self._deviate("violation", None, why)
        names = ", ".join(self._step.allowed)
        raise StepFailed(self._key, VIOLATION, f"None of {names} worked. {why}")


@dataclass(frozen=True)
class _Equipment:
    tools: Mapping[str, Json]
    skill: str
    model: bool
    nonce: str

    def knows(self, tool: str) -> bool:
        return "risk" in self.tools.get(tool, {})


def _optional(schema: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(schema.get("properties", {})) - frozenset(schema.get("required", ()))


def _not_now(call: Call) -> ToolResult:
    told = f"Only {_AT_ONCE} calls are taken at once; this one was not looked at."
    return ToolResult(call.id, call.tool, told, failed=True, rows=False)


def _facts(tool: Tool[Any], arguments: Json) -> Json:
    try:
        validated(tool, arguments)
    except Invalid:
        ready = False
    else:
        ready = True
    return {
        "description": tool.description,
        "risk": tool.risk.value,
        "spends": tool.effects.spends,
        "schema": tool.schema(),
        "ready": ready,
    }


@dataclass(frozen=True)
class _Told:
    shown: Shown
    failed: bool = False


def _tools_rule(step: PlanStep) -> str:
    primary = ", ".join(step.tools)
    fallback = (
        f" Only if they fail: {', '.join(step.fallback_tools)}." if step.fallback_tools else ""
    )
    return (
        f"This step is planned with: {primary}.{fallback} Other tools do not exist for you. Call one, look at what "
        f"it returns, and end with a short answer that states only what the results show. At most "
        f"{step.budget.calls} calls."
    )
