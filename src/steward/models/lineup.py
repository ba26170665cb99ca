"""Which models stand behind a role: the configured one, then its fallbacks, each with its key."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from steward.core.errors import Misconfigured, NotFound
from steward.core.settings import ModelChoice, ModelsSettings, secret_from_environment
from steward.models.answer import ModelAnswer
from steward.models.backend import Backend, Failed, OnDelta, Patience
from steward.models.messages import Request
from steward.models.prices import Prices
from steward.models.provided import ProvidedModel, name_of, needs_key
from steward.store import Scope, SecretStore

NO_MODEL: Final = (
    "No model is configured. Steward plans by rules and says so; recipes, playbooks and everything that needs no "
    "model work. To add one, set STEWARD_MODELS__DEFAULT__PROVIDER and STEWARD_MODELS__DEFAULT__NAME, and the key "
    "if it needs one; `steward doctor` then tests it."
)


class Role(StrEnum):
    planner = "planner"
    operator = "operator"
    explainer = "explainer"


class Lineup(Protocol):
    """Where a desk gets its models from."""

    def names(self, role: Role) -> Sequence[str]:
        """The models of a role in the order in which they are asked, as `provider:name`; empty: none."""
        ...

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:
        """The same, ready to be asked for a project."""
        ...


class ConfiguredModels:
    """The models of the settings."""

    def __init__(self, settings: ModelsSettings, secrets: SecretStore | None = None) -> None:
        self._settings = settings
        self._secrets = secrets
        self._prices = Prices(settings.prices)

    def choices(self, role: Role) -> list[ModelChoice]:
        own: ModelChoice | None = getattr(self._settings, role.value)
        first = own or self._settings.default
        return [] if first is None else list(_chain(first))

    def names(self, role: Role) -> Sequence[str]:
        return [name_of(choice) for choice in self.choices(role)]

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:
        return [self.backend(scope, choice) for choice in self.choices(role)]

    def backend(self, scope: Scope | None, choice: ModelChoice) -> Backend:
        try:
            key = self._key(scope, choice)
        except Misconfigured as problem:
            # Not raised here: a fallback may have its key.
            return _Unusable(name_of(choice), problem)
        return ProvidedModel(choice, key, self._prices)

    def _key(self, scope: Scope | None, choice: ModelChoice) -> str | None:
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

    def names(self, role: Role) -> Sequence[str]:
        return [backend.model for backend in self.backends(None, role)]

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:  # noqa: ARG002
        return self._by_role.get(role, self._models)


class _Unusable:
    """A model that cannot be asked; says why, so that the next one is."""

    may_see_rows = False
    patience = Patience(attempts=1)

    def __init__(self, model: str, problem: Misconfigured) -> None:
        self.model = model
        self._problem = problem

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:  # noqa: ARG002
        raise Failed(self._problem)


def _chain(choice: ModelChoice) -> Iterator[ModelChoice]:
    yield choice
    for fallback in choice.fallbacks:
        yield from _chain(fallback)


def _no_key(choice: ModelChoice, why: str) -> Misconfigured:
    return Misconfigured(f"{name_of(choice)} has no key. {why}", code="model-key-missing")
