"""Where budget is held for calls that are still to come: below a key of a run."""

from collections.abc import Iterable
from typing import Final

Holding = tuple[str, str]
"""The run and the key for which something is held."""
HELD: Final = ":items"
"""Ends the key under which something is held for the items of a node."""


def around(held: Iterable[str], key: str) -> str | None:
    """The innermost of the keys below which a key is."""
    found = [
        each
        for each in held
        if key.startswith(tuple(f"{each.removesuffix(HELD)}{end}" for end in "[/"))
    ]
    return max(found, key=len, default=None)
