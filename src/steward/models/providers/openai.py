"""OpenAI itself."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice
from steward.models.providers import KEYLESS, PROVIDERS, ModelProvider
from steward.models.providers._openai import openai_model

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

_ADDRESS = "https://api.openai.com/v1"


def _open(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.providers.openai import OpenAIProvider

    address = choice.base_url or _ADDRESS
    provider = OpenAIProvider(base_url=address, api_key=key or KEYLESS, http_client=client)
    return openai_model(choice, provider)


PROVIDERS.add(
    "openai",
    ModelProvider(
        "OpenAI", "gpt-5-mini", _open, address=_ADDRESS, needs_key=True, speaks_openai=True
    ),
    origin=__name__,
)
