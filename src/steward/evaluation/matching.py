"""What it means that something has what was expected of it."""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from steward.agents import figures_in, is_found

Order = Literal["exact", "in_order", "any_order"]


def holds(expected: Any, found: Any) -> bool:
    """Whether everything expected is there; objects may have more, lists and values may not."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and holds(value, found[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(holds(one, other) for one, other in zip(expected, found, strict=True))
        )
    return bool(expected == found) and isinstance(expected, bool) == isinstance(found, bool)


def follows(expected: Sequence[Any], found: Sequence[Any], order: Order) -> bool:
    """Whether what happened is what was expected: exactly, with more in between, or in any order."""
    if order == "exact":
        return len(expected) == len(found) and all(map(holds, expected, found))
    if order == "in_order":
        rest = iter(found)
        return all(any(holds(each, other) for other in rest) for each in expected)
    left = list(found)
    for each in expected:
        match = next((other for other in left if holds(each, other)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def is_told(value: Any, text: str) -> bool:
    """Whether a value of a result stands in a text, however numbers are written there."""
    if value is None:
        return True
    if isinstance(value, bool):
        return str(value).lower() in text.lower()
    number = _number(value)
    if number is None:
        return str(value).casefold() in text.casefold()
    spelled = format(number.normalize(), "f")
    # Small counts are no figures of a sentence, but they may be the answer.
    if re.search(rf"(?<![\w.,]){re.escape(spelled)}(?![\w])(?![.,]\d)", text):
        return True
    # Money and shares are told with fewer decimals than they are computed with.
    return any(is_found(figure, [spelled]) for figure in figures_in(text))


def _number(value: Any) -> Decimal | None:
    if isinstance(value, int | float):
        return Decimal(str(value))
    try:
        return Decimal(value) if isinstance(value, str) and value.strip() else None
    except InvalidOperation:
        return None
