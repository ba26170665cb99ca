"""Telephone numbers in the international form E.164, as in +493012345678."""

from collections.abc import Callable

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.lookups import convert, lookup
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.countries import country_of
from steward.core import Invalid
from steward.tables import Change, Table


class Phones(Arguments):
    columns: list[str] = Field(min_length=1, description="Text columns with one number each.")
    region: str | None = Field(
        None,
        description="Country of numbers without a country code, as in DE.",
        pattern="^[A-Za-z]{2}$",
    )
    country_column: str | None = Field(
        None, description="A text column that names each row's country, by code or name."
    )


@operation("phones", "Tidy telephone numbers", Phones)
def phones(connection: duckdb.DuckDBPyConnection, table: Table, arguments: Phones) -> Change:
    """Writes telephone numbers as E.164, checked against the numbering plans of all countries.

    A number without a country code is read by its row's country, then by the given region; without either, or
    where the number cannot exist there, it stays as it is and is counted.
    """
    keys = [] if arguments.country_column is None else [arguments.country_column]
    text_columns(table, keys)
    reader = _reader(arguments.region)
    edits = []
    for index, name in enumerate(text_columns(table, arguments.columns)):
        converted = convert(connection, table, [name, *keys], reader)
        found = lookup([name, *keys], converted.changed, f"m{index}")
        failed = lookup([name, *keys], dict.fromkeys(converted.failed), f"f{index}")
        expression = f"CASE WHEN {found.hit} THEN {found.value} ELSE {value(name)} END"
        edits.append(Edit(name, expression, "telephone number as E.164", failed.hit, found, failed))
    what = "Writes telephone numbers as E.164"
    return cell_change(connection, table, "phones", arguments, edits, what)


def _reader(region: str | None) -> Callable[[tuple[str | None, ...]], str | None]:
    import phonenumbers  # its tables are large, and most servers never need them

    default = region.upper() if region else None
    if default is not None and default not in phonenumbers.SUPPORTED_REGIONS:
        raise Invalid(
            f"{region!r} is no country with telephone numbers; use a code such as DE or US."
        )

    def read(row: tuple[str | None, ...]) -> str | None:
        text = (row[0] or "").strip()
        # 00 and 011 are what people dial for +.
        for prefix in ("00", "011"):
            if text.startswith(prefix) and not text.startswith("000"):
                text = "+" + text.removeprefix(prefix)
                break
        country = country_of(row[1]) if len(row) > 1 and row[1] is not None else None
        try:
            number = phonenumbers.parse(text, country.alpha2 if country else default)
        except phonenumbers.NumberParseException:
            return None
        if not phonenumbers.is_valid_number(number):
            return None
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)

    return read
