"""The calls of one step, whoever chooses them: each is reviewed, made through the broker and written down."""

from collections.abc import Set
from typing import Any, Final

from steward.agents.operating.call_review import CallReview
from steward.agents.operating.equipment import Equipment
from steward.agents.operating.job import Done, Job
from steward.agents.operating.result_views import ERROR_SOURCE, Shown, result_shown
from steward.agents.operating.wanted_calls import Made
from steward.broker import Broker, Risk, untrusted
from steward.runs import EntryType, Execution, Json, StepFailed

ENDING: Final = frozenset(
    {"budget-exceeded", "too-many-steps", "rejected", "expired", "given-up", "withdrawn"}
)
"""Failures after which nothing else is tried: a person or a limit has spoken."""


class StepCalls:
    def __init__(
        self,
        broker: Broker,
        execution: Execution,
        key: str,
        job: Job,
        equipment: Equipment,
        counted: Set[str] | None = None,
    ) -> None:
        """`counted`: the tools whose results are the step's own; without it, all of them."""
        self._broker = broker
        self._execution = execution
        self._key = key
        self._has = equipment
        self._counted = counted
        self._called = 0
        self.review = CallReview(job, equipment)
        self.done = Done()

    async def make(
        self, tool: str, arguments: dict[str, Any], *, name: str = "", planned: bool = False
    ) -> Shown:
        """What the agent may read of it, also where it was refused or failed.

        `name` tells calls apart in the journal; without one they are numbered.
        """
        review = self.review
        weighed = review.weigh(tool, arguments, planned=planned)
        if weighed.refused is not None:
            why = weighed.refused
            review.made.append(Made(tool, dict(arguments), failed=True, why=why, refused=True))
            await self.deviate("outside-plan", tool, why)
            return Shown.error(why)
        self._called += 1
        key = f"{self._key}/call/{name or self._called}"
        try:
            found = await self._broker.call(
                self._execution,
                key,
                tool,
                arguments,
                weighed.labels,
                asked_for=weighed.asked_for,
                doubts=weighed.doubts,
                # An agent that chose the call reads errors of a service itself.
                accept_failure=not planned,
            )
        except StepFailed as failure:
            if failure.code in ENDING:
                raise
            review.made.append(Made(tool, arguments, failed=True, why=failure.message))
            # Others may have written the words of an error.
            shown = Shown.error(failure.message, untrusted(ERROR_SOURCE))
            review.see(shown)
            return shown
        shown = result_shown(tool, found)
        review.see(shown)
        if self._counted is None or tool in self._counted:
            review.made.append(Made(tool, arguments))
            if not self._has.risk(tool).at_most(Risk.compute):
                self.done.made.append(Made(tool, arguments))
            self.done.results.append((key, tool, found))
        return shown

    async def deviate(self, kind: str, tool: str | None, why: str) -> None:
        deviation: Json = {"kind": kind, "tool": tool, "why": why}
        self.done.deviations.append(deviation)
        await self._execution.note(
            f"{self._key}/deviation/{len(self.done.deviations)}",
            deviation,
            type=EntryType.step_deviated,
            of=self._key,
        )

    async def finish(self) -> Done:
        """Writes down that the step is done, and what came of it."""
        self.done.labels = self.review.labels
        await self._execution.note(
            f"{self._key}/done", self.done.to_json(), type=EntryType.step_finished, of=self._key
        )
        return self.done
