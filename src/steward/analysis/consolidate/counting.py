"""How many rows a chain of joins would have, counted from group sizes without making the rows."""

from collections.abc import Mapping, Sequence

import duckdb

from steward.analysis.consolidate.matching import key_of
from steward.analysis.consolidate.model import Link
from steward.analysis.consolidate.naming import fresh
from steward.tables import Table, quote


def countable(chain: Sequence[Link]) -> bool:
    """Inner and left joins form a tree in which each row's share of the result is a product."""
    return all(link.how in {"inner", "left"} for link in chain)


def count_rows(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Table], chain: Sequence[Link]
) -> int:
    weight = fresh(
        (name for table in tables.values() for name in table.column_names), "steward_weight"
    )
    sql = _weighted(tables, chain, chain[0].to, weight)
    row = connection.execute(f"SELECT sum({quote(weight)}) FROM ({sql})").fetchone()
    return int(row[0] or 0) if row else 0


def _weighted(tables: Mapping[str, Table], chain: Sequence[Link], name: str, weight: str) -> str:
    """The table with one more column: how many rows of the result each of its rows stands for."""
    joins, factors = [], ["CAST(1 AS DOUBLE)"]
    for index, link in enumerate(link for link in chain if link.to == name):
        keys = [
            key_of(tables, link, position, "c", left_side=False) for position in range(len(link.on))
        ]
        columns = ", ".join(f"{key} AS k{position}" for position, key in enumerate(keys))
        child = _weighted(tables, chain, link.table, weight)
        grouped = f"SELECT {columns}, sum(c.{quote(weight)}) AS s FROM ({child}) AS c GROUP BY ALL"
        condition = " AND ".join(
            f"{key_of(tables, link, position, 't', left_side=True)} = j{index}.k{position}"
            for position in range(len(link.on))
        )
        joins.append(f"LEFT JOIN ({grouped}) AS j{index} ON {condition}")
        factors.append(f"coalesce(j{index}.s, {1 if link.how == 'left' else 0})")
    return (
        f"SELECT t.*, {' * '.join(factors)} AS {quote(weight)} "
        f"FROM {tables[name].source} AS t {' '.join(joins)}"
    )
