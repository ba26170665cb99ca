"""Golden records: which value of which row survives for each entity, and the way back."""

import duckdb

from steward.analysis.resolve.cleaning import looks_misread
from steward.analysis.resolve.levels import column
from steward.analysis.resolve.rules import FieldRule, Rules, Survivorship
from steward.tables import literal, quote

# A view of the staged rows with their entity; see `resolution`.
MEMBERS = "steward_members"


def survivor_groups(rules: Rules) -> tuple[Survivorship, ...]:
    """The survivorship of every golden field; a field without a rule takes the most frequent."""
    golden = [field.name for field in rules.fields if field.golden]
    kept = []
    for group in rules.survivorship:
        names = tuple(name for name in group.fields if name in golden)
        if names:
            kept.append(Survivorship(fields=names, rule=group.rule))
    ruled = {name for group in kept for name in group.fields}
    kept.extend(
        Survivorship(fields=(name,), rule="most_frequent") for name in golden if name not in ruled
    )
    return tuple(kept)


def survivors_sql(group: Survivorship) -> str:
    """Per entity, the row (source, row_id) whose values survive for the fields of the group."""
    keys = ", ".join(
        f"coalesce({quote(column(name))}, CAST({quote('v_' + name)} AS VARCHAR))"
        for name in group.fields
    )
    filled = " + ".join(f"({_value(name)} IS NOT NULL)::INT" for name in group.fields)
    texts = " || ".join(f"coalesce(CAST({_value(name)} AS VARCHAR), '')" for name in group.fields)
    spoilt = f"coalesce({looks_misread(f'({texts})')}, false)::INT"
    # Among spellings of one value, mixed case reads best.
    shouting = f"(({texts}) = upper({texts}) OR ({texts}) = lower({texts}))::INT"
    looks = ("spoilt", "shouting", "untidy", "exactly DESC", "size DESC")
    order = [*_ORDER[group.rule], *looks, "source", "row_id"]
    named = ", ".join(
        f"CASE WHEN {_value(name)} IS NOT NULL THEN {literal(name)} END" for name in group.fields
    )
    return f"""
        SELECT entity, source, row_id, gave FROM (
            SELECT *, row_number() OVER (PARTITION BY entity ORDER BY {", ".join(order)}) AS place
            FROM (
                SELECT entity, source, row_id, updated, {filled} AS filled,
                       list_filter([{named}], lambda one: one IS NOT NULL) AS gave,
                       length({texts}) AS size, {spoilt} AS spoilt, {shouting} AS shouting,
                       ({texts} <> trim({texts}))::INT AS untidy,
                       count(DISTINCT party) OVER (PARTITION BY entity, {keys}) AS often,
                       count(*) OVER (PARTITION BY entity, {texts}) AS exactly
                FROM {MEMBERS}
            ) WHERE filled > 0
        ) WHERE place = 1
    """


_ORDER: dict[str, tuple[str, ...]] = {
    "most_frequent": ("often DESC", "filled DESC"),
    "longest": ("size DESC",),
    "newest": ("updated DESC NULLS LAST", "filled DESC", "often DESC"),
    "oldest": ("updated ASC NULLS LAST", "filled DESC", "often DESC"),
    "source_order": ("source", "often DESC", "filled DESC"),
    "most_complete": ("filled DESC", "often DESC"),
    "first": (),
}


def golden_sql(rules: Rules, groups: tuple[Survivorship, ...]) -> str:
    """One line per entity: its id, the surviving values, and how many rows each source gave."""
    columns = ["e.entity_id"]
    joins = ""
    chosen = {name: place for place, group in enumerate(groups) for name in group.fields}
    for field in _golden_fields(rules):
        place = chosen[field.name]
        columns.append(f"m{place}.{quote('v_' + field.name)} AS {quote(field.name)}")
    columns.append("e.records")
    columns.extend(
        f"e.from_{place} AS {quote('rows_from_' + source.table)}"
        for place, source in enumerate(rules.sources)
    )
    for place in range(len(groups)):
        joins += f"""
            LEFT JOIN steward_survivors_{place} s{place} ON s{place}.entity = e.entity
            LEFT JOIN {MEMBERS} m{place} ON m{place}.source = s{place}.source
                 AND m{place}.row_id = s{place}.row_id"""
    counts = "".join(
        f", count(*) FILTER (source = {place}) AS from_{place}"
        for place in range(len(rules.sources))
    )
    return f"""
        SELECT {", ".join(columns)}
        FROM (SELECT entity, any_value(entity_id) AS entity_id, count(*) AS records{counts}
              FROM {MEMBERS} GROUP BY entity) e {joins}
        ORDER BY e.entity
    """


def mapping_sql(rules: Rules, groups: tuple[Survivorship, ...]) -> str:
    """One line per source row: where it went and which golden columns it gave."""
    gave = " UNION ALL ".join(
        f"SELECT source, row_id, gave, {place} AS place FROM steward_survivors_{place}"
        for place in range(len(groups))
    )
    nothing = "SELECT 0 AS source, 0 AS row_id, []::VARCHAR[] AS gave, 0 AS place LIMIT 0"
    return f"""
        SELECT {table_name_sql(rules, "m.source")} AS source_table, m.row_id AS row_number, m.row_key,
               m.entity_id, m.party AS party, coalesce(g.gave, '') AS survives_in
        FROM {MEMBERS} m
        LEFT JOIN (SELECT source, row_id, array_to_string(flatten(list(gave ORDER BY place)), ', ') AS gave
                   FROM ({gave or nothing}) GROUP BY source, row_id) g
               ON g.source = m.source AND g.row_id = m.row_id
        ORDER BY m.source, m.row_id
    """


def table_name_sql(rules: Rules, source: str) -> str:
    """The name of a source's table, from its number."""
    cases = " ".join(
        f"WHEN {place} THEN {literal(one.table)}" for place, one in enumerate(rules.sources)
    )
    return f"CASE {source} {cases} END"


def create_survivors(
    connection: duckdb.DuckDBPyConnection, groups: tuple[Survivorship, ...]
) -> None:
    for place, group in enumerate(groups):
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE steward_survivors_{place} AS {survivors_sql(group)}"
        )


def _golden_fields(rules: Rules) -> list[FieldRule]:
    return [field for field in rules.fields if field.golden]


def _value(name: str) -> str:
    return quote("v_" + name)
