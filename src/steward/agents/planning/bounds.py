"""What a document may hold at all before anybody looks at what it says."""

import math
from typing import Any, Final

DEEPEST: Final = 24
MOST_PARTS: Final = 5_000
MOST_TEXT: Final = 200_000
LARGEST: Final = 1 << 63


def too_much(document: Any) -> str | None:
    """Why a document is not fit to be read: too deep, too large, or no JSON; None when it is.

    Nothing here recurses: a document that is deep, or holds itself, only ends the walk.
    """
    left: list[tuple[Any, int]] = [(document, 0)]
    parts = text = 0
    while left:
        value, depth = left.pop()
        if depth > DEEPEST:
            return f"it is nested more than {DEEPEST} levels deep"
        inner = _inner(value)
        parts += 1 + len(inner)
        text += len(value) if isinstance(value, str) else 0
        if parts > MOST_PARTS or text > MOST_TEXT:
            return f"it is too large: at most {MOST_PARTS:,} parts and {MOST_TEXT:,} characters"
        wrong = _odd(value)
        if wrong is not None:
            return wrong
        left += [(each, depth + 1) for each in inner]
    return None


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _odd(value: Any) -> str | None:
    match value:
        case None | bool():
            return None
        case int():
            return None if -LARGEST <= value < LARGEST else "a whole number must fit in 64 bits"
        case float():
            return None if math.isfinite(value) else "a number must be finite"
        case str():
            odd = "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)
            return "it holds a character that is none" if odd else None
        case dict():
            named = all(isinstance(key, str) for key in value)
            return None if named else "the names in an object must be text"
        case list():
            return None
        case _:
            return f"{type(value).__name__} is not a JSON value"
