"""The operator: does one step of a plan with the tools of that step and no others.

Where the plan fixes every argument the tool is called at once; otherwise a model chooses, call by call, and every choice
is checked against the step, the agent's policy and the broker before anything happens.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from steward.agents.guardrails import About, checked_output
from steward.agents.operating.equipment import (
    Equipment,
    further_tools,
    tools_and_skill,
    with_present_roles,
)
from steward.agents.operating.job import Done, Job
from steward.agents.operating.memory import memory_rule
from steward.agents.operating.model_requests import PaidDesk
from steward.agents.operating.result_views import Shown, as_message, error_message
from steward.agents.operating.step_calls import StepCalls
from steward.agents.operating.wanted_calls import Made
from steward.agents.planning.plan import PlanStep
from steward.agents.skills import Skills
from steward.broker import Broker, nonce_for, system_rule
from steward.models import Asking, Call, Message, ModelAnswer, Role, System, ToolResult, Usage, User
from steward.runs import EntryType, Execution, Json, StepFailed

_TALK: Final = 6
"""Requests to a model beyond one for each call: for the answer, a repair and a nudge."""
_AT_ONCE: Final = 8
"""Calls of one answer that are looked at; a model that wants more asks again."""
VIOLATION: Final = "plan-violation"


class Operator:
    def __init__(
        self, broker: Broker, desk: PaidDesk, nonce_key: bytes, skills: Skills | None = None
    ) -> None:
        self.broker = broker
        self.desk = desk
        self._nonce_key = nonce_key
        self._skills = skills

    async def run(self, execution: Execution, key: str, job: Job) -> Done:
        """Does the step; StepFailed when neither its tools nor its fallbacks worked."""
        has = await self.equipment(execution, key, job)
        return await _Work(self, execution, key, job, has).done()

    # What a piece of work uses

    async def equipment(self, execution: Execution, key: str, job: Job) -> Equipment:
        step, run, agent = job.step, execution.run, job.agent
        role = Role(agent.role)
        pinned = self.desk.pinned(execution, role, agent.model)

        def look() -> Json:
            return {
                **tools_and_skill(run.scope, self.broker.tools, self._skills, job),
                "model": bool(pinned) or self.desk.configured(run.scope, role, agent.model),
                # Recorded, so that a journal replays where other keys are.
                "nonce": nonce_for(run.id, self._nonce_key),
            }

        execution.agents[key] = job.agent.name
        asked = {
            "agent": job.agent.name,
            "tools": list(step.allowed),
            "arguments": step.arguments,
            "skill": step.skill,
        }
        found = await execution.step(
            f"{key}/equipment",
            asked,
            lambda: asyncio.to_thread(look),
            type=EntryType.step_started,
            of=key,
        )
        if not found.get("roles"):
            found = with_present_roles(found, self.broker.tools)
        return Equipment(**found)


class _Work:
    """One step on its way."""

    def __init__(
        self, operator: Operator, execution: Execution, key: str, job: Job, has: Equipment
    ) -> None:
        self._operator = operator
        self._execution = execution
        self._key = key
        self._job = job
        self._step = job.step
        self._asked = 0
        self._spent = Usage()
        self._has = has
        own = frozenset(job.step.allowed)
        self._calls = StepCalls(operator.broker, execution, key, job, has, own)
        self._done = self._calls.done

    async def done(self) -> Done:
        await self._directly()
        if not self._done.results and self._has.model:
            await self._with_model()
        elif not self._done.results:
            await self._by_fallback()
        await self._judge()
        if self._done.value is None and self._done.results:
            self._done.value = self._done.results[-1][2].value
        return await self._calls.finish()

    @property
    def _role(self) -> Role:
        return Role(self._job.agent.role)

    # Without a model

    async def _directly(self) -> None:
        """Calls the first tool when the plan says all it needs."""
        if self._must_call and self._is_ready(self._step.tools[0]):
            await self._try(self._step.tools[0], self._step.arguments, planned=True)

    async def _by_fallback(self) -> None:
        if not self._step.tools or self._job.composed:
            wanted = self._job.agent.model
            missing = f"{wanted} is not set up" if wanted else "none is set up"
            raise StepFailed(
                self._key,
                "no-model",
                f"{self._job.agent.title} works with a language model, and {missing}. "
                "An admin can add one on the page Models.",
            )
        for tool in self._step.fallback_tools:
            if self._is_ready(tool):
                await self._calls.deviate("fallback", tool, "The planned tools did not work.")
                await self._try(tool, self._step.arguments, planned=True)
            if self._done.results:
                return

    def _is_ready(self, tool: str) -> bool:
        return self._has.is_ready(self._step, tool)

    # With a model

    async def _with_model(self) -> None:
        messages: list[Message] = self._opening()
        nudged = False
        problem: str | None = None
        while self._asked < self._step.budget.calls + _TALK:
            answer = await self._request(messages)
            messages.append(answer.said)
            if answer.calls:
                taken, rest = answer.calls[:_AT_ONCE], answer.calls[_AT_ONCE:]
                messages.extend([await self._answer(call) for call in taken])
                messages.extend(_not_now(call) for call in rest)
                continue
            if self._must_call and not self._done.results and not nudged:
                nudged = True
                messages.append(User(self._nudge()))
                continue
            problem = self._finish(answer.text)
            if problem is None:
                return
            await self._calls.deviate("guardrail", None, problem)
            messages.append(User(f"That answer cannot be used: {problem} Answer again."))
        await self._calls.deviate("limit", None, "The step used up its requests.")
        if self._job.composed:
            why = f" The last one: {problem}" if problem else ""
            raise StepFailed(
                self._key, "no-answer", f"{self._job.agent.title} gave no usable answer.{why}"
            )

    @property
    def _must_call(self) -> bool:
        return self._job.must_call

    async def _request(self, messages: Sequence[Message]) -> ModelAnswer:
        self._require_budget()
        self._asked += 1
        tools = [self._has.spec(name) for name in self._open_tools() if self._has.knows(name)]
        asking = Asking(
            allow_rows=self._job.allow_rows,
            output_schema=self._job.output if not tools else None,
            max_tokens=self._most_tokens(),
            model=self._job.agent.model,
        )
        key = f"{self._key}/model/{self._asked}"
        answer = await self._operator.desk.request(
            self._execution, key, self._role, messages, tools, asking, shown_as=self._key
        )
        self._spent += answer.usage
        return answer

    @property
    def _tokens(self) -> int:
        return self._spent.input_tokens + self._spent.output_tokens

    def _require_budget(self) -> None:
        """An agent's own budget holds for all that it asks, beside the run's."""
        limit = self._job.limit
        if limit is None:
            return
        for most, used, unit in (
            (limit.tokens, self._tokens, "tokens"),
            (limit.usd, self._spent.cost or 0, "US dollars"),
        ):
            if most is not None and used >= most:
                raise StepFailed(
                    self._key,
                    "budget-exceeded",
                    f"{self._job.agent.title} may use {most:,} {unit} and has used {used:,}. "
                    "Raise the agent's budget or give it less to do.",
                )

    def _most_tokens(self) -> int | None:
        limit = self._job.limit
        if limit is None or limit.tokens is None:
            return self._step.budget.tokens
        return max(1, limit.tokens - self._tokens)

    def _opening(self) -> list[Message]:
        return [*opening(self._job, self._has), *map(self._tried_in_vain, self._calls.review.made)]

    def _tried_in_vain(self, made: Made) -> Message:
        told = f"{made.tool} was tried as planned and failed"
        if not self._has.marks_errors:
            return User(f"{told}: {made.why}")
        return error_message(told, made.why, self._has.nonce)

    def _open_tools(self) -> tuple[str, ...]:
        """Fallbacks come into view once a primary has failed."""
        failed = self._calls.review.has_failed
        open_ = self._step.allowed if failed or not self._step.tools else tuple(self._step.tools)
        return (*open_, *further_tools(self._job.agent, self._has.skill))

    async def _answer(self, call: Call) -> Message:
        if call.broken is not None:
            return ToolResult(
                call.id, call.tool, "The arguments are not a JSON object.", failed=True, rows=False
            )
        shown = await self._try(call.tool, dict(call.arguments), planned=False)
        reply = ToolResult(call.id, call.tool, "", failed=shown.failed)
        return as_message(shown, self._has.nonce, reply)

    def _nudge(self) -> str:
        names = ", ".join(self._open_tools())
        return f"Nothing was called. Do the step with: {names}."

    def _finish(self, text: str) -> str | None:
        """Takes the answer, or says why not."""
        sources = (self._job.task, *self._calls.review.texts)
        found = checked_output(self._job.agent.guardrails, text, self._job.output, About(sources))
        if found.problem is not None:
            return found.problem
        self._done.text = found.text
        if self._job.output is not None:
            self._done.value = found.value
        return None

    # Both ways

    async def _try(self, tool: str, arguments: dict[str, Any], *, planned: bool) -> Shown:
        if not planned:
            arguments = await self._disarmed(tool, arguments)
        shown = await self._calls.make(tool, arguments, planned=planned)
        if not shown.failed and tool in self._step.allowed and tool not in self._step.tools:
            await self._calls.deviate(
                "fallback", tool, "A fallback did what a planned tool did not."
            )
        return shown

    async def _disarmed(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        written = self._calls.review.disarmed(tool, arguments)
        if written != arguments:
            why = "Links that nobody named are written so that they cannot be followed."
            await self._calls.deviate("guardrail", tool, why)
        return written

    async def _judge(self) -> None:
        """Whether the plan was kept; a violation when none of its tools worked."""
        if not self._must_call:
            return
        used = {tool for _, tool, _ in self._done.results}
        self._done.adhered = bool(used & set(self._step.tools))
        if used:
            return
        why = next(
            (made.why for made in reversed(self._calls.review.made) if made.why),
            "Nothing was called.",
        )
        await self._calls.deviate("violation", None, why)
        names = ", ".join(self._step.allowed)
        raise StepFailed(self._key, VIOLATION, f"None of {names} worked. {why}")


def opening(job: Job, has: Equipment) -> list[Message]:
    """What a model is told before it has done anything."""
    told = [system_rule(has.nonce), job.agent.instructions]
    if has.skill:
        told.append(f"Follow this skill.\n\n{has.skill}")
    if job.step.tools:
        rule = _offer_rule if job.composed else _tools_rule
        told.append(rule(job.step))
    if job.agent.memory is not None:
        told.append(memory_rule(job.agent.memory))
    if job.said:
        told.append(job.said)
    if job.output is not None and has.tells_output and has.tools:
        # Models take no schema for their answer beside tools: it is told instead.
        schema = json.dumps(job.output, ensure_ascii=False)
        told.append(
            f"End with one JSON document that fits this JSON Schema, and nothing else:\n{schema}"
        )
    messages: list[Message] = [System("\n\n".join(told))]
    messages.extend(as_message(each, has.nonce) for each in job.given)
    messages.append(User(job.task))
    return messages


def _not_now(call: Call) -> ToolResult:
    told = f"Only {_AT_ONCE} calls are taken at once; this one was not looked at."
    return ToolResult(call.id, call.tool, told, failed=True, rows=False)


def _offer_rule(step: PlanStep) -> str:
    return (
        f"You may call: {', '.join(step.tools)}. Other tools do not exist for you. Call what you need, look at what it "
        f"returns, and end with an answer that states only what you were given or found. At most "
        f"{step.budget.calls} calls."
    )


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
