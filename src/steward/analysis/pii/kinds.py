"""The kinds of personal data Steward knows: their shape, their check and how they are hinted at."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from steward.analysis.pii import validators
from steward.analysis.pii.validators import Validator, by_stdnum
from steward.core import package_yaml


@dataclass(frozen=True)
class Kind:
    """Patterns are written in the part of the syntax that RE2 and Python share, without groups."""

    name: str
    label: str
    pattern: str
    """What a whole value looks like; also looked for within longer text where `inside` is set."""
    valid: Validator
    check: str
    """How a value is checked, in words."""
    hints: tuple[str, ...] = ()
    """Words of column names that announce this kind."""
    chance: float | None = None
    """Share of arbitrary values of this shape that pass the check; None: the shape is evidence."""
    hinted_pattern: str | None = None
    """A looser shape, used only where the column's name announces the kind."""
    inside: bool = False
    needs_hint: bool = False
    personal: bool = True

    def shape(self, hinted: bool) -> str:
        return self.hinted_pattern if hinted and self.hinted_pattern else self.pattern

    @cached_property
    def inside_pattern(self) -> str:
        """The same shape within longer text, as one group between things that are not letters."""
        return rf"(?:^|[^0-9A-Za-z_+])({self.pattern})(?:$|[^0-9A-Za-z_])"

    @cached_property
    def inside_regex(self) -> re.Pattern[str]:
        return re.compile(self.inside_pattern)

    def regex(self, hinted: bool) -> re.Pattern[str]:
        return re.compile(self.shape(hinted))


_NATIONAL_HINTS = ("national id", "personal number", "identity number", "tax id")


@cache
def all_kinds() -> tuple[Kind, ...]:
    return tuple(_kind(**each) for each in package_yaml("steward.analysis.pii", "kinds.yaml"))


def _kind(
    hints: Sequence[str], validator: str | None = None, stdnum: str | None = None, **rest: Any
) -> Kind:
    """A kind as its file declares it; a number of a country without a check of its own has those of its office."""
    valid: Validator = by_stdnum(stdnum) if stdnum else getattr(validators, str(validator))
    if "check" in rest:
        return Kind(valid=valid, hints=tuple(hints), **rest)
    check = "check digits and rules of the number"
    return Kind(valid=valid, check=check, hints=(*hints, *_NATIONAL_HINTS), **rest)


@cache
def _by_name() -> dict[str, Kind]:
    return {kind.name: kind for kind in all_kinds()}


def kind(name: str) -> Kind | None:
    """The kind of that name; None for those known by column name alone."""
    return _by_name().get(name)


# What every value of any personal kind contains; one linear test that spares the others.
PREFILTER = "|".join(
    (
        r"@",
        r"[0-9](?:[ .\-/()]{0,2}[0-9]){5,}",
        r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}",
        r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
        r":[0-9A-Fa-f]{0,4}:",
        r"(?:[0-9A-Fa-f]{2}-){5}",
        r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-EHLMPRST]",
        r"[A-Z]{5}[0-9]{4}[A-Z]",
    )
)
