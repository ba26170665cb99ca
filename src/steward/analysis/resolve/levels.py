"""Degrees of agreement: each test as SQL for Splink, in words for people, and its usual weight."""

import math
from collections.abc import Callable

from steward.analysis.resolve.rules import Comparison, Level


def column(field: str) -> str:
    """The column of the parties table that holds the cleaned values of a field."""
    return f"c_{field}"


def words_column(field: str) -> str:
    """The column of the parties table with the words of a field and their weights."""
    return f"w_{field}"


def null_condition(field: str) -> str:
    return f'"{column(field)}_l" IS NULL OR "{column(field)}_r" IS NULL'


def condition(comparison: Comparison, level: Level) -> str:
    """The SQL that holds when two parties agree to this degree."""
    if level.test == "swapped_with":
        return _swapped(comparison.field, level.field or comparison.field)
    name = level.field or comparison.field
    tested = words_column(name) if level.test == "rare_words" else column(name)
    return _TESTS[level.test](f'"{tested}_l"', f'"{tested}_r"', level)


def _same_words(left: str, right: str, _: Level) -> str:
    # The lengths are cheap to compare and settle most pairs.
    return (
        f"length({_joined(left)}) = length({_joined(right)}) AND"
        f" ({_sorted(left)} = {_sorted(right)} OR {_joined(left)} = {_joined(right)})"
    )


def _words_within(left: str, right: str, _: Level) -> str:
    return (
        f"(list_has_all({_split(left)}, {_split(right)})"
        f" OR list_has_all({_split(right)}, {_split(left)}))"
    )


def _similar(left: str, right: str, level: Level) -> str:
    return f"jaro_winkler_similarity({left}, {right}) >= {_number(level.at_least)}"


def _similar_words(left: str, right: str, level: Level) -> str:
    shared = f"len(list_intersect({_split(left)}, {_split(right)}))"
    most = f"greatest(len({_split(left)}), len({_split(right)}))"
    return f"{shared} >= {_number(level.at_least)} * {most}"


def _rare_words(left: str, right: str, level: Level) -> str:
    """Cosine of the words, each weighted by how rare it is.

    A word is its number times 2^20 plus its weight, so that the sum of a list holds the sum of the weights in its
    lowest 20 bits: no lambda has to walk the words of every pair.
    """
    shared = _weights(f"list_intersect({left}, {right})")
    norms = f"sqrt({_weights(left)}::DOUBLE * {_weights(right)})"
    return f"coalesce({shared}, 0) >= {_number(level.at_least)} * {norms}"


def _weights(words: str) -> str:
    return f"(CAST(list_sum({words}) AS BIGINT) & 1048575)"


def _contained(left: str, right: str, _: Level) -> str:
    shorter = f"least(length({left}), length({right}))"
    return f"({shorter} >= 4 AND (contains({left}, {right}) OR contains({right}, {left})))"


def _number_apart(left: str, right: str, level: Level) -> str:
    return (
        f"abs(TRY_CAST({left} AS DOUBLE) - TRY_CAST({right} AS DOUBLE)) <= {_number(level.at_most)}"
    )


def _share_apart(left: str, right: str, level: Level) -> str:
    a, b = f"TRY_CAST({left} AS DOUBLE)", f"TRY_CAST({right} AS DOUBLE)"
    return f"abs({a} - {b}) <= {_number(level.at_most)} * greatest(abs({a}), abs({b}))"


def _edits(left: str, right: str, level: Level) -> str:
    # Short texts are not one slip apart, they are different: at least four letters a slip.
    shorter = f"least(length({left}), length({right}))"
    slips = f"least({_number(level.at_most)}, {shorter} // 4)"
    return f"damerau_levenshtein({left}, {right}) <= {slips}"


def _same_side(side: str) -> Callable[[str, str, Level], str]:
    def sql(left: str, right: str, level: Level) -> str:
        size = int(level.at_least or 1)
        return (
            f"{side}({left}, {size}) = {side}({right}, {size})"
            f" AND length({left}) >= {size} AND length({right}) >= {size}"
        )

    return sql


def _days_apart(left: str, right: str, level: Level) -> str:
    return f"abs(date_diff('day', {_day(left)}, {_day(right)})) <= {_number(level.at_most)}"


def _swapped(one: str, other: str) -> str:
    a, b = column(one), column(other)
    return f'("{a}_l" = "{b}_r" AND "{b}_l" = "{a}_r")'


_TESTS: dict[str, Callable[[str, str, Level], str]] = {
    "same": lambda left, right, _: f"{left} = {right}",
    "same_words": _same_words,
    "words_within": _words_within,
    "similar": _similar,
    "similar_words": _similar_words,
    "rare_words": _rare_words,
    "edits": _edits,
    "same_start": _same_side("left"),
    "same_end": _same_side("right"),
    "same_initial": lambda left, right, _: f"left({left}, 1) = left({right}, 1)",
    "days_apart": _days_apart,
    "number_apart": _number_apart,
    "share_apart": _share_apart,
    "contained": _contained,
    "missing": lambda left, right, _: f"({left} IS NULL OR {right} IS NULL)",
    "otherwise": lambda *_: "ELSE",
}


def in_words(level: Level) -> str:
    """The degree of agreement as a reader says it."""
    bound = _number(level.at_least if level.at_least is not None else level.at_most)
    other = (level.field or "").replace("_", " ")
    prefix = f"{other}: " if level.field and level.test != "swapped_with" else ""
    return (
        prefix
        + {
            "same": "the same",
            "same_words": "the same words in another order or spacing",
            "words_within": "all words of one are in the other",
            "similar": f"spelt alike (Jaro-Winkler at least {bound})",
            "similar_words": f"at least {float(bound or 0):.0%} of the words in common",
            "rare_words": f"at least {float(bound or 0):.0%} alike by words, rare ones counting more",
            "edits": f"at most {bound} typing slip(s) apart",
            "same_start": f"the same first {bound} characters",
            "same_end": f"the same last {bound} characters",
            "same_initial": "the same first letter",
            "swapped_with": f"swapped with {other}",
            "days_apart": f"at most {bound} day(s) apart",
            "number_apart": f"at most {bound} apart",
            "share_apart": f"at most {float(bound or 0):.0%} apart",
            "contained": "one contains the other",
            "missing": "not known on one side",
            "otherwise": "different",
        }[level.test]
    )


def weight(level: Level) -> float | None:
    """Evidence in bits: positive speaks for one entity, negative against it."""
    if level.m is None or level.u is None:
        return None
    return math.log2(level.m / level.u)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _split(side: str) -> str:
    return f"string_split({side}, ' ')"


def _sorted(side: str) -> str:
    return f"list_sort({_split(side)})"


def _joined(side: str) -> str:
    return f"replace({side}, ' ', '')"


def _day(side: str) -> str:
    return f"try_strptime({side}, '%Y%m%d')"
