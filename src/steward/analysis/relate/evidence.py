"""How much a containment of values proves: names, types, and the odds that chance alone would do it."""

import math
from dataclasses import dataclass

from steward.analysis.relate.columns import Facts, whole_number
from steward.analysis.relate.names import name_score

KEYLIKE = frozenset(("integer", "text", "uuid", "date"))
LONGEST_KEY = 128
NAMED = 0.7
_BITS_CAP = 60.0
_VALUES_CAP = 30
_BITS_PER_LETTER = 2.0
_BITS_PER_PREFIX_LETTER = 12.0
# Whole numbers this sparse are not met by accident, nor by a common step such as tens.
SPARSE = 0.01


@dataclass(frozen=True)
class Evidence:
    """What is known of a pair before its values are compared; `bits` measure surprise."""

    name: float
    type: float
    bits: float

    @property
    def named(self) -> bool:
        return self.name >= NAMED

    @property
    def hopeless(self) -> bool:
        """Whether even full containment would convince nobody."""
        return self.name < 0.5 and self.bits < 40.0


def weigh(dependent: Facts, referenced: Facts, *, own_key: bool = False) -> Evidence:
    """The evidence; `own_key` says that the dependent column is its own table's key."""
    return Evidence(
        name=round(name_score(dependent.place, referenced.place), 3),
        type=type_score(dependent, referenced),
        bits=round(surprise(dependent, referenced, own_key=own_key), 1),
    )


def type_score(dependent: Facts, referenced: Facts) -> float:
    """1 for the same type, less for types that compare only after conversion, 0 for types that never do."""
    if dependent.type == referenced.type:
        return 1.0
    if dependent.family == referenced.family:
        return 0.95
    families = {dependent.family, referenced.family}
    if families == {"uuid", "text"}:
        return 0.8
    if families == {"integer", "text"} and whole_number(dependent) and whole_number(referenced):
        return 0.6
    return 0.0


def may_contain(dependent: Facts, referenced: Facts) -> bool:
    """Whether types and ranges leave room for the dependent's values."""
    if type_score(dependent, referenced) == 0.0:
        return False
    if dependent.low is not None and dependent.high is not None:
        if referenced.low is None or referenced.high is None:
            return dependent.family == "text"
        return dependent.low <= referenced.high and dependent.high >= referenced.low
    return True


def too_many(dependent: Facts, referenced: Facts, evidence: Evidence) -> bool:
    """Whether the dependent has more values than could be found; a telling name excuses many strays."""
    return dependent.distinct * (0.05 if evidence.named else 0.8) > referenced.distinct


def surprise(dependent: Facts, referenced: Facts, *, own_key: bool = False) -> float:
    """Bits of evidence in full containment; 0 where values such as 1, 2, 3 would be found anywhere.

    A common prefix tells much about a column that refers, and little about two tables that both count their own
    rows: brands and branches may both be numbered BRA-001, BRA-002.
    """
    values = min(dependent.distinct, _VALUES_CAP)
    if dependent.family == "date":
        return 0.0
    if "uuid" in {dependent.family, referenced.family}:
        return _BITS_CAP
    ranges = dependent.range, referenced.range
    if ranges[0] is not None and ranges[1] is not None:
        chance = _chance_of_hit(ranges[0], ranges[1], referenced.distinct)
        return 0.0 if chance > SPARSE else min(_BITS_CAP, -math.log2(chance) * values)
    if dependent.family != "text" or referenced.family != "text":
        return 0.0
    prefix = dependent.prefix if dependent.prefix == referenced.prefix else ""
    letters = 0 if own_key else sum(character.isalpha() for character in prefix)
    told = letters * _BITS_PER_PREFIX_LETTER
    if prefix and dependent.numbered and referenced.numbered:
        chance = _chance_of_hit(dependent.numbered, referenced.numbered, referenced.distinct)
        rest = 0.0 if chance > SPARSE else -math.log2(chance)
        return min(_BITS_CAP, told + rest * values)
    length = max(0.0, min(dependent.length, 16.0) - len(prefix))
    each = max(0.0, length * _BITS_PER_LETTER - math.log2(max(2, referenced.distinct)))
    return min(_BITS_CAP, told + each * values)


def _chance_of_hit(
    dependent: tuple[float, float], referenced: tuple[float, float], distinct: int
) -> float:
    """The odds that a whole number between the dependent's lowest and highest is one of the referenced."""
    d_low, d_high = dependent
    r_low, r_high = referenced
    shared = max(0.0, min(d_high, r_high) - max(d_low, r_low) + 1)
    share = shared / (d_high - d_low + 1)
    dense = min(1.0, distinct / (r_high - r_low + 1))
    return max(1e-9, min(1.0, share * dense))
