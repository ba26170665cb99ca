"""One column of texts, cleaned."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from steward.analysis.clean import clean
from steward.tables.changes import Change
from tests.kits.shelf import Shelf


def texts(values: Sequence[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series(values, dtype=pl.String)})


def run(
    shelf: Shelf, name: str, values: Sequence[str | None], **arguments: Any
) -> tuple[list[Any], Change]:
    change = clean(shelf.connection, shelf.put("t", texts(values)), name, arguments)
    return shelf.column(change.sql, "c"), change
