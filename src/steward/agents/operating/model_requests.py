"""Requests to models on a run's account: budget is set aside before, counted after, and the text is shown as it comes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from steward.agents.chat.live_text import Live
from steward.broker import Broker, Cost, Grant, Scrubber
from steward.models import Asking, Message, ModelAnswer, ModelDesk, Role, ToolSpec
from steward.runs import Execution, Json
from steward.store import Scope

CHARACTERS_PER_TOKEN: Final = 3
USUAL_ANSWER: Final = 500
LONG_ANSWER: Final = 2_000
"""Tokens of an answer whose length is not limited, for its price. What it costs beyond that stops the next request."""


def tokens_read(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """About how many tokens a request has that a model reads."""
    size = sum(len(str(each.to_json())) for each in [*messages, *tools])
    return size // CHARACTERS_PER_TOKEN


@dataclass(eq=False, repr=False)
class PaidDesk:
    _desk: ModelDesk
    _broker: Broker
    _live: Live | None = None
    _scrubber: Callable[[Scope], Scrubber] | None = None

    def configured(self, scope: Scope | None, role: Role, model: str | None = None) -> bool:
        return self._desk.configured(scope, role, model)

    def pinned(self, execution: Execution, role: Role, model: str | None = None) -> Json:
        """The models that the deployment of a run fixed for the role, or for a model that is named; None: none."""
        return Grant.from_json(execution.request.grant).fixed.models.get(model or role.value)

    def plans_in_stages(self, scope: Scope | None) -> bool:
        return self._desk.plans_in_stages(scope)

    async def request(
        self,
        execution: Execution,
        key: str,
        role: Role,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        asking: Asking | None = None,
        *,
        shown_as: str | None = None,
    ) -> ModelAnswer:
        """As `ModelDesk.request`; whoever watches the run sees the text under the name `shown_as`."""
        how = asking or Asking()
        how = replace(how, pinned=self.pinned(execution, role, how.model))
        read = tokens_read(messages, tools)
        estimate = Cost(tokens=read + USUAL_ANSWER)

        def price() -> Decimal:
            written = how.max_tokens or LONG_ANSWER
            return self._desk.most_cost(execution.run.scope, role, how, read, written)

        await self._broker.afford(execution, key, "model", estimate, price)
        watch = None
        if self._live is not None and not execution.replaying:
            scrubber = None
            if self._scrubber is not None:
                scrubber = await asyncio.to_thread(self._scrubber, execution.run.scope)
            watch = self._live.writer(execution.run.id, shown_as, scrubber)
        try:
            answer = await self._desk.request(
                execution, key, role, messages, tools, how, on_delta=watch
            )
        finally:
            if self._live is not None and watch is not None:
                await watch.finish()
                await self._live.answered(execution.run.id)
        usage = answer.usage
        tokens = usage.input_tokens + usage.output_tokens
        await self._broker.spent(execution, key, Cost(usage.cost or Decimal(0), tokens))
        return answer

    async def forget(self, execution: Execution) -> None:
        """Once the run is over: everything that was shown is in the journal."""
        if self._live is not None and not execution.replaying:
            await self._live.forget(execution.run.id)
