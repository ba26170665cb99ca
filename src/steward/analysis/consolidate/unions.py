"""Unions of two or more tables: columns mapped, types widened, nothing dropped without a word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from steward.analysis.consolidate.mapping import MappedColumn, suggest_mapping
from steward.analysis.consolidate.matching import type_of
from steward.analysis.consolidate.model import Compatibility, Loss, OutputColumn
from steward.analysis.consolidate.naming import Names
from steward.analysis.consolidate.types import common_type
from steward.core import Invalid
from steward.tables import Change, ColumnLineage, Table, literal, quote, result_columns

MAX_TABLES = 200

ColumnMapping = Mapping[str, Mapping[str, str]]
"""Output column → table → column of that table."""


def check_union(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    mapping: ColumnMapping | None = None,
    *,
    distinct: bool = False,
) -> Compatibility:
    """What the union would give and lose; without a mapping the suggested one is taken."""
    chosen = _chosen(connection, tables, mapping)
    problems = _problems(tables, chosen)
    if problems:
        return Compatibility((), (), (), 0, problems, ())
    columns = _columns(connection, tables, chosen)
    lost = _lost(tables, chosen)
    rows = _rows(connection, tables)
    warnings = [f"{each.name}: {each.note}" for each in columns if each.note]
    total = sum(rows.values())
    if distinct:
        kept = _count(connection, _select(tables, columns, None, distinct=True))
        if kept < total:
            lost.append(Loss("", None, total - kept, "equal to an earlier row"))
        total = kept
    return Compatibility(tuple(columns), tuple(lost), (), total, (), tuple(warnings))


def union(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    mapping: ColumnMapping | None = None,
    *,
    distinct: bool = False,
    provenance: str | None = None,
) -> Change:
    """The plan of a union: the rows of the tables one after the other; `provenance` names a column for the source.

    With `distinct`, a row equal to an earlier one (before provenance is added) is left out.
    """
    chosen = _chosen(connection, tables, mapping)
    checked = check_union(connection, tables, chosen, distinct=distinct)
    if checked.problems:
        raise Invalid(" ".join(checked.problems))
    source_name = None
    if provenance is not None:
        source_name = Names(each.name for each in checked.columns).take(provenance)
    sql = _select(tables, checked.columns, source_name, distinct=distinct)
    lineage = [
        ColumnLineage(
            each.name,
            tuple((table, column) for table, column, _ in each.sources),
            "union" if not each.note else f"union; {each.note}",
        )
        for each in checked.columns
    ]
    if source_name is not None:
        lineage.append(ColumnLineage(source_name, (), "provenance"))
    total = sum(_rows(connection, tables).values())
    return Change(
        operation="union",
        arguments={
            "tables": [table.name for table in tables],
            "mapping": {name: dict(sources) for name, sources in chosen.items()},
            "distinct": distinct,
            "provenance": provenance,
        },
        sql=sql,
        inputs=tuple(tables),
        columns=result_columns(connection, sql),
        lineage=tuple(lineage),
        summary=_summary(tables, checked, total),
        counts={
            "rows": checked.rows,
            "duplicates_removed": total - checked.rows,
            "columns_lost": sum(each.column is not None for each in checked.lost),
        },
        warnings=checked.warnings,
    )


def as_mapping(suggested: Sequence[MappedColumn]) -> dict[str, dict[str, str]]:
    return {each.name: dict(each.columns) for each in suggested}


def _chosen(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    mapping: ColumnMapping | None,
) -> ColumnMapping:
    return as_mapping(suggest_mapping(connection, tables)) if mapping is None else mapping


def _problems(tables: Sequence[Table], mapping: ColumnMapping) -> tuple[str, ...]:
    if len(tables) < 2:
        return ("A union takes two tables or more.",)
    if len(tables) > MAX_TABLES:
        return (f"A union takes at most {MAX_TABLES} tables, not {len(tables)}.",)
    by_name = {table.name: table for table in tables}
    if len(by_name) != len(tables):
        return ("Two of the tables have the same name; give each its own.",)
    if not mapping:
        return ("The mapping names no column, so nothing would be left.",)
    found = []
    names = Names()
    for output, sources in mapping.items():
        if not output or output in names:
            found.append(f"The output column {output!r} is empty or given twice.")
        names.take(output)
        if not sources:
            found.append(f"The output column {output!r} comes from no table.")
    return (*found, *_source_problems(by_name, mapping))


def _source_problems(tables: Mapping[str, Table], mapping: ColumnMapping) -> list[str]:
    found = []
    used: set[tuple[str, str]] = set()
    for output, sources in mapping.items():
        for table, column in sources.items():
            if table not in tables:
                found.append(f"{output!r} is mapped to a table {table!r} that is not here.")
            elif column not in tables[table].column_names:
                found.append(f"{table} has no column {column!r}.")
            elif (table, column) in used:
                found.append(f"{table}.{column} feeds two output columns; once is enough.")
            used.add((table, column))
    return found


def _columns(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], mapping: ColumnMapping
) -> list[OutputColumn]:
    by_name = {table.name: table for table in tables}
    columns = []
    for output, chosen in mapping.items():
        sources = tuple(
            (table.name, chosen[table.name], type_of(by_name[table.name], chosen[table.name]))
            for table in tables
            if table.name in chosen
        )
        types = [kind for _, _, kind in sources]
        target = common_type(connection, types)
        columns.append(OutputColumn(output, target, sources, _note(tables, sources, target)))
    return columns


def _note(tables: Sequence[Table], sources: Sequence[tuple[str, str, str]], target: str) -> str:
    said = []
    widened = sorted({kind for _, _, kind in sources if kind != target})
    if widened:
        said.append(f"{', '.join(widened)} becomes {target}")
    having = {table for table, _, _ in sources}
    without = [table.name for table in tables if table.name not in having]
    if without:
        said.append(f"empty for the rows of {', '.join(without)}")
    return "; ".join(said)


def _lost(tables: Sequence[Table], mapping: ColumnMapping) -> list[Loss]:
    used = {(table, column) for sources in mapping.values() for table, column in sources.items()}
    return [
        Loss(table.name, column.name, 0, "the mapping does not use it")
        for table in tables
        for column in table.columns
        if (table.name, column.name) not in used
    ]


def _rows(connection: duckdb.DuckDBPyConnection, tables: Sequence[Table]) -> dict[str, int]:
    return {table.name: _count(connection, f"SELECT * FROM {table.source}") for table in tables}


def _count(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM ({sql})").fetchone()
    return int(row[0]) if row else 0


@dataclass(frozen=True)
class _Auxiliary:
    source: str
    position: str


def _select(
    tables: Sequence[Table],
    columns: Sequence[OutputColumn],
    source_name: str | None,
    *,
    distinct: bool,
) -> str:
    names = Names([each.name for each in columns] + ([source_name] if source_name else []))
    extra = _Auxiliary(names.take("steward_source"), names.take("steward_row"))
    parts = []
    for index, table in enumerate(tables):
        terms = [_term(table, each) for each in columns]
        if source_name is not None:
            terms.append(f"{literal(table.name)} AS {quote(source_name)}")
        if distinct:
            terms.append(f"{index} AS {quote(extra.source)}")
            terms.append(f"row_number() OVER () AS {quote(extra.position)}")
        parts.append(f"SELECT {', '.join(terms)} FROM {table.source}")
    everything = " UNION ALL ".join(parts)
    if not distinct:
        return everything
    same = ", ".join(quote(each.name) for each in columns)
    order = f"{quote(extra.source)}, {quote(extra.position)}"
    kept = ", ".join(quote(each.name) for each in columns)
    if source_name is not None:
        kept += f", {quote(source_name)}"
    return (
        f"SELECT {kept} FROM ({everything}) "
        f"QUALIFY row_number() OVER (PARTITION BY {same} ORDER BY {order}) = 1 ORDER BY {order}"
    )


def _term(table: Table, column: OutputColumn) -> str:
    for name, source, kind in column.sources:
        if name == table.name:
            value = quote(source)
            term = value if kind == column.type else f"CAST({value} AS {column.type})"
            return f"{term} AS {quote(column.name)}"
    return f"CAST(NULL AS {column.type}) AS {quote(column.name)}"


def _summary(tables: Sequence[Table], checked: Compatibility, total: int) -> str:
    said = f"Puts {len(tables)} tables one below the other: {checked.rows:,} rows, {len(checked.columns)} columns"
    if checked.rows < total:
        said += f"; {total - checked.rows:,} rows equal to earlier ones are left out"
    lost = [f"{each.table}.{each.column}" for each in checked.lost if each.column]
    if lost:
        said += f"; not taken over: {', '.join(lost)}"
    return said + "."
