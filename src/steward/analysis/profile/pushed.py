"""A profile that a database counts itself: one query over all rows, and no values of texts."""

from collections.abc import Sequence
from typing import Any, Final

from steward.analysis.profile.results import ColumnProfile, Missing, Profile
from steward.tables import Column, quote

_ORDERED: Final = {
    **dict.fromkeys(("SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"), "number"),
    "DATE": "date",
    "TIMESTAMP": "moment",
    "TIMESTAMP WITH TIME ZONE": "moment",
}
_COUNTED: Final = {"VARCHAR": "text", "BOOLEAN": "boolean"}


def pushed_query(name: str, columns: Sequence[Column]) -> str:
    """One row: how many rows there are, and how many without a gap; then four figures of each column."""
    filled = " AND ".join(f"{quote(column.name)} IS NOT NULL" for column in columns)
    fields = ["count(*) AS n", f"count(CASE WHEN {filled} THEN 1 END) AS complete"]
    for at, column in enumerate(columns):
        cell, kind = quote(column.name), column.type.partition("(")[0]
        distinct = kind in _ORDERED or kind in _COUNTED
        fields.append(f"count({cell}) AS f{at}")
        fields.append(f"{f'count(DISTINCT {cell})' if distinct else 'NULL'} AS d{at}")
        for function in ("min", "max"):
            value = f"CAST({function}({cell}) AS VARCHAR)" if kind in _ORDERED else "NULL"
            fields.append(f"{value} AS {function}{at}")
    return f"SELECT {', '.join(fields)} FROM {quote(name)}"


def pushed_profile(name: str, columns: Sequence[Column], row: Sequence[Any], place: str) -> Profile:
    rows = int(row[0])
    found = tuple(
        _column(column, rows, row[2 + 4 * at : 6 + 4 * at]) for at, column in enumerate(columns)
    )
    note = (
        f"Counted at {place!r} over all rows. Patterns, distributions, personal data and keys are not looked for there: "
        "load a copy to find them."
    )
    return Profile(
        name, rows, rows, False, None, found, (), (), Missing(int(row[1]), (), ()), (note,)
    )


def _column(column: Column, rows: int, figures: Sequence[Any]) -> ColumnProfile:
    filled, distinct, low, high = int(figures[0]), figures[1], figures[2], figures[3]
    kind = column.type.partition("(")[0]
    return ColumnProfile(
        name=column.name,
        type=column.type,
        kind=_ORDERED.get(kind) or _COUNTED.get(kind, "other"),
        rows=rows,
        filled=filled,
        nulls=rows - filled,
        null_share=(rows - filled) / rows if rows else 0.0,
        distinct=int(distinct or 0),
        distinct_exact=distinct is not None,
        unique=None if distinct is None else rows > 0 and int(distinct) == rows,
        constant=distinct is not None and int(distinct) == 1,
        minimum=low,
        maximum=high,
        top=(),
        top_exact=False,
        number=None,
        quantiles=(),
        histogram=None,
        outliers=None,
        text=None,
        dates=None,
        meanings=(),
        pii=(),
        masked=False,
        notes=(),
    )
