"""Canonical JSON: one value has one spelling, so that bytes can be hashed, compared and replayed."""

import hashlib
import json
from collections.abc import Callable
from json import encoder
from typing import Any, Final, TypeAlias

from steward.core import Invalid

Json: TypeAlias = Any
"""A value made of dicts with text keys, lists, text, numbers, booleans and None."""

GENESIS: Final = "0" * 64
"""What the first entry of a journal follows."""


_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


quoted: Final[Callable[[str], str]] = encoder.encode_basestring
"""A text as canonical JSON spells it."""


def _kept_encoder() -> Callable[[Json], str]:
    """The encoder of the standard library, made once: `JSONEncoder.encode` makes one for each value."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return _ENCODER.encode
    # In the order of its parameters: markers, default, encoder, indent, separators, sort_keys, skipkeys, allow_nan.
    # Without markers, a value that holds itself ends as a RecursionError.
    pieces = make(None, _ENCODER.default, quoted, None, ":", ",", True, False, False)
    return lambda value: "".join(pieces(value, 0))


_encode: Final = _kept_encoder()


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
