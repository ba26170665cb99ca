"""Writes typed rows and rejects from a table of texts: every record ends in one of the two."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from steward.core import Bug
from steward.ingest.findings import DATA, REJECTS, ColumnFinding
from steward.ingest.options import Options
from steward.ingest.readings import Reading, kept_sql, value_sql
from steward.ingest.texts import Inferred, TextColumn, TextTable, reading_of, text_sql
from steward.tables import Column, describe, literal, parquet_source, quote, without_mark_sql

REJECT_COLUMNS = ("line", "column", "raw", "reason", "fields")


@dataclass(frozen=True)
class Outcome:
    """What became of a file's records."""

    inferred: Inferred
    records: int
    rows: int
    rejected: int
    blank_lines: int = 0


@dataclass(frozen=True)
class TypedColumn:
    """A column with the SQL of its value and of the test that the value holds its text."""

    name: str
    text: str
    value: str
    fits: str | None
    """None where every text fits."""
    reading: Reading


def typed_columns(
    columns: Sequence[TextColumn], findings: Sequence[ColumnFinding], options: Options
) -> tuple[TypedColumn, ...]:
    typed = []
    for column, finding in zip(columns, findings, strict=True):
        reading = reading_of(finding)
        text = text_sql(column, options, finding.null_markers, padded=finding.padded)
        if reading.type == "VARCHAR":
            if column.marked and options.formula_marks == "remove":
                text = without_mark_sql(text)
            typed.append(TypedColumn(column.name, text, text, None, reading))
            continue
        # A type other than text has no empty text: an empty field means no value there.
        text = f"nullif({text}, '')"
        value = value_sql(reading, text)
        fits = kept_sql(reading, text, value)
        typed.append(TypedColumn(column.name, text, value, fits, reading))
    return tuple(typed)


def copy(connection: duckdb.DuckDBPyConnection, select: str, path: Path) -> int:
    """Writes a query's rows to Parquet; the same rows give the same bytes.

    These files are read once and thrown away: compressing them would cost more than it saves.
    """
    row = connection.execute(
        f"COPY ({select}) TO {literal(str(path))} "
        "(FORMAT parquet, PARQUET_VERSION V2, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1)"
    ).fetchone()
    return int(row[0]) if row else 0


def write_rows(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    typed: Sequence[TypedColumn],
    path: Path,
) -> int:
    """Writes the records that fit; how many those were."""
    fields, checks = [], []
    for i, column in enumerate(typed):
        fields.append(f"{column.value} AS v{i}")
        if column.fits is not None:
            fields.append(f"{column.text} AS t{i}")
            checks.append(kept_sql(column.reading, f"t{i}", f"v{i}"))
    values = ", ".join(f"v{i} AS {quote(column.name)}" for i, column in enumerate(typed))
    where = f" WHERE {' AND '.join(checks)}" if checks else ""
    inner = f"SELECT {', '.join(fields)} FROM {table.source}"
    with values_once(connection):
        return copy(connection, f"SELECT {values} FROM ({inner}){where}", path)


@contextmanager
def values_once(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Keeps a filter above the values that it looks at; pushed below them, each would be computed twice."""
    connection.execute("SET disabled_optimizers = 'filter_pushdown'")
    try:
        yield
    finally:
        connection.execute("RESET disabled_optimizers")


def misfits_sql(table: TextTable, typed: Sequence[TypedColumn]) -> str | None:
    """The records that do not fit, in the form of rejects with all their `columns`; none where everything fits.

    Run it within `values_once`.
    """
    checked = [(i, column) for i, column in enumerate(typed) if column.fits is not None]
    if not checked:
        return None
    texts = [f"{column.text} AS t{i}" for i, column in enumerate(typed)]
    values = [f"{column.value} AS v{i}" for i, column in checked]
    inner = f"SELECT {table.line} AS line, {', '.join([*texts, *values])} FROM {table.source}"
    fits = [kept_sql(column.reading, f"t{i}", f"v{i}") for i, column in checked]
    misfits = ", ".join(
        f"CASE WHEN NOT {fit} THEN {{'name': {literal(column.name)}, 'text': t{i}, "
        f"'reason': {literal(_reason(column))}}} END"
        for fit, (i, column) in zip(fits, checked, strict=True)
    )
    fields = ", ".join(f"t{i}" for i in range(len(typed)))
    return (
        'SELECT line, misfits[1].name AS "column", misfits[1].text AS raw, '
        "array_to_string([m.reason FOR m IN misfits], '; ') AS reason, fields, "
        "[m.name FOR m IN misfits] AS columns "
        f"FROM (SELECT line, list_filter([{misfits}], lambda m: m IS NOT NULL) AS misfits, "
        f"to_json([{fields}])::VARCHAR AS fields FROM ({inner}) WHERE NOT ({' AND '.join(fits)}))"
    )


def _reason(column: TypedColumn) -> str:
    reading = column.reading
    how = f" as {reading.format}" if reading.format else ""
    marks = "".join(
        f", {label} {mark!r}"
        for label, mark in (
            ("decimal mark", reading.decimal_mark),
            ("groups by", reading.thousands),
        )
        if mark
    )
    return f"{column.name}: does not read as {reading.type}{how}{marks}"


def ragged_reason(fields: int, width: int) -> str:
    return f"has {fields} fields where {width} are expected"


@dataclass(frozen=True)
class Written:
    records: int
    rows: int
    rejected: int
    columns: tuple[Column, ...]


def write_table(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    typed: Sequence[TypedColumn],
    out_dir: Path,
    records: int,
    *,
    odd: str | None = None,
) -> Written:
    """Writes the rows and the rejects of so many records; `odd` is where those lie that were never rows."""
    rows = write_rows(connection, table, typed, out_dir / DATA)
    never = odd and f'SELECT line, NULL AS "column", c0 AS raw, c1 AS reason FROM {odd}'
    rejected = write_rejects(connection, (misfits_sql(table, typed), never), out_dir / REJECTS)
    if records != rows + rejected:
        raise Bug(f"{records} records became {rows} rows and {rejected} rejects.")
    return Written(records, rows, rejected, describe(connection, parquet_source([out_dir / DATA])))


NO_REJECTS = (
    'SELECT NULL::BIGINT AS line, NULL::VARCHAR AS "column", NULL::VARCHAR AS raw, '
    "NULL::VARCHAR AS reason, NULL::VARCHAR AS fields WHERE FALSE"
)


def write_rejects(
    connection: duckdb.DuckDBPyConnection, parts: Sequence[str | None], path: Path
) -> int:
    """Writes rejects from several queries, in the order of their lines; how many there are."""
    union = " UNION ALL BY NAME ".join(f"({part})" for part in (NO_REJECTS, *parts) if part)
    columns = ", ".join(quote(name) for name in REJECT_COLUMNS)
    select = f'SELECT {columns} FROM ({union}) ORDER BY line, "column", raw, reason'
    with values_once(connection):
        return copy(connection, select, path)
