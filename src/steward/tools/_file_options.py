"""How a file or table is read: the one set of corrections that pages, the terminal and agents give."""

from typing import Literal

from pydantic import Field

from steward.broker import Arguments
from steward.ingest import ColumnOption, Options


class ColumnOptions(Arguments):
    """How one column is read; unset: as found."""

    type: str | None = Field(None, max_length=100)
    format: str | None = Field(
        None, max_length=50, description="Date or time format, as in `%d.%m.%Y`."
    )
    decimal_mark: str | None = Field(None, max_length=1)
    thousands: str | None = Field(None, max_length=1)
    null_markers: list[str] | None = Field(
        None,
        max_length=50,
        description="Texts that mean no value in this column. Empty: none do. Unset: as found.",
    )

    def option(self) -> ColumnOption:
        markers = None if self.null_markers is None else tuple(self.null_markers)
        return ColumnOption(**{**self.model_dump(), "null_markers": markers})


class FileOptions(Arguments):
    """Corrections of what is found about the file; unset: as found."""

    format: str | None = Field(None, max_length=20)
    table: str | None = Field(
        None,
        max_length=300,
        description="Sheet, range of a sheet as in Sheet1!A3:D20, table or archive member.",
    )
    encoding: str | None = Field(None, max_length=40)
    delimiter: str | None = Field(None, max_length=4)
    quote: str | None = Field(None, max_length=1, description="Empty: nothing is quoted.")
    escape: str | None = Field(None, max_length=1)
    header_row: int | None = Field(
        None, ge=0, le=10**6, description="Line that holds the names. 0: there is none."
    )
    header_rows: int = Field(
        1, ge=1, le=20, description="How many rows hold the names, from header_row on."
    )
    units: Literal["name", "drop"] | None = Field(
        None,
        description="Units in the last row of names: behind the name in brackets, or left out. Unset: as found.",
    )
    columns: dict[str, ColumnOptions] = Field({}, description="By name of the column.")
    null_markers: list[str] = Field(
        [], max_length=50, description="Texts that mean no value in every column."
    )
    date_format: str | None = Field(None, max_length=50)
    decimal_mark: str | None = Field(None, max_length=1)
    thousands: str | None = Field(None, max_length=1)
    ragged: Literal["reject", "pad"] | None = Field(
        None,
        description="What becomes of records with too few fields. Unset: filled where most are empty there.",
    )
    formula_marks: Literal["remove", "keep"] = Field(
        "remove",
        description="What becomes of the apostrophe before a text that a spreadsheet would run.",
    )
    fill_merged: bool = Field(
        False, description="Whether every cell of a merged range gets the range's value."
    )
    flatten: bool = Field(
        False,
        description="Whether fields of nested JSON records become columns, as in `address.city`.",
    )
    tolerance: float = Field(
        0.001,
        ge=0,
        lt=1,
        description="Largest share of values that may not fit a type that is found.",
    )
    rejects_allowed: float = Field(
        0.01,
        ge=0,
        le=1,
        description="Largest share of records that may be rejected. More than this is asked about. 1: any.",
    )

    def options(self) -> Options:
        columns = {name: item.option() for name, item in self.columns.items()}
        fields = self.model_dump(exclude={"columns"})
        return Options(
            **{**fields, "null_markers": tuple(self.null_markers)},
            columns=columns,
        )
