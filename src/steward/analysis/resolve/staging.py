"""Rows and parties: every source row with its raw and cleaned values, grouped into parties."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from steward.analysis.resolve.cleaning import cleaned
from steward.analysis.resolve.levels import column
from steward.analysis.resolve.rules import FieldRule, Rules, Source
from steward.core import Invalid, Problem
from steward.tables import Table, literal, parquet_source, quote

ROWS = "rows.parquet"
PARTIES = "parties.parquet"
# A name that no table has, for the position of a row in it.
POSITION = "steward_position"


@dataclass(frozen=True)
class SourceCount:
    table: str
    rows: int
    parties: int


@dataclass(frozen=True)
class Staged:
    """Where the staged rows and parties lie, and how many there are."""

    folder: Path
    sources: tuple[SourceCount, ...]

    @property
    def rows(self) -> str:
        """A FROM item: one line per source row."""
        return parquet_source([self.folder / ROWS])

    @property
    def parties(self) -> str:
        """A FROM item: one line per party."""
        return parquet_source([self.folder / PARTIES])

    @property
    def party_count(self) -> int:
        return sum(source.parties for source in self.sources)


def match_tables(tables: Sequence[Table], rules: Rules) -> dict[str, Table]:
    """The tables by name, after checking that the rules speak of these tables and columns."""
    by_name = {table.name: table for table in tables}
    problems = []
    for index, source in enumerate(rules.sources):
        table = by_name.get(source.table)
        if table is None:
            problems.append(_missing(f"/sources/{index}/table", "table", source.table, by_name))
            continue
        named = [source.row_key, source.updated, *source.party_key]
        problems.extend(
            _missing(f"/sources/{index}", "column", name, table.column_names)
            for name in named
            if name is not None and name not in table.column_names
        )
        for place, field in enumerate(rules.fields):
            problems.extend(
                _missing(
                    f"/fields/{place}/columns/{table.name}", "column", name, table.column_names
                )
                for name in field.column_names(table.name)
                if name not in table.column_names
            )
    unused = sorted(set(by_name) - {source.table for source in rules.sources})
    problems.extend(
        Problem("/sources", f"the rules do not say what to do with table {name!r}")
        for name in unused
    )
    if problems:
        raise Invalid(
            f"The resolution rules do not fit the data: {problems[0].message}. "
            "Correct the rules, or propose them again for these tables.",
            code="rules-do-not-fit",
            problems=problems,
        )
    return by_name


def stage(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], rules: Rules, folder: Path
) -> Staged:
    """Writes rows and parties as Parquet into `folder`, the same bytes for the same input."""
    by_name = match_tables(tables, rules)
    kinds = {field.name: _kind(field, by_name) for field in rules.fields}
    selects = [
        _rows_sql(index, source, by_name[source.table], rules, kinds)
        for index, source in enumerate(rules.sources)
    ]
    numbered = f"""
        WITH loose AS ({" UNION ALL ".join(selects)}),
        grouped AS (
            SELECT *, min(row_id) OVER (PARTITION BY source, party_group) AS first_row FROM loose
        )
        SELECT * EXCLUDE (party_group, first_row),
               dense_rank() OVER (ORDER BY source, first_row) - 1 AS party
        FROM grouped ORDER BY source, row_id
    """
    _write(connection, numbered, folder / ROWS)
    _check_row_keys(connection, rules, folder)
    _write(connection, _parties_sql(rules, folder), folder / PARTIES)
    return Staged(folder, _counts(connection, rules, folder))


def drop_ignored(connection: duckdb.DuckDBPyConnection, rules: Rules, staged: Staged) -> Staged:
    """The staged rows and parties once more, for rules that now ignore some values."""
    replaced = ", ".join(
        f"{_unless_ignored(quote(column(field.name)), field)} AS {quote(column(field.name))}"
        for field in rules.fields
        if field.ignore
    )
    if not replaced:
        return staged
    path = staged.folder / "rows-again.parquet"
    again = f"SELECT * REPLACE ({replaced}) FROM {staged.rows} ORDER BY source, row_id"
    _write(connection, again, path)
    path.replace(staged.folder / ROWS)
    _write(connection, _parties_sql(rules, staged.folder), staged.folder / PARTIES)
    return staged


def _unless_ignored(value: str, field: FieldRule) -> str:
    fillers = ", ".join(literal(filler) for filler in field.ignore)
    return f"list_transform([{value}], lambda y: CASE WHEN y NOT IN ({fillers}) THEN y END)[1]"


def _rows_sql(index: int, source: Source, table: Table, rules: Rules, kinds: dict[str, str]) -> str:
    columns = [
        f"{index}::SMALLINT AS source",
        f"{POSITION} AS row_id",
        f"{_text(source.row_key)} AS row_key" if source.row_key else "NULL::VARCHAR AS row_key",
        f"{_moment(source.updated)} AS updated",
        f"{_party_group(source)} AS party_group",
    ]
    for field in rules.fields:
        value = _raw(field, table.name)
        columns.append(f"CAST({value} AS {kinds[field.name]}) AS {quote('v_' + field.name)}")
        clean = cleaned(_raw(field, table.name, text=True), field.clean)
        if field.ignore:
            clean = _unless_ignored(clean, field)
        columns.append(f"{clean} AS {quote(column(field.name))}")
    # The position is taken first, in the table's own order, before anything is computed.
    rows = f"SELECT *, row_number() OVER () AS {POSITION} FROM {table.source}"
    return f"SELECT {', '.join(columns)} FROM ({rows})"


def _raw(field: FieldRule, table: str, *, text: bool = False) -> str:
    choices = []
    for choice in field.columns.get(table, ()):
        if isinstance(choice, str):
            choices.append(_text(choice) if text else _filled(choice))
        else:
            joined = ", ".join(_text(name) for name in choice)
            choices.append(f"nullif(concat_ws(' ', {joined}), '')")
    if not choices:
        return "NULL::VARCHAR"
    return choices[0] if len(choices) == 1 else f"coalesce({', '.join(choices)})"


def _text(name: str) -> str:
    return f"nullif(trim(CAST({quote(name)} AS VARCHAR)), '')"


def _filled(name: str) -> str:
    """The value as it is, with blank text as missing."""
    return f"CASE WHEN {_text(name)} IS NOT NULL THEN {quote(name)} END"


def _moment(name: str | None) -> str:
    if name is None:
        return "NULL::TIMESTAMP"
    day = cleaned(_text(name), ["date"])
    return f"coalesce(TRY_CAST({_text(name)} AS TIMESTAMP), try_strptime({day}, '%Y%m%d'))"


def _party_group(source: Source) -> str:
    """Equal for the rows of one party; a row without a key is a party of its own."""
    alone = f"'row ' || {POSITION}"
    if not source.party_key:
        return alone
    keys = ", ".join(f"lower({_text(name)})" for name in source.party_key)
    filled = " AND ".join(f"{_text(name)} IS NOT NULL" for name in source.party_key)
    return f"CASE WHEN {filled} THEN 'key ' || concat_ws(chr(31), {keys}) ELSE {alone} END"


def _kind(field: FieldRule, tables: dict[str, Table]) -> str:
    """The type of the golden column: that of its source columns where they all agree."""
    kinds = set()
    for table, choices in field.columns.items():
        types = {column.name: column.type for column in tables[table].columns}
        kinds |= {types[choice] if isinstance(choice, str) else "VARCHAR" for choice in choices}
    return kinds.pop() if len(kinds) == 1 else "VARCHAR"


def _parties_sql(rules: Rules, folder: Path) -> str:
    """One line per party: for each field the value most of its rows have, the smallest of equals."""
    rows = parquet_source([folder / ROWS])
    names = [quote(column(field.name)) for field in rules.fields]
    plain = "".join(f", {name}" for name in names)
    picked = "".join(f", {_most_frequent(name)} AS {name}" for name in names)
    grouped = [str(index) for index, source in enumerate(rules.sources) if source.party_key] or [
        "-1"
    ]
    return f"""
        SELECT party, source, row_id AS first_row, 1 AS size{plain}
        FROM {rows} WHERE source NOT IN ({", ".join(grouped)})
        UNION ALL
        SELECT party, any_value(source), min(row_id), count(*){picked}
        FROM {rows} WHERE source IN ({", ".join(grouped)}) GROUP BY party
        ORDER BY party
    """


def _most_frequent(name: str) -> str:
    # A histogram's keys are sorted, so the first of the largest counts is the smallest value.
    counts = f"histogram({name})"
    return (
        f"map_keys({counts})[list_position(map_values({counts}), list_max(map_values({counts})))]"
    )


def _check_row_keys(connection: duckdb.DuckDBPyConnection, rules: Rules, folder: Path) -> None:
    for index, source in enumerate(rules.sources):
        if source.row_key is None:
            continue
        found = connection.execute(
            f"""SELECT count(*) - count(row_key), count(row_key) - count(DISTINCT row_key)
                FROM {parquet_source([folder / ROWS])} WHERE source = {index}"""
        ).fetchone()
        empty, repeated = found if found is not None else (0, 0)
        if empty or repeated:
            raise Invalid(
                f"Column {source.row_key!r} cannot name the rows of {source.table!r}: {empty} are "
                f"empty and {repeated} repeat. Choose a unique column as row_key, or none.",
                code="row-key-not-unique",
                problems=[Problem(f"/sources/{index}/row_key", "not unique")],
            )


def _counts(
    connection: duckdb.DuckDBPyConnection, rules: Rules, folder: Path
) -> tuple[SourceCount, ...]:
    found = connection.execute(
        f"""SELECT source, count(*), count(DISTINCT party)
            FROM {parquet_source([folder / ROWS])} GROUP BY source"""
    ).fetchall()
    counts = {source: (rows, parties) for source, rows, parties in found}
    return tuple(
        SourceCount(source.table, *counts.get(index, (0, 0)))
        for index, source in enumerate(rules.sources)
    )


def _write(connection: duckdb.DuckDBPyConnection, sql: str, path: Path) -> None:
    connection.execute(f"COPY ({sql}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)")


def _missing(
    pointer: str, kind: str, name: str, known: Sequence[str] | dict[str, Table]
) -> Problem:
    return Problem(pointer, f"there is no {kind} {name!r}; there are: {', '.join(known)}")
