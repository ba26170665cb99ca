"""What an answer costs: the prices of the settings first, then those that come with genai-prices."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from steward.core import ModelChoice, ModelPrice
from steward.models.providers import provider_of

_MILLION: Final = Decimal(1_000_000)


class Prices:
    def __init__(self, own: Mapping[str, ModelPrice]) -> None:
        self._own = own

    def cost(
        self,
        choice: ModelChoice,
        *,
        input_tokens: int,
        output_tokens: int,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
    ) -> Decimal | None:
        """US dollars, or None where nobody knows the price. Input includes what came from the cache."""
        own = self._own.get(f"{choice.provider}:{choice.name}") or self._own.get(choice.name)
        if own is not None:
            fresh = max(0, input_tokens - cache_read_tokens - cache_write_tokens)
            reading = own.input if own.cache_read is None else own.cache_read
            writing = own.input if own.cache_write is None else own.cache_write
            spent = own.input * fresh + own.output * output_tokens
            return (spent + reading * cache_read_tokens + writing * cache_write_tokens) / _MILLION
        if provider_of(choice).is_own_server:
            return None  # a name found at another provider would be that provider's price
        return _listed(choice, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)


def _listed(
    choice: ModelChoice, reads: int, writes: int, cache_reads: int, cache_writes: int
) -> Decimal | None:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=reads,
        output_tokens=writes,
        cache_read_tokens=cache_reads,
        cache_write_tokens=cache_writes,
    )
    provider = provider_of(choice).listed_as or choice.provider
    try:
        return calc_price(usage, choice.name, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None  # not listed, or listed without a price for this kind of token
