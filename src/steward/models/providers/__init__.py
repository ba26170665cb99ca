"""Who serves models: one file per provider, found by the name that settings and set-ups give.

Importing a provider loads no SDK; opening the first model of it does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from steward.core import Misconfigured, ModelChoice, Registry

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

KEYLESS: Final = "none"
"""Sent where no key is set. Without it some SDKs would look for a key of another provider in the environment."""


@dataclass(frozen=True)
class ModelProvider:
    """What Steward must know about one; what differs between its models is in their `ModelChoice`."""

    title: str
    example: str
    """A name of a model, as the form shows it."""
    open: "Callable[[ModelChoice, str | None, httpx2.AsyncClient], Model[Any]] | None"
    """The SDK's model with a key; none where Steward serves the models itself. Key and address must always be given to
    the SDK, which would take others from the environment."""
    address: str | None = None
    """Where it answers, unless a choice says otherwise."""
    form_address: str = ""
    """An address as the form shows it; empty where the form asks for none."""
    needs_address: bool = False
    needs_key: bool = False
    hint: str = ""
    """Whatever else helps a person who fills the form in."""
    speaks_openai: bool = False
    """Whether it answers OpenAI's chat protocol, with all its ways to ask for JSON."""
    is_own_server: bool = False
    """Run by the people who use it: its models have no listed price, and are small unless it says more."""
    tells_size: bool = False
    """Whether its server may tell the context and size of a model."""
    runs_here: bool = False
    """Whether it is on this machine unless a choice says otherwise."""
    knows_machine: bool = False
    """Whether it takes the machine's own credentials where there is no key."""
    listed_as: str | None = None
    """Its name in genai-prices, where that is another."""
    limits_itself: bool = False
    """Whether its client, and not each request, holds the limits of time and tries."""
    place: Callable[[ModelChoice], str] | None = None
    """Where its requests go, where no one address says so."""
    load: Callable[[], None] | None = None
    """Imports the SDK, where no model can be made to throw away."""


PROVIDERS: Final[Registry[ModelProvider]] = Registry("model")


@cache
def load_providers() -> Registry[ModelProvider]:
    """The built-in ones and those of installed packages."""
    PROVIDERS.load_package(__name__)
    PROVIDERS.load_entry_points()
    return PROVIDERS


def known_provider(choice: ModelChoice) -> ModelProvider | None:
    """None where the package that brought it is gone."""
    providers = load_providers()
    return providers.get(choice.provider) if choice.provider in providers else None


def provider_of(choice: ModelChoice) -> ModelProvider:
    found = known_provider(choice)
    if found is None:
        known = ", ".join(name for name, _ in load_providers())
        raise Misconfigured(
            f"No provider of models is called {choice.provider!r}. Known: {known}.",
            code="model-misconfigured",
        )
    return found


def check_choice(choice: ModelChoice) -> None:
    """Misconfigured where the provider does not exist or needs something that the choice lacks."""
    if provider_of(choice).needs_address and choice.base_url is None:
        raise Misconfigured(
            f"base_url is needed: the address of the {choice.provider} server.",
            code="model-misconfigured",
        )
