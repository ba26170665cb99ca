"""Finds the columns of a table that have to do with one another."""

from collections.abc import Sequence
from itertools import combinations

import duckdb

from steward.analysis.correlate.arrays import Loaded, load
from steward.analysis.correlate.pairs import FEWEST, Judged, judge
from steward.analysis.correlate.results import (
    Association,
    ColumnRole,
    Correlations,
    Matrix,
    Measure,
)
from steward.analysis.correlate.significance import holm
from steward.core import Invalid, copied
from steward.tables import Table

LIMIT_PAIRS = 5_000
FALSE_FINDINGS = 0.01
"""The chance that a table of unrelated columns yields any finding at all."""
WEAKEST = 0.1
"""Weaker than this is of no use, however certain it is."""

_WORDS = ((0.9, "very strong"), (0.6, "strong"), (0.3, "moderate"), (0.0, "weak"))


def correlate(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    limit_pairs: int = LIMIT_PAIRS,
) -> Correlations:
    """Associations between the named columns, or between all of them.

    Numbers are compared with numbers, categories with categories and both with each other; large
    tables are read as a sample that is always the same. What chance may explain is left out.
    """
    if limit_pairs < 1:
        raise Invalid(f"At least one pair must be allowed; limit_pairs was {limit_pairs}.")
    loading = load(connection, table, columns)
    kept, roles, left_out = _within(loading.columns, loading.roles, limit_pairs)
    judged = [judge(first, second) for first, second in combinations(kept, 2)]
    warnings = []
    if loading.used_rows < loading.rows:
        warnings.append(
            f"Computed from {loading.used_rows:,} of {loading.rows:,} rows, always the same ones."
        )
    if loading.rows < FEWEST:
        warnings.append(f"{loading.rows} rows are too few; at least {FEWEST} are needed.")
    if left_out:
        warnings.append(f"{left_out:,} pairs were not tried: {limit_pairs:,} is the limit.")
    return Correlations(
        table=table.name,
        rows=loading.rows,
        used_rows=loading.used_rows,
        sampled=loading.used_rows < loading.rows,
        columns=roles,
        associations=_rank(judged),
        matrix=_matrix([column.name for column in kept], judged),
        pairs_tried=len(judged),
        pairs_left_out=left_out,
        warnings=tuple(warnings),
    )


def _within(
    columns: Sequence[Loaded], roles: Sequence[ColumnRole], limit: int
) -> tuple[list[Loaded], tuple[ColumnRole, ...], int]:
    """As many of the first columns as make no more pairs than allowed."""
    count = len(columns)
    while count * (count - 1) // 2 > limit:
        count -= 1
    dropped = {column.name for column in columns[count:]}
    reason = "the limit of pairs was reached"
    marked = tuple(
        ColumnRole(role.name, "left out", reason, None) if role.name in dropped else role
        for role in roles
    )
    pairs = len(columns) * (len(columns) - 1) // 2 - count * (count - 1) // 2
    return list(columns[:count]), marked, pairs


def _rank(judged: Sequence[Judged]) -> tuple[Association, ...]:
    tested = [one for one in judged if one.best is not None]
    adjusted = holm([one.p_value for one in tested])
    found = [
        _association(one, one.best, p_adjusted)
        for one, p_adjusted in zip(tested, adjusted, strict=True)
        if one.best is not None and p_adjusted <= FALSE_FINDINGS and abs(one.best.value) >= WEAKEST
    ]
    return tuple(sorted(found, key=lambda one: (-one.strength, one.first, one.second)))


def _association(judged: Judged, best: Measure, p_adjusted: float) -> Association:
    strength = abs(best.value)
    direction = None
    if best.name in {"pearson", "spearman"}:
        direction = "rising" if best.value > 0 else "falling"
    return copied(
        Association,
        judged,
        measure=best.name,
        strength=strength,
        direction=direction,
        p_value=float(f"{judged.p_value:.6g}"),
        p_adjusted=float(f"{p_adjusted:.6g}"),
        summary=_summary(judged, best, strength, direction),
    )


def _summary(judged: Judged, best: Measure, strength: float, direction: str | None) -> str:
    word = next(word for least, word in _WORDS if strength >= least)
    first, second = judged.first, judged.second
    if direction is not None:
        verb = "rises" if direction == "rising" else "falls"
        how = "in a straight line" if judged.relation == "linear" else "though not in a line"
        said = f"{second} {verb} with {first}, {how}"
    elif judged.relation == "groups differ":
        said = f"{first} and {second}: the groups have different averages"
    elif judged.relation == "categorical":
        said = f"categories of {first} and {second} go together"
    else:
        said = f"{first} and {second} depend on each other, neither rising nor falling throughout"
    return f"{said} ({word}; {best.name.replace('_', ' ')} {best.value:.2f})."


def _matrix(names: Sequence[str], judged: Sequence[Judged]) -> Matrix:
    place = {name: index for index, name in enumerate(names)}
    strengths: list[list[float | None]] = [[None] * len(names) for _ in names]
    chosen: list[list[str | None]] = [[None] * len(names) for _ in names]
    for one in judged:
        if one.best is None:
            continue
        for row, column in ((one.first, one.second), (one.second, one.first)):
            strengths[place[row]][place[column]] = abs(one.best.value)
            chosen[place[row]][place[column]] = one.best.name
    return Matrix(
        columns=tuple(names),
        strengths=tuple(tuple(row) for row in strengths),
        measures=tuple(tuple(row) for row in chosen),
    )
