"""How a file or table is read: the one set of corrections that pages, the terminal and agents give."""

from typing import Literal

from pydantic import Field

from steward.broker.tool import Arguments
from steward.data.ingest import ColumnOption, Options


class ColumnOptions(Arguments):
    """How one column is read; unset: as found."""

    type: str | None = Field(None, max_length=100)
    format: str | None = Field(
        None, max_length=50, description="Date or time format, as in `%d.%m.%Y`."
    )
    decimal_mark: str | None = Field(None, max_length=1)
    thousands: str | None = Field(None, max_length=1)


class FileOptions(Arguments):
    """Corrections of what is found about the file; unset: as found."""

    format: str | None = Field(None, max_length=20)
    table: str | None = Field(None, max_length=300, description="Sheet, table or archive member.")
    encoding: str | None = Field(None, max_length=40)
    delimiter: str | None = Field(None, max_length=4)
    quote: str | None = Field(None, max_length=1, description="Empty: nothing is quoted.")
    escape: str | None = Field(None, max_length=1)
    header_row: int | None = Field(None, ge=0, le=10**6, description="0: no header.")
    columns: dict[str, ColumnOptions] = Field({}, description="By name of the column.")
    null_markers: list[str] = Field([], max_length=50, description="Texts that mean no value.")
    date_format: str | None = Field(None, max_length=50)
    decimal_mark: str | None = Field(None, max_length=1)
    thousands: str | None = Field(None, max_length=1)
    ragged: Literal["reject", "pad"] = Field(
        "reject", description="What becomes of records with too few fields."
    )
    fill_merged: bool = Field(
        False, description="Whether every cell of a merged range gets the range's value."
    )

    def options(self) -> Options:
        columns = {name: ColumnOption(**item.model_dump()) for name, item in self.columns.items()}
        fields = self.model_dump(exclude={"columns"})
        return Options(
            **{**fields, "null_markers": tuple(self.null_markers)},
            columns=columns,
        )
