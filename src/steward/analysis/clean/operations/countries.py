"""Countries under one spelling."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.lookups import convert, lookup
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.countries import country_of
from steward.tables import Change, Table

Form = Literal["alpha2", "alpha3", "name"]


class Countries(Arguments):
    columns: list[str] = Field(min_length=1, description="Text columns with one country each.")
    form: Form = Field("alpha2", description="DE, DEU or Germany.")


@operation("countries", "Unify countries", Countries)
def countries(connection: duckdb.DuckDBPyConnection, table: Table, arguments: Countries) -> Change:
    """Writes countries as ISO 3166 codes or English names, from codes, names and usual other names in six languages.

    Only exact names count, whatever their case and accents: nothing is guessed. Unknown ones stay and are counted.
    """
    edits = []
    for index, name in enumerate(text_columns(table, arguments.columns)):
        converted = convert(connection, table, [name], lambda row: _written(row[0], arguments.form))
        found = lookup([name], converted.changed, f"m{index}")
        failed = lookup([name], dict.fromkeys(converted.failed), f"f{index}")
        expression = f"CASE WHEN {found.hit} THEN {found.value} ELSE {value(name)} END"
        edits.append(
            Edit(name, expression, f"country as {arguments.form}", failed.hit, found, failed)
        )
    what = f"Writes countries as {arguments.form}"
    return cell_change(connection, table, "countries", arguments, edits, what)


def _written(text: str | None, form: Form) -> str | None:
    country = country_of(text or "")
    return None if country is None else str(getattr(country, form))
