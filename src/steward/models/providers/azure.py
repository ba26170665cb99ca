"""OpenAI's models at Azure."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice
from steward.models.providers import KEYLESS, PROVIDERS, ModelProvider
from steward.models.providers._openai import openai_model

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model


def _open(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.providers.azure import AzureProvider

    provider = AzureProvider(
        azure_endpoint=choice.base_url,
        api_version=choice.api_version,
        api_key=key or KEYLESS,
        http_client=client,
    )
    return openai_model(choice, provider)


PROVIDERS.add(
    "azure",
    ModelProvider(
        "Azure OpenAI",
        "name-of-the-deployment",
        _open,
        form_address="https://example.openai.azure.com",
        needs_address=True,
        needs_key=True,
        speaks_openai=True,
    ),
    origin=__name__,
)
