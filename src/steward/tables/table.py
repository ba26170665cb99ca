"""What every operation on data takes: a named thing that DuckDB can read, with its columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from steward.core import Invalid

_TYPE_WORDS = {
    "VARCHAR": "text", "BOOLEAN": "yes/no", "DATE": "date", "TIME": "time", "DOUBLE": "number", "FLOAT": "number",
    "JSON": "JSON", "UUID": "UUID", "BLOB": "bytes",
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    """DuckDB's name of the type, as in `VARCHAR`, `DECIMAL(18,2)` or `TIMESTAMP`."""


@dataclass(frozen=True)
class Table:
    """A readable table: `source` is a FROM item, already quoted and escaped; `rows` when known."""

    name: str
    source: str
    columns: tuple[Column, ...]
    rows: int | None = None
    files: tuple[Path, ...] = ()
    """The files that `source` reads, where they are known: parts of a version."""

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def chosen(self, names: Sequence[str] | None) -> list[Column]:
        """The columns of these names, in the order of the table; all of them where none is named."""
        if names is None:
            return list(self.columns)
        unknown = [name for name in names if name not in self.column_names]
        if unknown:
            raise Invalid(
                f"{self.name} has no column {', '.join(map(repr, unknown))}; "
                f"it has {', '.join(self.column_names[:20])}."
            )
        return [column for column in self.columns if column.name in set(names)]


def quote(identifier: str) -> str:
    """An identifier as SQL; every name that comes from data or people passes through here."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(value: str) -> str:
    """A text as SQL, whatever it holds; for places where DuckDB takes no parameter."""
    quoted = "'" + value.replace("'", "''") + "'"
    if "\0" not in quoted:
        return quoted
    # DuckDB's parser ends a statement at a NUL, also inside quotes.
    return "(" + quoted.replace("\0", "' || chr(0) || '") + ")"


def parquet_source(paths: Sequence[Path | str]) -> str:
    """A FROM item over Parquet files, in the order given."""
    files = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{files}])"


def describe(connection: duckdb.DuckDBPyConnection, source: str) -> tuple[Column, ...]:
    """The columns of a FROM item, without reading its rows."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return tuple(Column(name=row[0], type=row[1]) for row in rows)


def parquet_table(
    connection: duckdb.DuckDBPyConnection, name: str, paths: Sequence[Path | str]
) -> Table:
    source = parquet_source(paths)
    counted = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    return Table(
        name=name,
        source=source,
        columns=describe(connection, source),
        rows=None if counted is None else int(counted[0]),
    )


def type_word(kind: str) -> str:
    """A type as people call it."""
    if kind.startswith("DECIMAL"):
        return "decimal"
    if kind.endswith(("INT", "INTEGER")):
        return "whole number"
    if kind.startswith("TIMESTAMP"):
        return "date and time"
    return _TYPE_WORDS.get(kind, kind.lower())
