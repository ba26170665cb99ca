"""Runs one guarded SELECT over the request's datasets."""

import duckdb

from steward.sandbox import guard_sql
from steward.sandbox.contract import Answer, Request
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
