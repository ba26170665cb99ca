"""Data frames on disk as Parquet, handed out as tables; every file is written once."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from steward.tables.engine import session
from steward.tables.table import Table, parquet_table


class Shelf:
    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.connection = connection
        self._folder = folder
        self._numbers = count()

    def put(self, name: str, frame: pl.DataFrame | dict[str, Any]) -> Table:
        made = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
        path = self._folder / f"{next(self._numbers)}.parquet"
        made.write_parquet(path)
        return parquet_table(self.connection, name, [path])

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def column(self, sql: str, name: str) -> list[Any]:
        quoted = name.replace('"', '""')
        return [row[0] for row in self.rows(f'SELECT "{quoted}" FROM ({sql})')]


@contextmanager
def opened(folder: Path) -> Iterator[Shelf]:
    with session() as connection:
        yield Shelf(connection, folder)
