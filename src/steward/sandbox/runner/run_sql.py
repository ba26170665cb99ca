"""Runs one guarded SELECT over the request's datasets, or says what is wrong with it."""

import re

import duckdb

from steward.sandbox import guard_sql
from steward.sandbox.contract import Answer, Request
from steward.sandbox.refused import Finding, Refused
from steward.sandbox.runner.tabular import fetch
from steward.sandbox.runner.values import Budget


def rehearse(connection: duckdb.DuckDBPyConnection) -> None:
    checked = guard_sql.check("SELECT a, sum(a) FROM t GROUP BY a", {"t": ["a"]})
    if checked.tables == ("t",):
        connection.execute("SELECT * FROM (SELECT 1 AS a) LIMIT 2").fetchmany(1)


def _values(connection: duckdb.DuckDBPyConnection, query: str, request: Request) -> list[str]:
    """What the query for the values of a pivot finds; as with DuckDB's own, nothing is no value."""
    used = {name: value for name, value in request.parameters.items() if f"${name}" in query}
    rows = connection.execute(query, used or None).fetchall()
    return [value for (value,) in rows if value is not None]


def run(connection: duckdb.DuckDBPyConnection, request: Request, *, guarded: bool) -> Answer:
    sql, tables, columns = request.code, [], []
    if guarded:
        schema = {
            dataset.name: [column.name for column in dataset.columns]
            for dataset in request.datasets
        }
        checked = guard_sql.check(request.code, schema, request.parameters)
        checked = checked.complete(lambda query: _values(connection, query, request))
        sql, tables, columns = checked.sql, list(checked.tables), list(checked.columns)
        # One row more than allowed tells "exactly the limit" from "more": the engine stops there.
        limited = f"SELECT * FROM ({sql}) LIMIT {request.limits.rows + 1}"
        # The engine would mind values that nothing asks for.
        values = {name: request.parameters[name] for name in checked.parameters}
        connection.execute(limited, values or None)
    else:
        connection.execute(sql)
    fetched = fetch(connection, request.limits, Budget(request.limits.output_bytes))
    return Answer(
        status="too_large" if fetched.excess else "done",
        message=fetched.excess,
        columns=fetched.columns,
        rows=fetched.rows,
        sql=sql if guarded else None,
        tables=tables,
        used_columns=columns,
    )


_PLACE = re.compile(r"^LINE (\d+): (.*)\n(\s*)\^", re.MULTILINE)
_ELLIPSIS = "..."
_PREFIX = "EXPLAIN\n"


def check(connection: duckdb.DuckDBPyConnection, request: Request) -> None:
    """Raises `Refused` for what the guard does not let through, and for names and types that the engine does not find.

    The engine plans the statement and does not run it.
    """
    schema = {each.name: [column.name for column in each.columns] for each in request.datasets}
    checked = guard_sql.check(request.code, schema, request.parameters)
    if checked.lists:
        # Which columns a pivot has is known once it runs.
        return
    values = {name: request.parameters[name] for name in checked.parameters}
    try:
        connection.execute(_PREFIX + request.code, values or None)
    except (duckdb.OutOfMemoryException, MemoryError):
        return
    except duckdb.Error as problem:
        finding = _finding(str(problem), request.code)
        # The type of a value that is not known yet may be what does not fit.
        if None not in values.values() or finding.message.startswith("Referenced "):
            raise Refused([finding]) from None


def _finding(said: str, code: str) -> Finding:
    """The engine's words, and the place in the code that its excerpt points to."""
    first = said.partition("\n\n")[0].partition(" Error: ")[2] or said.partition("\n")[0]
    message = " ".join(first.split())
    place = _PLACE.search(said)
    if place is None:
        return Finding("engine", message)
    number = int(place[1]) - _PREFIX.count("\n")
    lines = code.split("\n")
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    column = len(place[3]) - len(f"LINE {place[1]}: ")
    shown = place[2]
    if shown.startswith(_ELLIPSIS):
        # A long line is shown in part.
        part = shown.removeprefix(_ELLIPSIS).removesuffix(_ELLIPSIS)
        column += line.find(part) - len(_ELLIPSIS)
    return Finding("engine", message, number, max(0, column) + 1)
