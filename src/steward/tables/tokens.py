"""What stands in a cell in place of an encrypted value, and how to recognise it without a key."""

from dataclasses import dataclass
from typing import Final

TOKEN: Final = "enc1."  # noqa: S105 - how every token begins
MODES: Final = {"d": "deterministic", "r": "random"}


@dataclass(frozen=True)
class Encryption:
    """How the values of a column are encrypted; `type` and `key` are empty where its values differ in them."""

    mode: str
    type: str = ""
    """The type that the values had, and get again."""
    key: str = ""


def encryption_of(least: object, greatest: object = None) -> Encryption | None:
    """What a token says about itself, or the least and the greatest text of a column about all between them."""
    both = [least, least if greatest is None else greatest]
    if not all(isinstance(each, str) and each.startswith(TOKEN) for each in both):
        return None
    # Texts between two that begin alike begin like them, too.
    (_, mode, kind, key, *_), (_, *other) = ([*str(each).split("."), "", "", ""] for each in both)
    if mode not in MODES or mode != other[0]:
        return None
    kind = kind if kind == other[1] else ""
    return Encryption(MODES[mode], kind, key if kind and key == other[2] else "")
