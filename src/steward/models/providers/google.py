"""Google's own service."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice
from steward.models.providers import KEYLESS, PROVIDERS, ModelProvider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

_ADDRESS = "https://generativelanguage.googleapis.com"


def _open(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    address = choice.base_url or _ADDRESS
    provider = GoogleProvider(api_key=key or KEYLESS, base_url=address, http_client=client)
    return GoogleModel(choice.name, provider=provider)


PROVIDERS.add(
    "google",
    ModelProvider("Google", "gemini-2.5-flash", _open, address=_ADDRESS, needs_key=True),
    origin=__name__,
)
