"""The second reading of a statement: sqlglot must find the same kind of statement over the same tables as DuckDB did."""

from collections.abc import Collection
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from steward.sandbox.refused import Finding, Refused
from steward.sandbox.sql_functions import TABLE_FUNCTIONS

_WRITING: Final = (
    exp.DML,
    exp.DDL,
    exp.Command,
    exp.Copy,
    exp.Attach,
    exp.Detach,
    exp.Pragma,
    exp.Set,
    exp.Use,
    exp.Describe,
    exp.Into,
    exp.Transaction,
    exp.Drop,
    exp.Alter,
)


def refuse_other_reading(sql: str, written: str, known: Collection[str]) -> None:
    """sqlglot must see one query too, nothing that writes, and no table that DuckDB did not see."""
    try:
        statements = _read_again(sql)
    except SqlglotError as problem:
        # It knows less of DuckDB's short forms than of what DuckDB writes itself, which is what runs.
        try:
            statements = _read_again(written)
        except SqlglotError:
            raise Refused([_disagreement(problem)]) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query | exp.Values | exp.Pivot):
        kind = type(statements[0]).__name__ if statements else "nothing"
        raise Refused([Finding(kind, "The two parsers do not agree that this is one SELECT.")])
    for node in statements[0].walk():
        if isinstance(node, _WRITING):
            kind = type(node).__name__
            raise Refused([Finding(kind, f"{kind} may not be part of a SELECT.")])
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            name = node.name.casefold()
            if name not in known and not _is_local(node, name):
                message = f"The two parsers do not agree on where {node.name!r} comes from."
                raise Refused([Finding("table", message)])


def _read_again(sql: str) -> list[exp.Expr]:
    return [statement for statement in sqlglot.parse(sql, read="duckdb") if statement is not None]


def _disagreement(problem: SqlglotError) -> Finding:
    details = getattr(problem, "errors", [])
    at = details[0] if details else {}
    message = f"The two parsers do not agree on this: {at.get('description') or 'no reading'}."
    return Finding("syntax", message, at.get("line"), at.get("col"))


def _is_local(node: exp.Table, name: str) -> bool:
    """`FROM t, t.items`: a column of a table beside it, which sqlglot takes for a table."""
    return bool(node.db) or name in {"", *TABLE_FUNCTIONS}
