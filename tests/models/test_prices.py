"""What answers cost, by the list that comes along and by the prices of the settings."""

from decimal import Decimal
from typing import Any

import pytest

from steward.core.settings import ModelChoice, ModelPrice
from steward.models.prices import Prices


def cost(provider: Any, name: str, **own: ModelPrice) -> Decimal | None:
    given = ModelChoice(
        provider=provider,
        name=name,
        base_url="http://127.0.0.1/v1" if provider in {"compatible", "azure"} else None,
    )
    return Prices(own).cost(
        given, input_tokens=1_000_000, output_tokens=1_000_000, cache_read_tokens=500_000
    )


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "gpt-4o-mini"),
        ("azure", "gpt-4o-mini"),
        ("anthropic", "claude-sonnet-4-5"),
        ("google", "gemini-2.5-flash"),
        ("bedrock", "anthropic.claude-sonnet-4-20250514-v1:0"),
    ],
)
def test_known_models_have_a_price(provider: str, name: str) -> None:
    found = cost(provider, name)
    assert isinstance(found, Decimal)
    assert found > 0


@pytest.mark.parametrize("provider", ["openai", "compatible", "ollama"])
def test_an_unknown_price_is_not_nothing(provider: str) -> None:
    assert cost(provider, "a-model-of-nobody") is None


def test_a_model_served_elsewhere_has_not_the_price_of_its_namesake() -> None:
    assert cost("compatible", "gpt-4o-mini") is None


def test_own_prices_come_first() -> None:
    cached = ModelPrice(input=Decimal(2), output=Decimal(8), cache_read=Decimal("0.5"))
    assert cost("openai", "gpt-4o-mini", **{"gpt-4o-mini": cached}) == Decimal("9.25")
    plain = ModelPrice(input=Decimal(2), output=Decimal(8))
    assert cost("ollama", "local", **{"ollama:local": plain}) == Decimal(10)
    free = ModelPrice(input=Decimal(0), output=Decimal(0))
    assert cost("ollama", "local", local=free) == Decimal(0)
