"""Anthropic's own service."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice
from steward.models.providers import KEYLESS, PROVIDERS, ModelProvider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

_ADDRESS = "https://api.anthropic.com"


def _open(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    address = choice.base_url or _ADDRESS
    provider = AnthropicProvider(api_key=key or KEYLESS, base_url=address, http_client=client)
    return AnthropicModel(choice.name, provider=provider)


PROVIDERS.add(
    "anthropic",
    ModelProvider("Anthropic", "claude-sonnet-4-5", _open, address=_ADDRESS, needs_key=True),
    origin=__name__,
)
