"""Identifiers: a prefix that names the kind, then a time-ordered part, so that ids sort by creation."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from threading import Lock

from steward.core.clock import Clock

# Crockford's alphabet: no I, L, O or U, so that an id read aloud is not misheard.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ENCODED_LENGTH = 26
_RANDOM_BITS = 80
_PATTERN = re.compile(rf"[a-z][a-z0-9]*_[{_ALPHABET}]{{{_ENCODED_LENGTH}}}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(5 * (_ENCODED_LENGTH - 2), -1, -10)


class Ids:
    """Makes ids that are unique across processes and strictly increasing within one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last = 0

    def new(self, prefix: str) -> str:
        milliseconds = (self._clock.now() - _EPOCH) // _MILLISECOND
        candidate = (milliseconds << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            # Two ids of one millisecond, or a clock set back, must still sort in order of making.
            self._last = max(candidate, self._last + 1)
            value = self._last
        return f"{prefix}_{_encode(value)}"


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` has the form of an id of this kind; says nothing about its existence."""
    return text.startswith(f"{prefix}_") and _PATTERN.fullmatch(text) is not None


def created_at(identifier: str) -> datetime:
    """The moment an id was made, read back from the id itself."""
    encoded = identifier.rpartition("_")[2]
    value = 0
    for character in encoded:
        value = value * 32 + _ALPHABET.index(character)
    return _EPOCH + (value >> _RANDOM_BITS) * _MILLISECOND


def _encode(value: int) -> str:
    return "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])
