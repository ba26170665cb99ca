"""Ollama, on this machine or another."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice
from steward.models.providers import KEYLESS, PROVIDERS, ModelProvider
from steward.models.providers._openai import openai_model

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

_ADDRESS = "http://127.0.0.1:11434/v1"


def _open(choice: ModelChoice, key: str | None, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.providers.ollama import OllamaProvider

    address = choice.base_url or _ADDRESS
    provider = OllamaProvider(base_url=address, api_key=key or KEYLESS, http_client=client)
    return openai_model(choice, provider)


PROVIDERS.add(
    "ollama",
    ModelProvider(
        "Ollama",
        "qwen3:8b",
        _open,
        address=_ADDRESS,
        form_address=_ADDRESS,
        speaks_openai=True,
        is_own_server=True,
        tells_size=True,
        runs_here=True,
    ),
    origin=__name__,
)
