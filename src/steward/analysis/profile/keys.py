"""Suggests columns that identify a row: single ones first, two or three together if none does."""

import math
from collections.abc import Sequence
from itertools import combinations

from steward.analysis.pii.hints import announces
from steward.analysis.pii.values import one_row
from steward.analysis.profile.counting import Scope, is_unique
from steward.analysis.profile.results import ColumnProfile, Key
from steward.analysis.profile.shapes import ColumnKind
from steward.tables import quote

SHOWN = 10
_HEAD = "steward_profile_head"
_HEAD_ROWS = 20_000
_CANDIDATES = 12
_CHECKED = 20
"""Combinations that are read in full; those refuted by the first rows cost nothing."""
_CONVINCING = 0.4
_GAPS = 10
"""Numbers of a range per number that occurs, from which they lie scattered."""
_IDENTIFYING = ("id", "key", "uuid", "guid", "code", "no", "nr", "number", "sku", "ref", "iban")
_PARTIAL = ("line", "date", "day", "month", "year", "version", "seq", "position", "item", "type")


def suggest_keys(
    scope: Scope, columns: Sequence[ColumnProfile], *, sampled: bool
) -> tuple[Key, ...]:
    if scope.rows < 2:
        return ()
    where = " among the sampled rows" if sampled else ""
    single = [
        Key((column.name,), _score(column, place), f"no value is missing or repeated{where}")
        for place, column in enumerate(columns)
        if column.unique and column.kind in _USABLE
    ]
    single.sort(key=lambda key: (-key.score, key.columns))
    if single and single[0].score >= _CONVINCING:
        return tuple(single[:SHOWN])
    # Prices or populations may all differ by chance; what they are measured on may identify a row better.
    return (*_composite(scope, columns, where), *single)[:SHOWN]


_USABLE = {
    ColumnKind.NUMBER,
    ColumnKind.TEXT,
    ColumnKind.DATE,
    ColumnKind.MOMENT,
    ColumnKind.BOOLEAN,
}


def _score(column: ColumnProfile, place: int) -> float:
    """Between 0 and 1: how much the column looks like something made to identify rows."""
    score = 0.5
    if announces(column.name, _IDENTIFYING) or column.name.casefold().endswith("id"):
        score += 0.3
    if column.kind == ColumnKind.MOMENT or _fractional(column) or _scattered(column):
        score -= 0.3
    if column.text is not None and column.text.longest > 64:
        score -= 0.2
    if any(meaning.kind in {"id", "uuid"} for meaning in column.meanings):
        score += 0.1
    if any(meaning.kind in {"free_text", "person_name", "money"} for meaning in column.meanings):
        score -= 0.2
    return round(max(0.0, score + max(0.0, 0.1 - 0.02 * place)), 4)


def _fractional(column: ColumnProfile) -> bool:
    return (
        column.kind == ColumnKind.NUMBER and column.number is not None and not column.number.whole
    )


def _scattered(column: ColumnProfile) -> bool:
    """Whole numbers of different lengths with wide gaps, as quantities lie and identifiers do not."""
    if column.kind != ColumnKind.NUMBER or column.minimum is None or column.maximum is None:
        return False
    low, high = float(column.minimum), float(column.maximum)
    if announces(column.name, _IDENTIFYING) or not (math.isfinite(low) and math.isfinite(high)):
        return False
    varied = low < 0 or len(str(int(low))) != len(str(int(high)))
    return varied and high - low > _GAPS * column.distinct


def _composite(scope: Scope, columns: Sequence[ColumnProfile], where: str) -> tuple[Key, ...]:
    candidates = [
        column
        for column in columns
        if column.kind in _USABLE
        and column.nulls == 0
        and column.distinct > 1
        and not column.unique
        and not _fractional(column)
        and (column.text is None or column.text.longest <= 100)
    ]
    candidates = sorted(candidates, key=lambda one: (-_part(one), -one.distinct, one.name))
    candidates = candidates[:_CANDIDATES]
    if len(candidates) < 2:
        return ()
    names = ", ".join(quote(column.name) for column in candidates)
    scope.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_HEAD} AS "
        f"SELECT {names} FROM {scope.table.source} LIMIT {_HEAD_ROWS}"
    )
    try:
        for arity in (2, 3):
            found = _unique_together(scope, candidates, arity, where)
            if found:
                order = {column.name: place for place, column in enumerate(columns)}
                return tuple(
                    Key(tuple(sorted(key.columns, key=order.__getitem__)), key.score, key.why)
                    for key in found[:SHOWN]
                )
    finally:
        scope.connection.execute(f"DROP TABLE IF EXISTS {_HEAD}")
    return ()


def _part(column: ColumnProfile) -> int:
    return announces(column.name, _IDENTIFYING) * 2 + announces(column.name, _PARTIAL)


def _unique_together(
    scope: Scope, candidates: Sequence[ColumnProfile], arity: int, where: str
) -> list[Key]:
    found = []
    checked = 0
    for group in combinations(candidates, arity):
        possible = 1
        for column in group:
            possible *= column.distinct
        if possible < scope.rows:
            continue
        names = ", ".join(quote(column.name) for column in group)
        seen, distinct = one_row(
            scope.connection,
            f"SELECT (SELECT count(*) FROM {_HEAD}), "
            f"(SELECT count(*) FROM (SELECT DISTINCT {names} FROM {_HEAD}))",
        )
        if seen != distinct:
            continue
        checked += 1
        if checked > _CHECKED:
            break
        source = f"(SELECT row({names}) AS v FROM {scope.table.source})"
        if is_unique(scope.connection, source, scope.rows):
            score = 0.3 + 0.1 * sum(_part(column) for column in group) / arity
            if arity == 3:
                score -= 0.1
            why = f"no combination is repeated{where}"
            found.append(Key(tuple(column.name for column in group), round(score, 4), why))
    return sorted(found, key=lambda key: (-key.score, key.columns))
