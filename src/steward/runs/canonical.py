"""Canonical JSON: one value has one spelling, so that bytes can be hashed, compared and replayed."""

import hashlib
import json
from typing import Any, Final, TypeAlias

from steward.core.errors import Invalid

Json: TypeAlias = Any
"""A value made of dicts with text keys, lists, text, numbers, booleans and None."""

GENESIS: Final = "0" * 64
"""What the first entry of a journal follows."""


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def canonical(value: Json) -> str:
    """Keys sorted, no blanks, characters as they are, no NaN."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"This value cannot be written to a journal: {error}.") from None


def plain(value: Json) -> Json:
    """The value as it comes back from a journal: what runs and what replays must see the same."""
    return json.loads(canonical(value))


def digest(value: Json) -> str:
    """SHA-256 over the canonical bytes; what approvals and effects are bound to."""
    return sha256(canonical(value))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chained(previous: str, body: str) -> str:
    """The hash of an entry: it covers everything before it."""
    return sha256(previous + body)
