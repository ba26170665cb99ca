"""What a column's name says about its content."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from steward.core import package_yaml

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=1024)
def words_of(column: str) -> str:
    """`customerEMail_2` → ` customer e mail 2 `: words in lower case between single spaces."""
    spaced = _CAMEL.sub(" ", column)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode().lower()
    return f" {_NOT_WORD.sub(' ', plain).strip()} "


def announces(column: str, hints: tuple[str, ...]) -> bool:
    words = words_of(column)
    return any(f" {hint} " in words for hint in hints)


@dataclass(frozen=True)
class NamedKind:
    """Personal data known by the column's name; values can only support it."""

    name: str
    label: str
    hints: tuple[str, ...]
    unless: tuple[str, ...] = ()


@cache
def _named_kinds() -> tuple[NamedKind, ...]:
    listed = package_yaml("steward.analysis.pii", "named_kinds.yaml")
    return tuple(
        NamedKind(
            **{**each, "hints": tuple(each["hints"]), "unless": tuple(each.get("unless", ()))}
        )
        for each in listed
    )


def named_kinds(column: str) -> tuple[NamedKind, ...]:
    return tuple(
        named
        for named in _named_kinds()
        if announces(column, named.hints) and not announces(column, named.unless)
    )
