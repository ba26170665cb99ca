"""A model that answers from a script: for tests of agents, flows and everything else that asks one.

    model = ScriptedModel([calls("list_datasets"), "There are two datasets."])
    desk = scripted_desk(model)

Each item of the script is one answer, in order:

- a text, or `says("…", finish="length")`;
- `calls("tool", column="a")`, a call of a tool; `answers(...)` puts texts and calls together;
- `fails("model-rate-limited", after=3)`, a try without an answer; the desk tries again as with a real model;
- `waits(40, item)`, an item that comes late by the clock; later than the model's `stall`, it is a failure;
- a function of the request that returns one of these.

A script that ends too early fails the test; `model.assert_finished()` fails it when something was left over.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from steward.core import Misconfigured, MovableClock, Unavailable
from steward.models import (
    Backend,
    Call,
    Conceal,
    Delta,
    Failed,
    FixedModels,
    ModelAnswer,
    ModelDesk,
    OnDelta,
    Patience,
    Request,
    Role,
    Said,
    Text,
    Thought,
    Usage,
    unique_models,
)
from steward.store import Scope

_PASSING = frozenset(
    {"model-rate-limited", "model-unavailable", "model-stalled", "model-unreachable"}
    | {"model-answer-broken"}
)


@dataclass(frozen=True)
class Answer:
    parts: tuple[Text | Thought | Call, ...]
    finish: str | None = None


@dataclass(frozen=True)
class Failure:
    code: str
    message: str
    after: float | None = None
    shown: str = ""
    """What people saw of the answer before it broke off."""


@dataclass(frozen=True)
class Wait:
    seconds: float
    item: "Item"


Item: TypeAlias = "str | Answer | Failure | Wait | Call | Callable[[Request], Item]"


def says(text: str, *, finish: str = "stop") -> Answer:
    return Answer((Text(text),), finish)


def calls(tool: str, /, **arguments: Any) -> Call:
    """A call of a tool; its id is given when it is played."""
    return Call("", tool, arguments)


def calls_brokenly(tool: str, arguments: str) -> Call:
    """A call whose arguments are not a JSON object, as models write them now and then."""
    return Call("", tool, {}, broken=arguments)


def answers(*parts: str | Text | Thought | Call) -> Answer:
    return Answer(tuple(Text(part) if isinstance(part, str) else part for part in parts))


def fails(
    code: str = "model-unavailable", *, after: float | None = None, shown: str = ""
) -> Failure:
    """A try without an answer; `after` is how long the provider asks to be left alone."""
    return Failure(code, f"The script says {code}.", after, shown)


def waits(seconds: float, item: Item) -> Wait:
    return Wait(seconds, item)


@dataclass
class ScriptedModel:
    script: Iterable[Item]
    name: str = "scripted"
    clock: MovableClock | None = None
    """Moved by `waits`, and by the pauses of `scripted_desk` between two tries."""
    stall: float = 120.0
    settings: str = ""
    """Names where and how it is asked; models of one name with other settings are others."""
    may_see_rows: bool = True
    in_stages: bool = False
    """Whether plans are asked for in short stages, as small models need it."""
    patience: Patience = field(default_factory=Patience)
    price: Decimal | None = Decimal(0)
    """US dollars for each word that is read or written."""
    requests: list[Request] = field(default_factory=list)
    """What was asked, in order: what a test looks at."""

    def __post_init__(self) -> None:
        self._left = list(self.script)
        self._calls = 0

    @property
    def model(self) -> str:
        return f"scripted:{self.name}"

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        return None if self.price is None else self.price * (input_tokens + output_tokens)

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:
        self.requests.append(request)
        if not self._left:
            raise AssertionError(
                f"{self.model} has no answer left for request {len(self.requests)}: {request.messages[-1]}"
            )
        return await self._played(self._left.pop(0), request, on_delta)

    def assert_finished(self) -> None:
        if self._left:
            raise AssertionError(f"{self.model} was not asked for the rest: {self._left}")

    async def _played(self, item: Item, request: Request, on_delta: OnDelta) -> ModelAnswer:
        match item:
            case str():
                return await self._played(says(item), request, on_delta)
            case Call():
                return await self._played(answers(item), request, on_delta)
            case Wait():
                self._pass(min(item.seconds, self.stall))
                late = item.seconds > self.stall
                then = fails("model-stalled") if late else item.item
                return await self._played(then, request, on_delta)
            case Failure():
                if item.shown:
                    await on_delta(Delta("text", item.shown))
                raise _failed(item)
            case Answer():
                return await self._given(item, request, on_delta)
            case _:
                return await self._played(item(request), request, on_delta)

    async def _given(self, item: Answer, request: Request, on_delta: OnDelta) -> ModelAnswer:
        parts = tuple(self._numbered(part) for part in item.parts)
        for part in parts:
            for delta in _deltas(part):
                await on_delta(delta)
        said = Said(parts)
        finish = item.finish or ("tool-calls" if said.calls else "stop")
        read, written = _words(request.to_json()["messages"]), _words(said.to_json())
        cost = None if self.price is None else self.price * (read + written)
        return ModelAnswer(parts, self.model, finish, Usage(read, written, requests=1, cost=cost))

    def _numbered(self, part: Text | Thought | Call) -> Text | Thought | Call:
        if not isinstance(part, Call) or part.id:
            return part
        self._calls += 1
        return Call(f"call-{self.name}-{self._calls}", part.tool, part.arguments, part.broken)

    def _pass(self, seconds: float) -> None:
        if self.clock is not None:
            self.clock.advance(seconds=seconds)


class ScriptedLineup:
    """The models of a test's installation: none, until a test lets some play."""

    def __init__(self) -> None:
        self._models: dict[Role, Sequence[Backend]] = {}

    def play(self, *models: Backend, role: Role | None = None) -> None:
        """From now on these are asked, by one role or by all of them."""
        for each in [role] if role is not None else list(Role):
            self._models[each] = models

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:
        return [backend.model for backend in self.backends(scope, role)]

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:  # noqa: ARG002
        return self._models.get(role, ())

    def every(self, scope: Scope | None) -> Sequence[Backend]:
        return unique_models(each for role in Role for each in self.backends(scope, role))


def scripted_desk(*models: ScriptedModel, conceal: Conceal | None = None) -> ModelDesk:
    """A desk of scripted models, the first asked first, for every role; none: no model is configured."""
    clocks = [model.clock for model in models if model.clock is not None]

    async def pause(seconds: float) -> None:
        for clock in {id(clock): clock for clock in clocks}.values():
            clock.advance(seconds=seconds)

    return ModelDesk(FixedModels(*models), pause=pause, conceal=conceal)


def _failed(item: Failure) -> Failed:
    if item.code in _PASSING:
        return Failed(Unavailable(item.message, code=item.code), again=True, after=item.after)
    return Failed(Misconfigured(item.message, code=item.code))


def _deltas(part: Text | Thought | Call) -> Iterable[Delta]:
    match part:
        case Call():
            yield Delta("call", part.tool)
        case Text() | Thought():
            kind = "text" if isinstance(part, Text) else "thought"
            for number, word in enumerate(part.text.split(" ")):
                yield Delta(kind, word if number == 0 else f" {word}")  # type: ignore[arg-type]


def _words(value: Any) -> int:
    return len(json.dumps(value).split())
