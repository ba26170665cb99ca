"""Missing values: markers that stand for them, and what to put in their place."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import (
    Edit,
    cell_change,
    check_columns,
    column_type,
    position,
    text_columns,
    value,
)
from steward.analysis.clean.operations.spaces import trimmed
from steward.analysis.clean.registry import Arguments, operation
from steward.core import Invalid
from steward.tables import Change, Table, literal, quote

MARKERS = (
    *("", "-", "--", "---", "?", ".", "n/a", "na", "n.a.", "#n/a", "nan", "null", "none", "nil"),
    *("missing", "unknown", "not available", "not applicable", "k.a.", "keine angabe", "(blank)"),
)
Strategy = Literal["value", "most common", "median", "mean", "lowest", "highest", "previous"]


class NullMarkers(Arguments):
    columns: list[str] | None = Field(None, description="Text columns; all of them when left out.")
    markers: list[str] | None = Field(
        None,
        description="Texts that mean nothing, whatever their case; a usual list when left out.",
    )


@operation("null_markers", "Turn markers into missing values", NullMarkers)
def null_markers(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: NullMarkers
) -> Change:
    """Makes texts such as N/A, -, null and blanks what they mean: missing values."""
    markers = MARKERS if arguments.markers is None else arguments.markers
    listed = ", ".join(literal(marker.strip().lower()) for marker in markers)
    if not listed:
        raise Invalid("Give at least one marker, or leave the markers out for the usual ones.")
    edits = [
        Edit(
            name,
            f"CASE WHEN lower({trimmed(value(name))}) IN ({listed}) THEN NULL ELSE {value(name)} END",
            "markers made missing",
        )
        for name in text_columns(table, arguments.columns)
    ]
    what = "Makes markers missing values"
    return cell_change(connection, table, "null_markers", arguments, edits, what)


class FillMissing(Arguments):
    columns: list[str] = Field(min_length=1, description="Columns to fill.")
    strategy: Strategy = Field("value", description="Where the filling comes from.")
    value: str | None = Field(None, description="The filling of strategy `value`, as text.")
    order_by: str | None = Field(
        None,
        description="For `previous`: the column that says what comes before; else the row order.",
    )


@operation("fill_missing", "Fill missing values", FillMissing)
def fill_missing(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: FillMissing
) -> Change:
    """Fills missing values with a given value, a statistic of the column or the value of the row before.

    The statistic is computed once and written into the change, so it does not move when the data does. Ties for
    the most common value go to the smallest.
    """
    check_columns(
        table, [*arguments.columns, *([arguments.order_by] if arguments.order_by else [])]
    )
    edits = []
    for name in dict.fromkeys(arguments.columns):
        filling = _filling(connection, table, name, arguments)
        expression = f"coalesce({value(name)}, {filling})"
        edits.append(Edit(name, expression, f"missing filled ({arguments.strategy})"))
    what = f"Fills missing values ({arguments.strategy})"
    return cell_change(connection, table, "fill_missing", arguments, edits, what)


def _filling(
    connection: duckdb.DuckDBPyConnection, table: Table, name: str, arguments: FillMissing
) -> str:
    kind = column_type(table, name)
    if arguments.strategy == "previous":
        order = f"s.{quote(arguments.order_by)} NULLS LAST, " if arguments.order_by else ""
        return (
            f"last_value({value(name)} IGNORE NULLS) OVER (ORDER BY {order}{position(table)} "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        )
    if arguments.strategy == "value":
        if arguments.value is None:
            raise Invalid("The strategy 'value' needs a value to fill with.")
        text = arguments.value
    else:
        text = _statistic(connection, table, name, kind, arguments.strategy)
    filling = f"CAST({literal(text)} AS {kind})"
    try:
        connection.execute(f"SELECT {filling}")
    except duckdb.ConversionException:
        raise Invalid(f"The filling does not fit column {name!r}, which holds {kind}.") from None
    return filling


def _statistic(
    connection: duckdb.DuckDBPyConnection, table: Table, name: str, kind: str, strategy: Strategy
) -> str:
    column = quote(name)
    numeric = kind.startswith("DECIMAL") or kind in _NUMBERS
    if strategy in {"median", "mean"} and not numeric:
        raise Invalid(f"Column {name!r} holds {kind}; {strategy} needs numbers.")
    middle = f"quantile_disc({column}, 0.5)"
    average = f"CAST(avg({column}) AS {kind})"
    term = {
        "median": middle,
        "mean": average,
        "lowest": f"min({column})",
        "highest": f"max({column})",
    }
    sql = f"SELECT CAST({term.get(strategy, 'NULL')} AS VARCHAR) FROM {table.source}"
    if strategy == "most common":
        sql = (
            f"SELECT CAST({column} AS VARCHAR) FROM {table.source} WHERE {column} IS NOT NULL "
            f"GROUP BY {column} ORDER BY count(*) DESC, {column} LIMIT 1"
        )
    row = connection.execute(sql).fetchone()
    if row is None or row[0] is None:
        raise Invalid(f"Column {name!r} has no values, so it has no {strategy} one either.")
    return str(row[0])


_NUMBERS = frozenset(
    (
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    )
)
