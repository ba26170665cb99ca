"""How a column of a given DuckDB type is read: its kind and the SQL that turns it into a number."""

from dataclasses import dataclass
from enum import StrEnum

from steward.tables import Column

_WHOLE = frozenset(
    {
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    }
)
_FLOATING = frozenset({"FLOAT", "DOUBLE"})
_MOMENTS = frozenset(
    {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
)


class ColumnKind(StrEnum):
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    MOMENT = "moment"
    TIME = "time"
    NESTED = "nested"
    BINARY = "binary"
    OTHER = "other"


def kind_of(type_name: str) -> ColumnKind:
    if type_name.endswith("]") or type_name.startswith(("STRUCT(", "MAP(", "UNION(")):
        return ColumnKind.NESTED
    if type_name in _WHOLE or type_name in _FLOATING or type_name.startswith("DECIMAL("):
        return ColumnKind.NUMBER
    if type_name in {"VARCHAR", "JSON", "UUID"} or type_name.startswith("ENUM("):
        return ColumnKind.TEXT
    if type_name == "BOOLEAN":
        return ColumnKind.BOOLEAN
    if type_name == "DATE":
        return ColumnKind.DATE
    if type_name in _MOMENTS:
        return ColumnKind.MOMENT
    if type_name == "TIME":
        return ColumnKind.TIME
    if type_name in {"BLOB", "BIT"}:
        return ColumnKind.BINARY
    return ColumnKind.OTHER


@dataclass(frozen=True)
class Reading:
    """How to read the SQL expression `v` of a column."""

    kind: ColumnKind
    value: str
    """What is grouped and compared."""
    number: str | None
    """A finite DOUBLE or null: the number itself, days since 1970, seconds since 1970 or midnight."""
    text: str
    """What is shown."""
    floating: bool
    whole: bool


def reading(column: Column, v: str) -> Reading:
    kind = kind_of(column.type)
    floating = column.type in _FLOATING
    value = v
    if floating:
        # Zero and minus zero are one value; which of them is shown must not depend on the order.
        value = f"({v} + 0)"
    elif kind is ColumnKind.OTHER or (kind is ColumnKind.TEXT and column.type != "VARCHAR"):
        value = f"{v}::VARCHAR"
    return Reading(
        kind=kind,
        value=value,
        number=_number(column, kind, value),
        text=f"{value}::VARCHAR",
        floating=floating,
        whole=column.type in _WHOLE,
    )


def _number(column: Column, kind: ColumnKind, v: str) -> str | None:
    if kind is ColumnKind.NUMBER:
        if column.type in _FLOATING:
            return f"CASE WHEN isfinite({v}) THEN {v}::DOUBLE END"
        return f"{v}::DOUBLE"
    if kind is ColumnKind.DATE:
        return f"CASE WHEN isfinite({v}) THEN ({v} - DATE '1970-01-01')::DOUBLE END"
    if kind is ColumnKind.MOMENT:
        # Microseconds as whole numbers would lose digits beyond the year 2255; seconds read better.
        return f"(epoch_us({v}) / 1000000.0)::DOUBLE"
    if kind is ColumnKind.TIME:
        return f"(epoch_us({v}) / 1000000.0)::DOUBLE"
    return None
