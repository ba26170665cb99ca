"""Values that too many different parties share to say anything: free mail hosts, switchboards."""

import duckdb

from steward.analysis.resolve.levels import column
from steward.analysis.resolve.rules import Role, Rules
from steward.analysis.resolve.staging import Staged
from steward.tables import quote

# How many different names make a shared value suspicious.
_SUSPICIOUS: dict[Role, int] = {
    "email": 5,
    "email_domain": 8,
    "phone": 5,
    "tax_id": 5,
    "bank_account": 5,
}
_NAMES: tuple[Role, ...] = ("company", "person_name", "family_name")
MAX_IGNORED = 200


def ignoring_shared_values(
    connection: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules, notes: list[str]
) -> Rules:
    """The rules with such values listed under `ignore` of their field."""
    names = [field.name for role in _NAMES for field in rules.fields if field.role == role]
    if not names:
        return rules
    ignored: dict[str, tuple[str, ...]] = {}
    for field in rules.fields:
        limit = _SUSPICIOUS.get(field.role)
        values = () if limit is None else _shared(connection, staged, field.name, names, limit)
        if values:
            shown = (
                ", ".join(values[:3]) if field.role == "email_domain" else f"{len(values)} value(s)"
            )
            notes.append(f"{field.name}: {shown} belong to many different names and are ignored.")
            ignored[field.name] = values
    fields = tuple(
        field.model_copy(update={"ignore": ignored.get(field.name, ())}) for field in rules.fields
    )
    return rules.model_copy(update={"fields": fields})


def _shared(
    connection: duckdb.DuckDBPyConnection,
    staged: Staged,
    field: str,
    names: list[str],
    limit: int,
) -> tuple[str, ...]:
    """Values with many names of which none prevails; one house with many people has its own."""
    value = quote(column(field))
    # By their beginnings, so that misspellings of one name do not count as several.
    name = f"left(coalesce({', '.join(quote(column(one)) for one in names)}), 3)"
    leading = quote(column(names[0]))
    found = connection.execute(
        f"""SELECT v FROM (
                SELECT {value} AS v, {name} AS name, {leading} AS main_name FROM {staged.parties}
                WHERE {value} IS NOT NULL
            )
            GROUP BY v
            HAVING count(DISTINCT name) >= {limit}
               AND coalesce(list_max(map_values(histogram(main_name))), 0) < 0.3 * count(*)
            ORDER BY count(DISTINCT name) DESC, v LIMIT {MAX_IGNORED}"""
    ).fetchall()
    return tuple(sorted(row[0] for row in found))
