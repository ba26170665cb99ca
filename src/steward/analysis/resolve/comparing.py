"""The usual cleaning and comparison of each role."""

from dataclasses import dataclass
from functools import cache

from steward.analysis.resolve.rules import BOUND_OF, Clean, Comparison, Level, Role
from steward.core import package_yaml


@dataclass(frozen=True)
class Usage:
    """What is usual for the columns of one role."""

    clean: tuple[Clean, ...]
    levels: tuple[Level, ...]
    usual: tuple[float, float]
    """How often two records of one entity agree exactly, and two of different entities do."""
    rare: bool
    """Agreeing on a rare name says more than agreeing on a common one; numbers are rare anyway."""


@cache
def usage_of(role: Role) -> Usage:
    read = package_yaml("steward.analysis.resolve", "role_usage.yaml")[role]
    levels = tuple(_level(text) for text in read.get("levels", ()))
    return Usage(tuple(read["clean"]), levels, tuple(read["usual"]), read.get("rare", False))


def _level(text: str) -> Level:
    """A test and its bound as the file has them, such as `edits 2`."""
    test, _, bound = text.partition(" ")
    return Level.model_validate({"test": test, BOUND_OF.get(test, "at_most"): bound or None})


ADDRESS: tuple[Role, ...] = (
    *("street", "street_number", "address_detail", "postcode", "city", "region", "country"),
)

_SAME = Level(test="same")
_OTHERWISE = Level(test="otherwise")
_SLIP = Level(test="edits", at_most=1)


def usual_comparison(field: str, role: Role) -> Comparison:
    usage = usage_of(role)
    return Comparison(field=field, rare_values_count_more=usage.rare, levels=usage.levels)


def count_comparison(field: str) -> Comparison:
    """Years and small counts: one apart is near, a hundredth of the value is not."""
    near = Level(test="number_apart", at_most=1)
    return Comparison(field=field, rare_values_count_more=True, levels=(_SAME, near, _OTHERWISE))


def swapped(comparison: Comparison, other: str) -> Comparison:
    """First and last names put into each other's place still count as agreement."""
    first, *rest = comparison.levels
    levels = (first, Level(test="swapped_with", field=other), *rest)
    return comparison.model_copy(update={"levels": levels})


def mail_comparison(field: str, domain: str) -> Comparison:
    """Colleagues have different addresses at the same house; free mail has no house to speak of."""
    house, none = Level(test="same", field=domain), Level(test="missing", field=domain)
    levels = (_SAME, _SLIP, house, none, _OTHERWISE)
    return Comparison(field=field, levels=levels)


def place_comparison(postcode: str, wider: tuple[str, ...]) -> Comparison:
    """Postcode, then town, then country: each contains the one before, so they count once."""
    levels = (_SAME, _SLIP, *(Level(test="same", field=name) for name in wider), _OTHERWISE)
    return Comparison(field=postcode, levels=levels)
