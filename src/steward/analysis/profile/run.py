"""Profiles a table: a scan per column that counts its values, and everything else from the counts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import duckdb

from steward.analysis.pii import Finding
from steward.analysis.pii.find import inspect, readable
from steward.analysis.pii.values import Sample, Values, one_row, take
from steward.analysis.profile import gaps, meanings, notes, spreads, texts
from steward.analysis.profile.alike import find_alike
from steward.analysis.profile.counting import SHOWN, Counted, Scope, Survey, top_values
from steward.analysis.profile.keys import suggest_keys
from steward.analysis.profile.missing import missing_together
from steward.analysis.profile.personal_data_masks import hide
from steward.analysis.profile.results import (
    ColumnProfile,
    Dates,
    Key,
    Meaning,
    Profile,
    Text,
    ValueCount,
)
from steward.analysis.profile.sampling import SAMPLE_TABLE, sample_rows
from steward.analysis.profile.shapes import ColumnKind, Reading, reading
from steward.analysis.profile.spreads import Distribution
from steward.core import Invalid, copied
from steward.tables import Column, Table, quote

Progress = Callable[[int, int, str], None]
"""Called with the steps done, the steps in all and the name of the step."""

_DUPLICATE_CELLS = 20_000_000
"""Up to so many cells, whole rows are compared when no key rules repetition out."""
_LONG_NUMBER = 1e7
_DATED = (ColumnKind.DATE, ColumnKind.MOMENT)


def profile(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    *,
    sample: int | None = None,
    progress: Progress | None = None,
    reveal: bool = False,
) -> Profile:
    """Everything the rows say about their columns; of `sample` rows only if that is asked for.

    Values that are personal data are masked unless `reveal` is set.
    """
    if sample is not None and sample < 1:
        raise Invalid(f"A sample has at least one row; {sample} were asked for.")
    report = progress or (lambda _done, _all, _what: None)
    rows = int(one_row(connection, f"SELECT count(*) FROM {table.source}")[0])
    scope = Scope(connection, table, rows)
    sampled = sample is not None and sample < rows
    try:
        if sample is not None and sampled:
            source = sample_rows(connection, table, rows, sample)
            scope = Scope(connection, replace(table, source=source, rows=sample), sample)
        return _profile(scope, rows, sampled, report, reveal)
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {SAMPLE_TABLE}")


def _profile(scope: Scope, rows: int, sampled: bool, report: Progress, reveal: bool) -> Profile:
    steps = len(scope.table.columns) + 3
    survey = Survey(scope)
    columns: list[ColumnProfile] = []
    try:
        for place, column in enumerate(scope.table.columns):
            report(place, steps, column.name)
            with survey.counted(column) as counted:
                columns.append(_column(scope, column, counted))
    finally:
        survey.close()
    report(steps - 3, steps, "keys")
    keys = suggest_keys(scope, columns, sampled=sampled)
    duplicate_rows = _duplicate_rows(scope, keys)
    report(steps - 2, steps, "columns that are alike")
    alike = find_alike(scope, columns)
    report(steps - 1, steps, "missing values")
    missing = missing_together(scope, columns)
    said = notes.about_table(columns, keys, alike, missing, duplicate_rows, scope.rows)
    if sampled:
        said = (f"Only {scope.rows:,} of {rows:,} rows were profiled, as asked.", *said)
    report(steps, steps, "done")
    return Profile(
        table=scope.table.name,
        rows=rows,
        profiled_rows=scope.rows,
        sampled=sampled,
        duplicate_rows=duplicate_rows,
        columns=tuple(columns if reveal else map(hide, columns)),
        keys=keys,
        alike=alike,
        missing=missing,
        notes=said,
    )


@dataclass(frozen=True)
class _Details:
    """What is known of some kinds of columns only."""

    minimum: str | None
    maximum: str | None
    shape: Distribution
    text: Text | None = None
    dates: Dates | None = None
    meanings: tuple[Meaning, ...] = ()
    pii: tuple[Finding, ...] = ()


def _column(scope: Scope, column: Column, counted: Counted) -> ColumnProfile:
    # The values have been read once already; from here on they are the column v.
    read = reading(column, "v")
    top, top_exact = top_values(scope, counted, read) if counted.filled else ((), True)
    details = _details(scope, column, counted, read)
    shape = details.shape
    number = None
    if read.kind is ColumnKind.NUMBER:
        number = spreads.number(scope, counted, read, shape.spread)
    found = copied(
        ColumnProfile,
        details,
        name=column.name,
        type=column.type,
        kind=read.kind.value,
        rows=scope.rows,
        filled=counted.filled,
        nulls=scope.rows - counted.filled,
        null_share=round((scope.rows - counted.filled) / scope.rows, 6) if scope.rows else 0.0,
        distinct=counted.distinct,
        distinct_exact=counted.exact,
        unique=counted.unique if scope.rows else None,
        constant=counted.distinct == 1,
        top=tuple(ValueCount(value, int(rows)) for value, rows in top),
        top_exact=top_exact,
        number=number,
        quantiles=shape.quantiles,
        histogram=shape.histogram,
        outliers=shape.outliers,
        masked=False,
        notes=(),
    )
    return replace(found, notes=notes.about_column(found))


def _details(scope: Scope, column: Column, counted: Counted, read: Reading) -> _Details:
    if counted.filled == 0:
        return _Details(None, None, Distribution(None))
    if read.kind is ColumnKind.TEXT:
        return _text_details(scope, column, counted)
    minimum = maximum = None
    if read.kind not in {ColumnKind.NESTED, ColumnKind.BINARY}:
        minimum, maximum = one_row(
            scope.connection,
            f"SELECT left(min(v)::VARCHAR, {SHOWN}), left(max(v)::VARCHAR, {SHOWN}) "
            f"FROM {counted.source}",
        )
    if read.number is None:
        return _Details(minimum, maximum, Distribution(None))
    shape = spreads.distribution(scope, counted, read)
    dates = None
    if read.kind in _DATED and shape.spread is not None:
        dates = gaps.dates(
            spreads.present_days(scope, counted), midnight_only=_midnight_only(scope, counted, read)
        )
    pii = _number_pii(scope, column, counted, shape)
    understood: tuple[Meaning, ...] = ()
    if read.kind is ColumnKind.NUMBER:
        understood = meanings.of_number(column.name, counted, shape.spread)
    return _Details(minimum, maximum, shape, None, dates, understood, pii)


def _text_details(scope: Scope, column: Column, counted: Counted) -> _Details:
    facts = texts.measure(scope, counted)
    values = Values(counted.source, counted.distinct)
    sample = take(scope.connection, values)
    pii = inspect(scope.connection, column, values, sample, counted.filled)
    return _Details(
        minimum=facts.minimum,
        maximum=facts.maximum,
        shape=Distribution(None),
        text=texts.describe(facts, counted, sample),
        meanings=meanings.of_text(column.name, counted, sample, pii),
        pii=pii,
    )


def _number_pii(
    scope: Scope, column: Column, counted: Counted, shape: Distribution
) -> tuple[Finding, ...]:
    """Only long whole numbers are read as text; other columns are judged by their name."""
    values = Values(f"(SELECT v::VARCHAR AS v, n FROM {counted.source})", counted.distinct)
    sample = Sample((), complete=False)
    if readable(column) and shape.spread is not None and shape.spread.high >= _LONG_NUMBER:
        sample = take(scope.connection, values)
    return inspect(scope.connection, column, values, sample, counted.filled)


def _midnight_only(scope: Scope, counted: Counted, read: Reading) -> bool:
    if read.kind is not ColumnKind.MOMENT:
        return False
    return bool(
        one_row(
            scope.connection,
            "SELECT coalesce(bool_and(epoch_us(v) % 86400000000 = 0), false) "
            f"FROM {counted.source}",
        )[0]
    )


def _duplicate_rows(scope: Scope, keys: tuple[Key, ...]) -> int | None:
    if keys or scope.rows < 2:
        return 0
    if scope.rows * len(scope.table.columns) > _DUPLICATE_CELLS:
        return None
    names = ", ".join(quote(column.name) for column in scope.table.columns)
    distinct = one_row(
        scope.connection,
        f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {scope.table.source})",
    )[0]
    return scope.rows - int(distinct)
