"""The format of a column or figure, and what it means on a page and in Excel."""

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from steward.output import locales
from steward.tables import Column

Kind = Literal["text", "integer", "number", "percent", "currency", "boolean", "date", "datetime"]
NUMERIC: frozenset[Kind] = frozenset({"integer", "number", "percent", "currency"})
INTEGER_TYPES = frozenset(
    {
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    }
)
TEMPORAL_TYPES = frozenset(
    {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
)

Value = (
    StrictBool | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictStr | None
)
"""A cell as JSON. Exact decimals and dates travel as text (`"12.50"`, `"2026-03-31"`)."""


class Format(BaseModel):
    """How values are written: kind, decimals, currency."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")

    kind: Kind = "text"
    decimals: int | None = Field(default=None, ge=0, le=10)
    currency: str | None = Field(default=None, pattern=r"^[A-Z]{3}$")

    @model_validator(mode="after")
    def _currency_is_named(self) -> Self:
        if (self.kind == "currency") != (self.currency is not None):
            raise ValueError("a currency format names its currency, and no other format has one")
        return self

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC


TEXT = Format()


def format_of(column: Column) -> Format:
    """The plain format of a DuckDB column: no currency or percentage is guessed."""
    kind = column.type.upper()
    if kind in INTEGER_TYPES:
        return Format(kind="integer")
    if kind.startswith("DECIMAL("):
        scale = int(kind[8:-1].split(",")[1])
        return Format(kind="number", decimals=min(scale, 10))
    if kind in {"DOUBLE", "FLOAT"}:
        return Format(kind="number")
    if kind == "BOOLEAN":
        return Format(kind="boolean")
    if kind == "DATE":
        return Format(kind="date")
    return Format(kind="datetime") if kind in TEMPORAL_TYPES else TEXT


def is_numeric_type(kind: str) -> bool:
    upper = kind.upper()
    return upper in INTEGER_TYPES or upper in {"DOUBLE", "FLOAT"} or upper.startswith("DECIMAL(")


def show(value: Value, wanted: Format, where: locales.Locale) -> str:
    """A value as text for a reader; what does not fit its format is shown as it is, never dropped."""
    if value is None:
        return ""
    if wanted.numeric:
        figure = _figure(value)
        return str(value) if figure is None else _show_number(figure, wanted, where)
    if wanted.kind == "boolean" and isinstance(value, bool):
        return "Yes" if value else "No"
    if wanted.kind in {"date", "datetime"} and isinstance(value, str):
        return _show_date(value, wanted.kind, where)
    return str(value)


def as_json(value: object) -> Value:
    """A value from DuckDB as a JSON value: exact decimals and dates become text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value.isoformat()
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value)


def excel_code(wanted: Format) -> str | None:
    """Excel's number format; Excel itself puts the marks of the reader's country."""
    places = wanted.decimals
    if wanted.kind == "integer":
        return "#,##0"
    if wanted.kind == "number":
        return "#,##0.00" if places is None else f"#,##0{_zeros(places)}"
    if wanted.kind == "percent":
        return f"0{_zeros(1 if places is None else places)}%"
    if wanted.kind == "currency":
        body = f"#,##0{_zeros(2 if places is None else places)}"
        return f"{body} [${locales.currency_symbol(wanted.currency or '')}]"
    if wanted.kind == "date":
        return "yyyy-mm-dd"
    return "yyyy-mm-dd hh:mm:ss" if wanted.kind == "datetime" else None


def _zeros(places: int) -> str:
    return "." + "0" * places if places else ""


def _figure(value: Value) -> Decimal | int | float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value
    try:
        figure = Decimal(value)
    except InvalidOperation:
        return None
    return figure if figure.is_finite() else None


def _show_number(figure: Decimal | int | float, wanted: Format, where: locales.Locale) -> str:
    if wanted.kind == "percent":
        return locales.percent(
            figure, where, decimals=1 if wanted.decimals is None else wanted.decimals
        )
    if wanted.kind == "currency":
        cents = 2 if wanted.decimals is None else wanted.decimals
        return locales.currency(figure, where, wanted.currency or "", decimals=cents)
    if isinstance(figure, float) and figure and not 1e-6 <= abs(figure) < 1e16:
        return f"{figure:.4g}".replace(".", where.decimal).replace("-", locales.MINUS)
    if wanted.kind == "integer":
        return locales.number(figure, where)
    places = wanted.decimals
    if places is None and isinstance(figure, float) and abs(figure) >= 0.001:
        places = decimal_places(figure)
    return locales.number(figure, where, decimals=places)


def decimal_places(figure: float) -> int:
    """Floats carry up to 17 digits that nobody reads: up to four decimals that are not zero are enough."""
    text = f"{figure:.4f}".rstrip("0")
    return len(text.partition(".")[2])


def _show_date(value: str, kind: Kind, where: locales.Locale) -> str:
    try:
        if kind == "date":
            return locales.short_date(date.fromisoformat(value[:10]), where)
        return locales.moment(datetime.fromisoformat(value), where)
    except ValueError:
        return value
