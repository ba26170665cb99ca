"""Models behind OpenAI's protocols, whoever serves them."""

from typing import TYPE_CHECKING, Any

from steward.core import ModelChoice

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def openai_model(choice: ModelChoice, provider: Any) -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

    kind = OpenAIResponsesModel if choice.api == "responses" else OpenAIChatModel
    return kind(choice.name, provider=provider)
