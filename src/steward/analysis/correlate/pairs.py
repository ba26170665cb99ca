"""Judges one pair of columns: which measures apply and which of them describes it best."""

from dataclasses import dataclass

import numpy as np

from steward.analysis.correlate import measures
from steward.analysis.correlate.arrays import Categories, Codes, Loaded, Numbers
from steward.analysis.correlate.results import Measure

FEWEST = 20
"""With fewer rows than this nothing is concluded."""
_FEW = 100
_CLEARLY = 0.1
_ROUGHLY = 0.05
_EXTREME = 0.3


@dataclass(frozen=True)
class Judged:
    first: str
    second: str
    rows: int
    best: Measure | None
    relation: str
    p_value: float
    measures: tuple[Measure, ...]
    warnings: tuple[str, ...]


def judge(first: Loaded, second: Loaded) -> Judged:
    together = measures.both(first, second)
    rows = int(np.count_nonzero(together))
    if rows < FEWEST:
        warning = f"Only {rows} rows have both values; at least {FEWEST} are needed."
        return Judged(first.name, second.name, rows, None, "none", 1.0, (), (warning,))
    warnings = []
    if rows < _FEW:
        warnings.append(f"Only {rows} rows have both values: take this as a hint.")
    if isinstance(first, Numbers) and isinstance(second, Numbers):
        return _numbers(first, second, together, rows, warnings)
    if isinstance(first, Categories) and isinstance(second, Categories):
        return _categories(first, second, together, rows, warnings)
    return _mixed(first, second, together, rows, warnings)


def _dense(codes: Codes) -> Codes:
    """Codes without holes, in the same order."""
    used = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    used[codes] = 1
    return np.asarray((np.cumsum(used) - 1)[codes], dtype=np.int64)


def _numbers(
    first: Numbers,
    second: Numbers,
    together: "np.typing.NDArray[np.bool_]",
    rows: int,
    warnings: list[str],
) -> Judged:
    straight = measures.pearson(first.values[together], second.values[together])
    orders = _dense(first.order[together]), _dense(second.order[together])
    ranked = measures.spearman(*orders)
    informed = measures.mutual_information(
        measures.crossed(first.bins[together], second.bins[together])
    )
    if straight is None or ranked is None:
        warning = "One of the columns is constant where both have values."
        return Judged(first.name, second.name, rows, None, "none", 1.0, (), (*warnings, warning))
    linear, monotone = abs(straight.value), abs(ranked.value)
    if linear > monotone + _EXTREME:
        warnings.append("A few extreme values make the linear correlation look strong.")
    if monotone - _ROUGHLY <= linear <= monotone + _EXTREME and linear >= informed.value - _CLEARLY:
        best, relation = straight, "linear"
    elif monotone >= informed.value - _CLEARLY:
        best, relation = ranked, "monotone"
    else:
        best, relation = informed, "non-linear"
    # Two tests were made, neither of which a few extreme values can mislead.
    p_value = min(1.0, 2 * min(ranked.p_value or 0.0, informed.p_value or 0.0))
    return Judged(
        first.name, second.name, rows, best, relation, p_value,
        (straight, ranked, informed), tuple(warnings),
    )  # fmt: skip


def _categories(
    first: Categories,
    second: Categories,
    together: "np.typing.NDArray[np.bool_]",
    rows: int,
    warnings: list[str],
) -> Judged:
    one, other = first.codes[together], second.codes[together]
    table = measures.crossed(one, other)
    if min(table.shape) < 2:
        warning = "One of the columns is constant where both have values."
        return Judged(first.name, second.name, rows, None, "none", 1.0, (), (*warnings, warning))
    association = measures.cramers_v(table)
    warnings += [
        f"{column.name} has many categories; the rarest count as one."
        for column in (first, second)
        if column.lumped
    ]
    if table.size * 5 > rows:
        warnings.append("There are few rows for so many combinations: the strength is uncertain.")
    return Judged(
        first.name, second.name, rows, association, "categorical", association.p_value or 0.0,
        (association, *measures.theils_u(table)), tuple(warnings),
    )  # fmt: skip


def _mixed(
    first: Loaded,
    second: Loaded,
    together: "np.typing.NDArray[np.bool_]",
    rows: int,
    warnings: list[str],
) -> Judged:
    numbers, groups = (first, second) if isinstance(first, Numbers) else (second, first)
    if not isinstance(numbers, Numbers) or not isinstance(groups, Categories):
        raise TypeError("a mixed pair has one column of numbers and one of categories")
    codes = groups.codes[together]
    ratio = measures.correlation_ratio(
        codes, numbers.values[together], _dense(numbers.order[together])
    )
    table = measures.crossed(codes, numbers.bins[together])
    if ratio is None or min(table.shape) < 2:
        warning = "One of the columns is constant where both have values."
        return Judged(first.name, second.name, rows, None, "none", 1.0, (), (*warnings, warning))
    informed = measures.mutual_information(table)
    if groups.lumped:
        warnings.append(f"{groups.name} has many categories; the rarest count as one.")
    if int(np.min(np.bincount(_dense(codes)))) < 5:
        warnings.append(f"Some categories of {groups.name} have fewer than five rows.")
    best, relation = ratio, "groups differ"
    if informed.value > ratio.value + _CLEARLY:
        best, relation = informed, "non-linear"
    p_value = min(1.0, 2 * min(ratio.p_value or 0.0, informed.p_value or 0.0))
    return Judged(
        first.name, second.name, rows, best, relation, p_value, (ratio, informed), tuple(warnings)
    )
