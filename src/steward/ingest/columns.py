"""Types that Parquet cannot hold exactly, and what holds them instead."""

from collections.abc import Sequence
from dataclasses import dataclass

from steward.ingest.findings import ColumnFinding, Note
from steward.tables import Column, quote

# Written to Parquet, the first two become doubles, intervals lose microseconds, times their zone.
_INEXACT = ("HUGEINT", "UHUGEINT", "INTERVAL", "TIME WITH TIME ZONE", "UNION(", "BIT", "BIGNUM")


@dataclass(frozen=True)
class Kept:
    """A typed column on its way to Parquet: the SQL that keeps its values exactly."""

    sql: str
    finding: ColumnFinding
    note: Note | None


def keep(column: Column, name: str, original: str | None, *, short: bool = False) -> Kept:
    """How a column that is typed already is written; `short`: its whole numbers have 38 digits."""
    if column.type == "HUGEINT" and short:
        finding = ColumnFinding(name, original, "DECIMAL(38,0)", "The source declares HUGEINT.")
        return Kept(f"CAST({quote(column.name)} AS DECIMAL(38,0)) AS {quote(name)}", finding, None)
    inexact = any(kind in column.type for kind in _INEXACT) or column.type.startswith("TIME_NS")
    source = quote(column.name)
    if not inexact:
        finding = ColumnFinding(name, original, column.type, "The source declares this type.")
        return Kept(f"{source} AS {quote(name)}", finding, None)
    message = f"{name!r} is kept as text: Parquet does not hold {column.type} exactly."
    finding = ColumnFinding(name, original, "VARCHAR", message)
    note = Note("kept-as-text", message, name)
    return Kept(f"CAST({source} AS VARCHAR) AS {quote(name)}", finding, note)


def select_sql(kept: Sequence[Kept], source: str) -> str:
    return f"SELECT {', '.join(column.sql for column in kept)} FROM {source}"
