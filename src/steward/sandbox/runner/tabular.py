"""Fetches a table from the engine into the answer, up to its rows and bytes."""

from dataclasses import dataclass
from typing import Any

import duckdb

from steward.sandbox.contract import Column, Limits
from steward.sandbox.runner.values import Budget, TooMuch, encode

_CHUNK = 1000


@dataclass(frozen=True)
class Fetched:
    columns: list[Column]
    rows: list[list[Any]]
    excess: str = ""
    """Why not everything is here; empty when it is."""


def fetch(connection: duckdb.DuckDBPyConnection, limits: Limits, budget: Budget) -> Fetched:
    """Reads the result that the connection holds."""
    described = connection.description or []
    columns = [Column(name=str(entry[0]), type=str(entry[1])) for entry in described]
    rows: list[list[Any]] = []
    try:
        while chunk := connection.fetchmany(_CHUNK):
            for row in chunk:
                if len(rows) == limits.rows:
                    excess = (
                        f"The result has more than {limits.rows:,} rows. These are the first "
                        f"{limits.rows:,}. Aggregate, filter or add a LIMIT."
                    )
                    return Fetched(columns, rows, excess)
                budget.spend(2)
                rows.append([encode(value, budget) for value in row])
    except TooMuch:
        excess = (
            f"The result has more than {limits.output_bytes:,} bytes. These are the first {len(rows):,} "
            "rows. Choose fewer columns or shorter values."
        )
        return Fetched(columns, rows, excess)
    return Fetched(columns, rows)
