"""An agent of a package at work: its models through the desk, its tools as calls of the broker.

Its own library drives it, from the beginning in every pass; what was asked and called before comes from the journal. So a
run parks, crashes, goes on and replays like any other. A stop (an approval, a cancel) is remembered and raised again once
the library has ended: code in between may swallow exceptions.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_jsonable_python

from steward.agents.operating.equipment import Equipment, further_tools
from steward.agents.operating.job import Done, Job
from steward.agents.operating.memory import memory_rule
from steward.agents.operating.operator import Operator
from steward.agents.operating.packages import PackageAgent
from steward.agents.operating.result_views import Shown, as_message
from steward.agents.operating.step_calls import StepCalls
from steward.broker import first_problem, system_rule, without_roles
from steward.core import StewardError
from steward.models import (
    AgentStopped,
    Asking,
    Call,
    Message,
    ModelAnswer,
    Role,
    Said,
    System,
    ToolResult,
    ToolSpec,
    User,
)
from steward.runs import Execution, Json, StepFailed, Suspension, digest


class Passage:
    """One piece of work of an agent of a package, in one pass over its run."""

    def __init__(
        self,
        operator: Operator,
        package: PackageAgent,
        execution: Execution,
        key: str,
        job: Job,
        has: Equipment,
    ) -> None:
        self._operator = operator
        self._package = package
        self._execution = execution
        self._key = key
        self._job = job
        self._has = has
        self._calls = StepCalls(operator.broker, execution, key, job, has)
        self._stopped: BaseException | None = None
        self._asked: dict[str, int] = {}
        self._results: dict[str, ToolResult] = {}
        self._opening: dict[str, User] = {}
        self._one_at_a_time = asyncio.Lock()

    async def done(self) -> Done:
        title = self._job.agent.title
        if not self._has.model:
            raise StepFailed(
                self._key,
                "no-model",
                f"{title} works with a language model, and none is set up. "
                "An admin can add one on the page Models.",
            )
        given = [self._has.spec(name) for name in self._given_names() if self._has.knows(name)]
        turns = self._job.step.budget.calls + 1
        try:
            answer = await self._package.authored.run(self, self._said(), given, turns)
        except BaseException as error:
            # Whatever the library made of it: what stopped the work is what is told.
            if self._stopped is not None:
                raise self._stopped from None
            if isinstance(error, AgentStopped):
                raise StepFailed(self._key, error.code, f"{title}: {error.reason}") from error
            if isinstance(error, Exception):
                said = error.message if isinstance(error, StewardError) else repr(error)
                raise StepFailed(
                    self._key, "no-answer", f"{title} did not finish: {said[:500]}"
                ) from error
            raise
        if self._stopped is not None:
            # The library swallowed it and went on.
            raise self._stopped
        self._take(answer)
        return await self._calls.finish()

    # Models

    async def ask(
        self, messages: list[Message], tools: list[ToolSpec], asking: Asking
    ) -> ModelAnswer:
        if self._stopped is not None:
            raise self._stopped
        told = [self._known(each) for each in messages]
        rule = system_rule(self._has.nonce)
        if self._job.agent.memory is not None:
            rule = f"{rule}\n\n{memory_rule(self._job.agent.memory)}"
        if told and isinstance(told[0], System):
            told[0] = System(f"{rule}\n\n{told[0].text}")
        else:
            told.insert(0, System(rule))
        specs = [replace(each, parameters=without_roles(each.parameters)) for each in tools]
        asking = replace(asking, allow_rows=self._job.allow_rows)
        # By what is asked, not by when: guardrails may ask beside the agent.
        mark = digest([[each.to_json() for each in told], [each.to_json() for each in specs]])[:12]
        self._asked[mark] = self._asked.get(mark, 0) + 1
        key = f"{self._key}/model/{mark}.{self._asked[mark]}"
        try:
            answer = await self._operator.desk.request(
                self._execution, key, Role.operator, told, specs, asking, shown_as=self._key
            )
        except (StepFailed, Suspension) as stop:
            self._stop(stop)
            raise
        return _with_own_ids(answer, told, key)

    def _known(self, message: Message) -> Message:
        """What the library passes on as mere text, with what is known of it: whether it shows rows."""
        if isinstance(message, ToolResult):
            return self._results.get(message.call_id, message)
        if isinstance(message, User):
            return self._opening.get(message.text, message)
        return message

    def _said(self) -> list[str]:
        texts = []
        for each in self._job.given:
            message = as_message(each, self._has.nonce)
            if isinstance(message, User):
                self._opening[message.text] = message
                texts.append(message.text)
        return [*texts, self._job.task]

    # Tools

    def _given_names(self) -> list[str]:
        brought = set(map(self._package.tool_name, self._package.authored.tools))
        allowed = (*self._job.step.allowed, *further_tools(self._job.agent, ""))
        return [name for name in allowed if name not in brought]

    async def call(self, tool: str, call_id: str, written: str) -> str:
        is_own = tool in self._package.authored.tools
        name = self._package.tool_name(tool) if is_own else tool
        async with self._one_at_a_time:
            if self._stopped is not None:
                raise self._stopped
            try:
                told = await self._try(name, call_id, _object(written))
            except (StepFailed, Suspension) as stop:
                self._stop(stop)
                raise
        reply = ToolResult(call_id, tool, "", failed=told.failed)
        message = as_message(told, self._has.nonce, reply)
        if isinstance(message, ToolResult):
            self._results[call_id] = message
            return message.text
        return told.text

    async def _try(self, tool: str, call_id: str, arguments: dict[str, Any] | None) -> Shown:
        if arguments is None:
            return Shown.error("The arguments are not a JSON object.")
        arguments = self._calls.review.disarmed(tool, arguments)
        return await self._calls.make(tool, arguments, name=digest([call_id])[:12])

    # The end

    def _stop(self, why: BaseException) -> None:
        if self._stopped is None:
            self._stopped = why

    def _take(self, output: Any) -> None:
        value: Json = to_jsonable_python(output, fallback=str)
        done = self._calls.done
        done.text = value if isinstance(value, str) else json.dumps(value)
        done.value = value
        wanted = self._job.output
        wrong = first_problem(wanted, value) if wanted is not None else None
        if wrong is not None:
            raise StepFailed(
                self._key, "no-answer", f"The answer does not fit its schema: {wrong[:300]}."
            )


def _object(written: str) -> dict[str, Any] | None:
    try:
        found = json.loads(written or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _with_own_ids(answer: ModelAnswer, told: Sequence[Message], key: str) -> ModelAnswer:
    """The answer with an id of its own for every call: some servers count from the start in each answer.

    Calls are known by their ids, to the library as well as in the journal. What it depends on comes from the journal.
    """
    used = {call.id for message in told if isinstance(message, Said) for call in message.calls}
    parts = []
    for number, part in enumerate(answer.parts):
        if isinstance(part, Call):
            if not part.id or part.id in used:
                part = replace(part, id=f"call_{digest([key, number])[:20]}")  # noqa: PLW2901
            used.add(part.id)
        parts.append(part)
    return replace(answer, parts=tuple(parts))
