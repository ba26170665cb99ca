"""Amazon Bedrock, with a key or the machine's own credentials."""

from typing import TYPE_CHECKING, Any

from steward.core import Misconfigured, ModelChoice
from steward.models.backend import Failed
from steward.models.providers import PROVIDERS, ModelProvider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model


def _open(choice: ModelChoice, key: str | None, _: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    stall = choice.stall.total_seconds()
    if key is None:
        # The machine's own credentials, as its role or profile gives them.
        provider = BedrockProvider(
            region_name=choice.region, base_url=choice.base_url, aws_read_timeout=stall
        )
    else:
        provider = BedrockProvider(
            api_key=key,
            region_name=choice.region,
            base_url=choice.base_url,
            aws_read_timeout=stall,
        )
    return BedrockConverseModel(choice.name, provider=provider)


def _place(choice: ModelChoice) -> str:
    import boto3  # type: ignore[import-untyped]

    region = choice.region or boto3.Session().region_name
    return f"https://bedrock-runtime.{region}.amazonaws.com"


def _load() -> None:
    try:
        import pydantic_ai.models.bedrock  # noqa: F401
    except ImportError:
        raise Failed(
            Misconfigured(
                "Bedrock needs another package: install Steward with its extra `bedrock`.",
                code="model-misconfigured",
            )
        ) from None


PROVIDERS.add(
    "bedrock",
    ModelProvider(
        "Amazon Bedrock",
        "anthropic.claude-v4",
        _open,
        knows_machine=True,
        listed_as="aws",
        limits_itself=True,
        place=_place,
        load=_load,
    ),
    origin=__name__,
)
