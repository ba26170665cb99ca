"""The desk: asks the models of a role for a run, patiently, and has the journal remember what came back."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Final, Protocol, TypeAlias

from steward.core import Misconfigured, StewardError, reaching_for
from steward.models.answer import Attempt, ModelAnswer
from steward.models.backend import Backend, Delta, Failed, OnDelta, gist
from steward.models.lineup import NO_MODEL, Lineup, Role
from steward.models.messages import Asking, Json, Message, Request, ToolSpec, message_from_json
from steward.store import Scope

MODEL_ASKED: Final = "model.asked"
"""The type of the entry in which a journal keeps a request to a model."""
Pause: TypeAlias = Callable[[float], Awaitable[None]]
Conceal: TypeAlias = Callable[[Scope, Json], Json]
"""Takes the values of a project's secrets out of what is about to be sent and recorded."""


class HasScope(Protocol):
    @property
    def scope(self) -> Scope: ...


class Journaled(Protocol):
    """What a desk needs of a run: a step that is done once and remembered. An `Execution` is one."""

    @property
    def run(self) -> HasScope: ...

    async def step(
        self,
        key: str,
        request: Json,
        perform: Callable[[], Awaitable[Json]],
        *,
        type: str = ...,  # noqa: A002
        interruptible: bool = ...,
    ) -> Json: ...


class ModelDesk:
    def __init__(
        self, models: Lineup, *, pause: Pause = asyncio.sleep, conceal: Conceal | None = None
    ) -> None:
        self._models = models
        self._pause = pause
        self._conceal = conceal

    def configured(self, scope: Scope | None, role: Role, model: str | None = None) -> bool:
        """Whether anybody would answer: a model of the role, or the one that is named."""
        if model is not None:
            return model in self.all_names(scope)
        return bool(self._models.names(scope, role))

    def all_names(self, scope: Scope | None) -> Sequence[str]:
        """Every model that can be asked, as `provider:name`."""
        return list(dict.fromkeys(backend.model for backend in self._models.every(scope)))

    def plans_in_stages(self, scope: Scope | None) -> bool:
        """Whether the planner's first model is asked in short stages."""
        backends = self._models.backends(scope, Role.planner)
        return bool(backends) and backends[0].in_stages

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:
        """The models of a role in the order in which they are asked, for people."""
        return self._models.names(scope, role)

    def pins(self, scope: Scope | None, role: Role, model: str | None = None) -> list[Json]:
        """The models that are asked now, in their order, as `Asking.pinned` has them."""
        return [
            {"model": each.model, "settings": each.settings, "rows": each.may_see_rows}
            for each in self._asked(scope, role, Asking(model=model))
        ]

    def most_cost(
        self,
        scope: Scope | None,
        role: Role,
        asking: Asking,
        input_tokens: int,
        output_tokens: int,
    ) -> Decimal:
        """US dollars of a request at the dearest of the models that may be asked; unknown prices count as none."""
        quotes = self.quotes(scope, role, asking, input_tokens, output_tokens)
        return max((usd for _, usd in quotes if usd is not None), default=Decimal(0))

    def quotes(
        self,
        scope: Scope | None,
        role: Role,
        asking: Asking,
        input_tokens: int,
        output_tokens: int,
    ) -> list[tuple[str, Decimal | None]]:
        """The models that may be asked, the first first, each with US dollars of a request; None: no price is known."""
        return [
            (each.model, each.quote(input_tokens, output_tokens))
            for each in self._asked(scope, role, asking)
        ]

    async def request(
        self,
        execution: Journaled,
        key: str,
        role: Role,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        asking: Asking | None = None,
        *,
        on_delta: OnDelta | None = None,
    ) -> ModelAnswer:
        """The answer, from the journal where it is known. Failures come as the run's `StepFailed`.

        The journal keeps what was asked and what was answered, not which models were configured: a replay
        calls none and needs none. Pieces of a recorded answer are not shown again.
        """
        request = Request(role.value, tuple(messages), tuple(tools), asking or Asking())
        request = self._concealed(execution.run.scope, request)

        async def perform() -> Json:
            answer = await self.answer(execution.run.scope, request, on_delta=on_delta)
            return answer.to_json()

        # A person who cancels does not wait for a model to finish its sentence.
        recorded = await execution.step(
            key, request.to_json(), perform, type=MODEL_ASKED, interruptible=True
        )
        return ModelAnswer.from_json(recorded)

    async def answer(
        self, scope: Scope | None, request: Request, *, on_delta: OnDelta | None = None
    ) -> ModelAnswer:
        """The answer of the first model that gives one; outside a run, nothing is recorded."""
        backends = await asyncio.to_thread(self._backends, scope, request)
        attempts: list[Attempt] = []
        errors: list[StewardError] = []
        shown = _Shown(on_delta)
        for number, backend in enumerate(backends, 1):
            try:
                with reaching_for(scope):
                    return await self._patiently(backend, request, shown, attempts)
            except Failed as failure:
                errors.append(failure.error)
                if number < len(backends):
                    await shown.trying(failure.error, f"Asking {backends[number].model} instead.")
        raise _summary(errors) from None

    def _backends(self, scope: Scope | None, request: Request) -> Sequence[Backend]:
        asking = request.asking
        found = self._asked(scope, Role(request.role), asking)
        if found:
            return found
        if asking.pinned:
            names = ", ".join(dict.fromkeys(each["model"] for each in asking.pinned))
            raise Misconfigured(
                f"This run was deployed with the model {names}, which is not set up any more as it was then. "
                "An admin can set it up again on the page Models, or an editor deploys the playbook again "
                "with the models of today.",
                code="pinned-model-gone",
            )
        if asking.model is None:
            raise Misconfigured(NO_MODEL, code="no-model")
        raise Misconfigured(
            f"The model {asking.model!r} is not set up. An admin can add it on the page Models.",
            code="no-model",
        )

    def _asked(self, scope: Scope | None, role: Role, asking: Asking) -> Sequence[Backend]:
        """Who is asked, the first first: those that a deployment fixed and that are still there, or a named one, or the role's."""
        if asking.pinned:
            there = {(each.model, each.settings): each for each in self._models.every(scope)}
            pinned = [(each["model"], each["settings"]) for each in asking.pinned]
            return [there[each] for each in pinned if each in there]
        if asking.model is None:
            return self._models.backends(scope, role)
        return [each for each in self._models.every(scope) if each.model == asking.model][:1]

    async def _patiently(
        self, backend: Backend, request: Request, shown: "_Shown", attempts: list[Attempt]
    ) -> ModelAnswer:
        # The stricter of what was deployed and what is set today.
        may_see_rows = backend.may_see_rows and all(
            each["rows"]
            for each in request.asking.pinned or ()
            if (each["model"], each["settings"]) == (backend.model, backend.settings)
        )
        withhold = request.shows_rows and not (may_see_rows and request.asking.allow_rows)
        sent = request.without_rows() if withhold else request
        failed = 0
        while True:
            try:
                answer = await backend.answer(sent, shown)
            except Failed as failure:
                failed += 1
                wait = backend.patience.wait(failed, failure.after) if failure.again else None
                error = failure.error
                attempts.append(
                    Attempt(backend.model, error.specific_code, error.message, wait or 0.0)
                )
                await shown.restart()
                if wait is None:
                    raise
                tries = f"try {failed + 1} of {backend.patience.attempts}"
                await shown.trying(error, f"Asking again in {wait:.0f} s, {tries}.")
                await self._pause(wait)
            else:
                return ModelAnswer(
                    answer.parts,
                    answer.model,
                    answer.finish,
                    answer.usage,
                    withhold,
                    tuple(attempts),
                )

    def _concealed(self, scope: Scope, request: Request) -> Request:
        if self._conceal is None:
            return request
        said = [message_from_json(m) for m in self._conceal(scope, request.to_json()["messages"])]
        return Request(request.role, tuple(said), request.tools, request.asking)


class _Shown:
    """Passes pieces on and remembers whether a failed try showed any, which must then be taken back."""

    def __init__(self, on_delta: OnDelta | None) -> None:
        self._on_delta = on_delta
        self._some = False

    async def __call__(self, delta: Delta) -> None:
        if self._on_delta is not None:
            self._some = True
            await self._on_delta(delta)

    async def trying(self, error: StewardError, what: str) -> None:
        """Why nothing is seen for a while."""
        if self._on_delta is not None:
            await self._on_delta(Delta("trying", f"{gist(error.message)} {what}"))

    async def restart(self) -> None:
        if self._some and self._on_delta is not None:
            await self._on_delta(Delta("restart"))
        self._some = False


def _summary(errors: Sequence[StewardError]) -> StewardError:
    last = errors[-1]
    if len(errors) == 1:
        return last
    told = " ".join(error.message for error in errors)
    return type(last)(f"None of {len(errors)} models answered. {told}", code=last.specific_code)
