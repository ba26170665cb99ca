"""A model of the settings, asked through the SDK; nothing of the SDK is loaded before the first request."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from decimal import Decimal
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from steward.core import ModelChoice, StewardError, keep_loaded
from steward.models.abilities import WAYS, Abilities, AbilityMemory, Way
from steward.models.answer import ModelAnswer, Usage
from steward.models.backend import Delta, Failed, OnDelta, Patience
from steward.models.messages import Call, Json, Request, part_to_json, parts_from_json
from steward.models.prices import Prices
from steward.models.providers import known_provider, provider_of
from steward.models.spoken_tools import is_spoken_call, spoken, understood

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai import messages as sdk
    from pydantic_ai.models import Model

_CONNECT_S = 10.0
Line: TypeAlias = "Callable[[], Awaitable[httpx2.AsyncBaseTransport | None]]"
"""Asked before each request: raises where the model may not be called; gives a line of its own to it, or none."""
_LOADED: set[tuple[str, str]] = set()


class ProvidedModel:
    """One model as it is configured, with its key."""

    def __init__(
        self,
        choice: ModelChoice,
        key: str | None,
        prices: Prices,
        memory: AbilityMemory | None = None,
        known_as: ModelChoice | None = None,
        line: "Line | None" = None,
    ) -> None:
        """`known_as` is how its abilities and its name are remembered, where its address moves."""
        self._choice = choice
        self._known_as = known_as or choice
        self._key = key
        self._line = line
        self._prices = prices
        self._memory = memory or AbilityMemory()

    @property
    def model(self) -> str:
        return name_of(self._known_as)

    @property
    def settings(self) -> str:
        return settings_of(self._known_as)

    @property
    def may_see_rows(self) -> bool:
        return self._choice.allow_rows

    @property
    def in_stages(self) -> bool:
        return self._memory.known(self._known_as).plans_in_stages(self._known_as)

    @property
    def patience(self) -> Patience:
        longest = self._choice.longest_wait.total_seconds()
        return Patience(self._choice.attempts, longest_wait=longest)

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        return self._prices.cost(
            self._choice, input_tokens=input_tokens, output_tokens=output_tokens
        )

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:
        """What the server cannot do is done another way, and remembered: tools in words, schemas step by step."""
        # The first import takes seconds; the event loop has other people to serve.
        if (self._choice.provider, self._choice.api) not in _LOADED:
            await asyncio.to_thread(load, self._choice)
        known = await asyncio.to_thread(self._memory.known, self._known_as)
        if request.tools and known.tools is False:
            return await self._answered_in_words(request, on_delta, known)
        answer = await self._held(request, on_delta, known)
        if request.tools and not answer.calls and is_spoken_call(answer.parts, request.tools):
            # Its server makes no call of what the model writes.
            await self._learn(tools=False)
            parts = understood(answer.parts, request)
            return replace(answer, parts=parts, finish="tool-calls")
        return answer

    async def _answered_in_words(
        self, request: Request, on_delta: OnDelta, known: Abilities
    ) -> ModelAnswer:
        answer = await self._held(spoken(request), _unseen(on_delta), known)
        parts = understood(answer.parts, request)
        called = any(isinstance(part, Call) for part in parts)
        return replace(answer, parts=parts, finish="tool-calls" if called else answer.finish)

    async def _held(self, request: Request, on_delta: OnDelta, known: Abilities) -> ModelAnswer:
        """Holds the model to the schema of the request in the strictest way that works."""
        if request.asking.output_schema is None:
            return await self._once(request, on_delta, "text")
        ways = [way for way in WAYS if way in self._possible_ways]
        if known.way in ways:
            ways = [known.way, *(way for way in ways if way != known.way)]
        first: Failed | None = None
        for way in ways:
            try:
                answer = await self._once(request, on_delta, way)
            except Failed as failure:
                first = first or failure
                # A way that has worked before is not doubted because a server is in trouble.
                if not failure.asked or (way == known.way and failure.again):
                    raise
                continue
            if way != known.way:
                await self._learn(way=way)
            return answer
        assert first is not None  # noqa: S101
        raise first

    @property
    def _possible_ways(self) -> tuple[Way, ...]:
        if provider_of(self._choice).speaks_openai and self._choice.api == "chat":
            return WAYS
        return ("json_schema", "text")

    async def _learn(self, **found: Any) -> None:
        await asyncio.to_thread(partial(self._memory.learn, self._known_as, **found))

    async def _once(self, request: Request, on_delta: OnDelta, way: Way) -> ModelAnswer:
        from steward.models.failures import failed
        from steward.models.translate import Names, from_sdk
        from steward.models.translate import finish as finish_of

        names = Names(request.tools)
        shown = _Shown(on_delta)
        try:
            async with asyncio.timeout(self._choice.timeout.total_seconds()):
                response = await self._ask(request, names, shown, way)
        except Failed:
            raise
        except Exception as problem:
            # Wide on purpose, and only here: SDKs raise anything at what a server may send.
            if shown.problem is not None:
                raise shown.problem from None  # ours, not the provider's
            raise failed(problem, self.model, self._key) from problem
        parts = from_sdk(response, names)
        if self._key:
            # A server knows the key it was sent, and what it answers is recorded.
            parts = parts_from_json(_without(self._key, [part_to_json(part) for part in parts]))
        finish = finish_of(response, parts)
        return ModelAnswer(parts, self.model, finish, self._usage(response.usage))

    async def _ask(
        self, request: Request, names: Any, shown: "_Shown", way: Way
    ) -> "sdk.ModelResponse":
        from steward.models.translate import parameters, sdk_settings, to_sdk

        stall = self._choice.stall.total_seconds()
        messages = to_sdk(request, names, way)
        settings = sdk_settings(request.asking, bool(request.tools), way)
        if not provider_of(self._choice).limits_itself:
            # The desk owns trying again: it knows the run, the fallbacks and what to record.
            settings |= {"timeout": stall, "max_retries": 0}
        try:
            transport = None if self._line is None else await self._line()
        except StewardError as problem:
            raise Failed(problem) from None
        async with AsyncExitStack() as stack:
            # One line per request: runs are driven on several event loops, which cannot share one, and a
            # handshake is little beside the time a model takes.
            client = await stack.enter_async_context(_client(stall, transport))
            model = _model(self._choice, self._key, client)
            asked = parameters(request, names, way)
            if not self._choice.stream:
                async with asyncio.timeout(stall):
                    return await model.request(messages, settings, asked)
            async with asyncio.timeout(stall) as silence:
                async with model.request_stream(messages, settings, asked) as stream:
                    async for event in stream:
                        silence.reschedule(asyncio.get_running_loop().time() + stall)
                        await shown.show(event)
                return stream.get()

    def _usage(self, used: Any) -> Usage:
        counted = {
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cache_read_tokens": used.cache_read_tokens,
            "cache_write_tokens": used.cache_write_tokens,
        }
        silent = used.input_tokens == 0 and used.output_tokens == 0
        # A server that does not count has not answered for nothing.
        cost = None if silent else self._prices.cost(self._choice, **counted)
        return Usage(**counted, requests=1, cost=cost)


class _Shown:
    """Passes pieces on as they come, and keeps apart what goes wrong on our side of it."""

    def __init__(self, on_delta: OnDelta) -> None:
        self._on_delta = on_delta
        self.problem: Exception | None = None

    async def show(self, event: Any) -> None:
        delta = _delta(event)
        if delta is None:
            return
        try:
            await self._on_delta(delta)
        except Exception as problem:
            self.problem = problem
            raise


def _unseen(on_delta: OnDelta) -> OnDelta:
    """JSON that stands for a call is nothing to watch; that the model writes is."""

    async def show(delta: Delta) -> None:
        if delta.kind != "text":
            await on_delta(delta)

    return show


def name_of(choice: ModelChoice) -> str:
    return f"{choice.provider}:{choice.name}"


def settings_of(choice: ModelChoice) -> str:
    """A hash over what decides who answers; keys, patience and what may be sent are no part of it."""
    parts = [choice.provider, choice.name, address_of(choice), choice.api]
    parts += [choice.region, choice.api_version]
    return sha256(json.dumps(parts).encode()).hexdigest()


def needs_key(choice: ModelChoice) -> bool:
    return provider_of(choice).needs_key


def address_of(choice: ModelChoice) -> str | None:
    provider = known_provider(choice)
    return choice.base_url or (None if provider is None else provider.address)


def place_of_model(choice: ModelChoice) -> str | None:
    """Where its requests go; None where that is not known before."""
    provider = provider_of(choice)
    return address_of(choice) or (provider.place(choice) if provider.place is not None else None)


def _without(secret: str, value: Json) -> Json:
    if isinstance(value, str):
        return value.replace(secret, "[key]")
    if isinstance(value, dict):
        return {_without(secret, name): _without(secret, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without(secret, item) for item in value]
    return value


def _delta(event: Any) -> Delta | None:
    from pydantic_ai import messages as sdk

    match event:
        case sdk.PartStartEvent(part=sdk.TextPart(content=text)):
            return Delta("text", text) if text else None
        case sdk.PartStartEvent(part=sdk.ThinkingPart(content=text)):
            return Delta("thought", text) if text else None
        case sdk.PartStartEvent(part=sdk.ToolCallPart(tool_name=name)):
            return Delta("call", name)
        case sdk.PartDeltaEvent(delta=sdk.TextPartDelta(content_delta=text)):
            return Delta("text", text) if text else None
        case sdk.PartDeltaEvent(delta=sdk.ThinkingPartDelta(content_delta=text)):
            return Delta("thought", text) if text else None
        case _:
            return None


def load(choice: ModelChoice) -> None:
    """Imports what a provider needs and makes one model to throw away: much of it is built on first use."""
    from steward.models import failures, translate  # noqa: F401

    provider = provider_of(choice)
    if provider.load is not None:
        provider.load()
    else:
        _model(choice, None, _client(_CONNECT_S))
    _LOADED.add((choice.provider, choice.api))
    keep_loaded()


@cache
def trusted_certificates() -> ssl.SSLContext:
    """The certificates of this machine, read once: that takes longer than everything else about a request."""
    import httpx2

    return httpx2.create_ssl_context()


def _client(
    stall: float, transport: "httpx2.AsyncBaseTransport | None" = None
) -> "httpx2.AsyncClient":
    import httpx2

    # No limit for the pool: a client of one request waits for none, and it tells these limits from the defaults,
    # about which an SDK would warn.
    timeout = httpx2.Timeout(stall, connect=min(_CONNECT_S, stall), pool=None)
    return httpx2.AsyncClient(verify=trusted_certificates(), timeout=timeout, transport=transport)


def _model(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    opens = provider_of(choice).open
    assert opens is not None  # noqa: S101
    return opens(choice, key, client)
