"""Any server that speaks OpenAI's protocol."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice
from steward.models.providers import KEYLESS, PROVIDERS, ModelProvider
from steward.models.providers._openai import openai_model

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model


def _open(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(
        "compatible", base_url=choice.base_url or "", api_key=key or KEYLESS, http_client=client
    )
    return openai_model(choice, provider)


PROVIDERS.add(
    "compatible",
    ModelProvider(
        "OpenAI-compatible server",
        "my-model",
        _open,
        form_address="http://127.0.0.1:8080/v1",
        needs_address=True,
        hint="Any server that speaks OpenAI’s protocol: llama.cpp, vLLM, LM Studio and others.",
        speaks_openai=True,
        is_own_server=True,
        tells_size=True,
    ),
    origin=__name__,
)
