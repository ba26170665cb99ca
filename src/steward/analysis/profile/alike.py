"""Finds columns that hold the same thing twice, in every row or in nearly every row."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from steward.analysis.pii.values import one_row
from steward.analysis.profile.counting import Scope
from steward.analysis.profile.results import AlikeColumns, ColumnProfile
from steward.tables import quote

_HEAD_ROWS = 2_048
_LIKELY = 0.8
"""Agreement in the first rows that makes a pair worth reading in full."""
_NEARLY = 0.95
_PAIRS = 200


def find_alike(scope: Scope, columns: Sequence[ColumnProfile]) -> tuple[AlikeColumns, ...]:
    """Candidates come from the columns' counts and first rows; every row of these is compared."""
    pairs = [pair for pair in combinations(columns, 2) if _could_be(*pair)]
    if not pairs or scope.rows == 0:
        return ()
    likely = _agreeing(scope, pairs)[:_PAIRS]
    if not likely:
        return ()
    sums = ", ".join(
        f"count(*) FILTER ({quote(first.name)} IS NOT DISTINCT FROM {quote(second.name)}), "
        f"count(*) FILTER ({quote(first.name)} = {quote(second.name)})"
        for first, second in likely
    )
    row = one_row(scope.connection, f"SELECT {sums} FROM {scope.table.source}")
    found = []
    for (first, second), equal, said in zip(likely, row[::2], row[1::2], strict=True):
        # Agreement in nulls alone is no agreement.
        if said == 0 or equal < _NEARLY * scope.rows:
            continue
        relation = "equal" if equal == scope.rows else "nearly equal"
        share = round(equal / scope.rows, 6)
        found.append(AlikeColumns(first.name, second.name, relation, int(equal), share))
    return tuple(sorted(found, key=lambda one: (-one.share, one.first, one.second)))


def _could_be(first: ColumnProfile, second: ColumnProfile) -> bool:
    """Counts of columns that agree in most rows cannot be far apart."""
    if first.kind != second.kind or first.kind in {"nested", "binary", "other"}:
        return False
    if first.constant or second.constant or (first.kind != "number" and first.type != second.type):
        return False
    slack = 0.06 * max(first.rows, 1) + 0.05 * max(first.distinct, second.distinct)
    return (
        abs(first.nulls - second.nulls) <= slack and abs(first.distinct - second.distinct) <= slack
    )


def _agreeing(
    scope: Scope, pairs: Sequence[tuple[ColumnProfile, ColumnProfile]]
) -> list[tuple[ColumnProfile, ColumnProfile]]:
    names = list(dict.fromkeys(column.name for pair in pairs for column in pair))
    listed = ", ".join(f"{quote(name)}::VARCHAR" for name in names)
    rows = scope.connection.execute(
        f"SELECT {listed} FROM {scope.table.source} LIMIT {_HEAD_ROWS}"
    ).fetchall()
    # Texts become whole numbers once, so that comparing many pairs stays cheap.
    codes: dict[str, int] = {}
    columns = {
        name: np.array(
            [-1 if text is None else codes.setdefault(text, len(codes)) for text in texts]
        )
        for name, texts in zip(names, zip(*rows, strict=True), strict=True)
    }
    found = []
    for first, second in pairs:
        one, other = columns[first.name], columns[second.name]
        filled = np.count_nonzero((one >= 0) | (other >= 0))
        equal = np.count_nonzero((one == other) & (one >= 0))
        if filled and equal >= _LIKELY * filled:
            found.append((first, second))
    return found
