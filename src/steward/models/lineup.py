"""Which models stand behind a role: those of the settings, else the project's, else the organisation's, with keys."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from steward.core import (
    Misconfigured,
    ModelChoice,
    ModelPrice,
    ModelsSettings,
    NotFound,
    StewardError,
    secret_from_environment,
)
from steward.models.abilities import Abilities, AbilityMemory
from steward.models.answer import ModelAnswer
from steward.models.backend import Backend, Failed, OnDelta, Patience
from steward.models.local.server import LocalServers
from steward.models.messages import Request
from steward.models.prices import Prices
from steward.models.provided import (
    ProvidedModel,
    name_of,
    needs_key,
    place_of_model,
    settings_of,
)
from steward.models.providers import check_choice, provider_of
from steward.models.setups import LEVELS, SetUpModel, Setups, own_scope
from steward.store import Scope, SecretStore

if TYPE_CHECKING:
    import httpx2

NO_MODEL: Final = (
    "No language model is set up. Simple questions, recipes and playbooks work without one. An admin can add a model "
    "on the page Models."
)


class Role(StrEnum):
    planner = "planner"
    operator = "operator"
    explainer = "explainer"


Source = Literal["settings", "project", "organisation"]
Reach: TypeAlias = "Callable[[str, bool], Awaitable[httpx2.AsyncBaseTransport | None]]"
"""Looks at the address of a server before it is asked, and whether it may be a private one; raises where it may not be
called. Gives the line that leads to the address which was looked at, where that matters."""


class Lineup(Protocol):
    """Where a desk gets its models from."""

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:
        """The models of a role in the order in which they are asked, as `provider:name`; empty: none."""
        ...

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:
        """The same, ready to be asked for a project."""
        ...

    def every(self, scope: Scope | None) -> Sequence[Backend]:
        """All models that can be asked, each once for each way of asking it, whatever they are used for."""
        ...


@dataclass(frozen=True)
class Chosen:
    """A model that is asked, and who chose it."""

    choice: ModelChoice
    source: Source = "settings"
    label: str | None = None
    """Its name on the page, where it was set up there."""
    keys: Scope | None = None
    """Whose secrets hold its key."""
    price: ModelPrice | None = None
    near: bool = True
    """Whether it may be on this machine or a private network."""


class ConfiguredModels:
    """The models of the settings, and those that people set up; the settings win."""

    def __init__(
        self,
        settings: ModelsSettings,
        secrets: SecretStore | None = None,
        *,
        setups: Setups | None = None,
        memory: AbilityMemory | None = None,
        reach: "Reach | None" = None,
        servers: LocalServers | None = None,
    ) -> None:
        for name in ("default", *Role):
            _check_settings(f"models.{name}", getattr(settings, name))
        self._settings = settings
        self._secrets = secrets
        self.setups = setups
        self._reach = reach
        self.servers = servers
        self.memory = memory or AbilityMemory()

    def choices(self, scope: Scope | None, role: Role) -> list[Chosen]:
        if fixed := list(_chain_of(self._settings, role)):
            return [Chosen(choice, keys=scope) for choice in fixed]
        if scope is None or self.setups is None:
            return []
        for level in LEVELS:
            setup = self.setups.current(scope, level).setup
            labels = setup.chosen(role.value)
            if labels:
                keys = own_scope(scope, level)
                return [set_up(setup.models[label], level, label, keys) for label in labels]
        return []

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:
        return [name_of(each.choice) for each in self.choices(scope, role)]

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:
        return [self.backend(each) for each in self.choices(scope, role)]

    def every(self, scope: Scope | None) -> Sequence[Backend]:
        chosen = [each for role in Role for each in self.choices(scope, role)]
        fixed = any(each.source == "settings" for each in chosen)
        if scope is not None and self.setups is not None and not fixed:
            for level in LEVELS:
                setup = self.setups.current(scope, level).setup
                keys = own_scope(scope, level)
                chosen += [set_up(each, level, label, keys) for label, each in setup.models.items()]
        first = {
            (name_of(each.choice), settings_of(each.choice)): each for each in reversed(chosen)
        }
        return [self.backend(each) for each in reversed(first.values())]

    def abilities(self, chosen: Chosen) -> Abilities:
        return self.memory.known(chosen.choice)

    def backend(self, chosen: Chosen) -> Backend:
        choice = chosen.choice
        try:
            provider, key = provider_of(choice), self.key(chosen)
        except Misconfigured as problem:
            # Not raised here: a fallback may have its key.
            return _Unusable(name_of(choice), settings_of(choice), problem)
        own = {} if chosen.price is None else {name_of(choice): chosen.price}
        prices = Prices({**self._settings.prices, **own})
        if provider.open is None:
            return _Local(choice, prices, self.memory, self.servers)
        line = partial(self.line, chosen)
        return ProvidedModel(choice, key, prices, self.memory, line=line)

    async def line(self, chosen: Chosen) -> "httpx2.AsyncBaseTransport | None":
        """A line to the model where it needs one of its own; raises where it may not be called from here."""
        address = place_of_model(chosen.choice)
        if self._reach is None or address is None:
            return None
        return await self._reach(address, chosen.near)

    def key(self, chosen: Chosen) -> str | None:
        """The key, for the code that asks the model; it must not reach a prompt, log, trace or error."""
        scope, choice = chosen.keys, chosen.choice
        if choice.api_key is not None:
            return choice.api_key.get_secret_value()
        if choice.api_key_variable is not None:
            found = secret_from_environment(choice.api_key_variable)
            if found is None:
                raise _no_key(
                    choice, f"The environment variable {choice.api_key_variable} is not set."
                )
            return found.get_secret_value()
        if choice.api_key_secret is not None:
            return self._stored(scope, choice, choice.api_key_secret)
        if needs_key(choice):
            raise _no_key(
                choice, "Set api_key_variable, api_key_secret or api_key beside its name."
            )
        return None

    def _stored(self, scope: Scope | None, choice: ModelChoice, name: str) -> str:
        if scope is None or self._secrets is None:
            raise _no_key(choice, f"The secret {name!r} belongs to a project, and none is given.")
        try:
            return self._secrets.get(scope, name)
        except NotFound as missing:
            raise _no_key(choice, missing.message) from None


class FixedModels:
    """Models given by hand: the same for every role, or by role."""

    def __init__(
        self, *models: Backend, by_role: Mapping[Role, Sequence[Backend]] | None = None
    ) -> None:
        self._models = models
        self._by_role = by_role or {}

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:
        return [backend.model for backend in self.backends(scope, role)]

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:  # noqa: ARG002
        return self._by_role.get(role, self._models)

    def every(self, scope: Scope | None) -> Sequence[Backend]:
        return unique_models(each for role in Role for each in self.backends(scope, role))


def unique_models(backends: Iterable[Backend]) -> Sequence[Backend]:
    """The first of each name and way of asking it."""
    found: dict[tuple[str, str], Backend] = {}
    for each in backends:
        found.setdefault((each.model, each.settings), each)
    return list(found.values())


class _Unusable:
    """A model that cannot be asked; says why, so that the next one is."""

    may_see_rows = False
    in_stages = False
    patience = Patience(attempts=1)

    def __init__(self, model: str, settings: str, problem: Misconfigured) -> None:
        self.model = model
        self.settings = settings
        self._problem = problem

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:  # noqa: ARG002
        return None

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:  # noqa: ARG002
        raise Failed(self._problem)


class _Local:
    """A model that Steward runs itself: its server is started with the first request and rests when nobody asks."""

    def __init__(
        self,
        choice: ModelChoice,
        prices: Prices,
        memory: AbilityMemory,
        servers: LocalServers | None,
    ) -> None:
        self._choice = choice
        self._prices = prices
        self._memory = memory
        self._servers = servers
        self.model = name_of(choice)
        self.settings = settings_of(choice)
        self.may_see_rows = choice.allow_rows
        self.in_stages = memory.known(choice).plans_in_stages(choice)
        self.patience = Patience(attempts=2)

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        return self._prices.cost(
            self._choice, input_tokens=input_tokens, output_tokens=output_tokens
        )

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:
        if self._servers is None:
            raise Failed(Misconfigured("Models of this machine are not run here."))
        try:
            async with self._servers.serving(self._choice.name) as server:
                there = {"provider": "compatible", "base_url": server.address}
                asked = self._choice.model_copy(update=there)
                model = ProvidedModel(asked, server.key, self._prices, self._memory, self._choice)
                return await model.answer(request, on_delta)
        except StewardError as problem:
            raise Failed(problem) from None


def set_up(model: SetUpModel, source: Source, label: str, keys: Scope) -> Chosen:
    return Chosen(model.choice(), source, label, keys, model.price, model.near)


def _check_settings(name: str, choice: ModelChoice | None) -> None:
    for each in () if choice is None else _chain(choice):
        try:
            check_choice(each)
        except Misconfigured as problem:
            said = f"Some settings are not valid: {name}: {problem.message}"
            raise Misconfigured(said, code="model-misconfigured") from None


def _chain_of(settings: ModelsSettings, role: Role) -> Iterator[ModelChoice]:
    own: ModelChoice | None = getattr(settings, role.value)
    first = own or settings.default
    if first is not None:
        yield from _chain(first)


def _chain(choice: ModelChoice) -> Iterator[ModelChoice]:
    yield choice
    for fallback in choice.fallbacks:
        yield from _chain(fallback)


def _no_key(choice: ModelChoice, why: str) -> Misconfigured:
    return Misconfigured(f"{name_of(choice)} has no key. {why}", code="model-key-missing")
