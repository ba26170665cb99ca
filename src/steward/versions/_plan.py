"""Edits as SQL: which rows of a version change to what, which go, and which arrive.

A plan yields two relations, both with columns as stored: `touched` (address, gone, new values) and `arriving`. Rows
that an update would leave as they are do not count as touched.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import duckdb

from steward.core import Invalid, NotFound, TooLarge
from steward.tables import Column, describe, literal, quote
from steward.versions import edits
from steward.versions._manifest import Manifest, StoredColumn
from steward.versions._read import Locate, Reading, segments_with_rows, select
from steward.versions._storage import GONE, POSITION, PREFIX, ROW, SEGMENT, encoded

MAX_LISTED: Final = 10_000
"""Cells or rows that one edit may list; larger edits come as SQL."""


@dataclass(frozen=True)
class Plan:
    touched: tuple[str, ...] = ()
    arriving: tuple[str, ...] = ()

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(self.touched + other.touched, self.arriving + other.arriving)


@dataclass(frozen=True)
class Planner:
    """Turns edits into a plan; `lay` keeps a SELECT's rows as a table for as long as the edit runs."""

    connection: duckdb.DuckDBPyConnection
    manifest: Manifest
    locate: Locate
    lay: Callable[[str], str]
    by_name: Mapping[str, StoredColumn] = field(init=False)

    def __post_init__(self) -> None:
        columns = {column.name: column for column in self.manifest.columns}
        object.__setattr__(self, "by_name", columns)

    def plan(self, edit: edits.Edit) -> Plan:
        match edit:
            case edits.Update(where, values):
                return Plan(touched=(self._update(where, values),))
            case edits.Delete(where):
                rows = select(self.manifest, self.locate, Reading(address=True, ordered=False))
                return Plan(touched=(self._removal(f"({rows}) WHERE ({where})"),))
            case edits.Insert(query):
                columns = self._given(query)
                return Plan(arriving=(self._arrival(columns, f"({query})"),))
            case edits.Upsert(query, on):
                return self._upsert(query, on)
            case edits.SetCells(cells):
                return Plan(touched=(self._cells(cells),))
            case edits.DeleteRows(rows):
                return Plan(touched=(self._removal(self._rows_with_ids(rows)),))
            case edits.InsertRows(rows):
                return Plan(arriving=(self._listed(rows),))

    def _column(self, name: str) -> StoredColumn:
        column = self.by_name.get(name)
        if column is None:
            raise Invalid(
                f"The dataset has no column {name!r}; it has {', '.join(list(self.by_name)[:20])}."
            )
        return column

    def _update(self, where: str, values: Mapping[str, str]) -> str:
        for name in values:
            self._column(name)
        rows = select(self.manifest, self.locate, Reading(address=True, ordered=False))
        return self._replacement(f"({rows}) WHERE ({where})", values)

    def _replacement(self, rows: str, values: Mapping[str, str]) -> str:
        """Touched rows from a FROM item with addresses, and the SQL of each column that is set."""
        new = {name: f"{PREFIX}new_{index}" for index, name in enumerate(values)}
        fields = [
            f"CAST(({expression}) AS {self.by_name[name].type}) AS {new[name]}"
            for name, expression in values.items()
        ]
        differs = " OR ".join(f"{new[name]} IS DISTINCT FROM {quote(name)}" for name in values)
        stored = ", ".join(
            f"{encoded(column, new.get(column.name, quote(column.name)))} "
            f"AS {quote(column.stored_name)}"
            for column in self.manifest.columns
        )
        return (
            f"SELECT {SEGMENT}, {POSITION}, false AS {GONE}, {stored} "
            f"FROM (SELECT *, {', '.join(fields)} FROM {rows}) WHERE {differs or 'false'}"
        )

    def _removal(self, rows: str) -> str:
        nothing = ", ".join(
            f"CAST(NULL AS {column.stored_type}) AS {quote(column.stored_name)}"
            for column in self.manifest.columns
        )
        return f"SELECT {SEGMENT}, {POSITION}, true AS {GONE}, {nothing} FROM {rows}"

    def _rows_with_ids(self, ids: Sequence[int]) -> str:
        """A FROM item of the rows with these ids; all of them must exist."""
        wanted = sorted(set(ids))
        _limit(len(wanted), "rows")
        reading = Reading(
            only=segments_with_rows(self.manifest, wanted), address=True, ids=True, ordered=False
        )
        listed = ", ".join(f"({int(row)})" for row in wanted) or "(NULL)"
        here = f"SEMI JOIN (VALUES {listed}) w({ROW}) USING ({ROW})"
        counting = select(self.manifest, self.locate, replace(reading, columns=()))
        found = self.connection.execute(f"SELECT count(*) FROM ({counting}) {here}").fetchone()
        if found is None or found[0] != len(wanted):
            raise NotFound(
                "A row to be edited is not in this version any more. Load the page anew."
            )
        return f"(SELECT * FROM ({select(self.manifest, self.locate, reading)}) {here})"

    def _cells(self, cells: Sequence[edits.CellValue]) -> str:
        _limit(len(cells), "cells")
        by_column: dict[str, dict[int, str | None]] = {}
        for cell in cells:
            values = by_column.setdefault(self._column(cell.column).name, {})
            if cell.row in values:
                raise Invalid(f"Column {cell.column!r} of one row is set twice in the same edit.")
            values[cell.row] = cell.value
        joins: list[str] = []
        new: dict[str, str] = {}
        for index, (name, values) in enumerate(by_column.items()):
            self._check_texts(name, values.values())
            listed = ", ".join(f"({int(row)}, {_text(value)})" for row, value in values.items())
            joins.append(f"LEFT JOIN (VALUES {listed}) c{index}(r, v) ON c{index}.r = w.{ROW}")
            kind = self.by_name[name].type
            new[name] = (
                f"CASE WHEN r{index} IS NULL THEN {quote(name)} ELSE CAST(v{index} AS {kind}) END"
            )
        extra = "".join(f", c{i}.r AS r{i}, c{i}.v AS v{i}" for i in range(len(joins)))
        rows = self._rows_with_ids([cell.row for cell in cells])
        return self._replacement(f"(SELECT w.*{extra} FROM {rows} w {' '.join(joins)})", new)

    def _listed(self, rows: Sequence[Mapping[str, str | None]]) -> str:
        _limit(len(rows), "rows")
        names = sorted({name for row in rows for name in row})
        if not names:
            raise Invalid("A row to insert needs at least one column.")
        for name in names:
            self._check_texts(self._column(name).name, [row.get(name) for row in rows])
        values = ", ".join(
            f"({', '.join(_text(row.get(name)) for name in names)}, {number})"
            for number, row in enumerate(rows)
        )
        header = ", ".join(map(quote, names))
        number = f"{PREFIX}number"
        return self._arrival(
            names, f"(SELECT * FROM (VALUES {values}) v({header}, {number}) ORDER BY {number})"
        )

    def _check_texts(self, name: str, values: Iterable[str | None]) -> None:
        column = self.by_name[name]
        listed = ", ".join(f"({literal(value)})" for value in values if value is not None)
        if not listed or column.type == "VARCHAR":
            return
        bad = self.connection.execute(
            f"SELECT count(*) FROM (VALUES {listed}) v(t) WHERE TRY_CAST(t AS {column.type}) IS NULL"
        ).fetchone()
        if bad and bad[0]:
            raise Invalid(
                f"{bad[0]} value(s) for column {name!r} are not of its type {column.type}."
            )

    def _given(self, query: str) -> list[str]:
        return [self._column(column.name).name for column in _described(self.connection, query)]

    def _arrival(self, names: Sequence[str], rows: str) -> str:
        fields = []
        for column in self.manifest.columns:
            value = quote(column.name) if column.name in names else "NULL"
            typed = f"CAST({value} AS {column.type})"
            fields.append(f"{encoded(column, typed)} AS {quote(column.stored_name)}")
        return f"SELECT {', '.join(fields)} FROM {rows}"

    def _upsert(self, query: str, on: Sequence[str]) -> Plan:
        given = self._given(query)
        missing = [name for name in on if name not in given]
        if not on or missing:
            raise Invalid(
                f"The rows to merge need the columns they are matched by: {missing or on}."
            )
        source = self.lay(f"SELECT * FROM ({query})")
        keys = ", ".join(map(quote, on))
        twice = self.connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {keys} HAVING count(*) > 1)"
        ).fetchone()
        if twice and twice[0]:
            raise Invalid(
                f"{twice[0]} key(s) occur twice among the rows to merge; make them unique."
            )
        rows = select(self.manifest, self.locate, Reading(address=True, ordered=False))
        match = " AND ".join(f"n.{quote(name)} IS NOT DISTINCT FROM o.{quote(name)}" for name in on)
        changed = {name: quote(f"{PREFIX}given_{name}") for name in given if name not in on}
        extra = "".join(f", n.{quote(name)} AS {alias}" for name, alias in changed.items())
        touched = self._replacement(
            f"(SELECT o.*{extra} FROM ({rows}) o JOIN {source} n ON {match})", changed
        )
        known = select(self.manifest, self.locate, Reading(columns=tuple(on), ordered=False))
        fresh = (
            f"(SELECT n.*, n.rowid AS {ROW} FROM {source} n ANTI JOIN ({known}) o ON {match} "
            f"ORDER BY n.rowid)"
        )
        return Plan(touched=(touched,) if changed else (), arriving=(self._arrival(given, fresh),))


def _described(connection: duckdb.DuckDBPyConnection, query: str) -> Sequence[Column]:
    return describe(connection, f"({query})")


def _limit(number: int, noun: str) -> None:
    if number > MAX_LISTED:
        raise TooLarge(f"One edit lists at most {MAX_LISTED:,} {noun}; this one lists {number:,}.")


def _text(value: str | None) -> str:
    return "CAST(NULL AS VARCHAR)" if value is None else literal(value)
