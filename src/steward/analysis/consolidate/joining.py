"""Joins of two or more tables: checked first, then planned as one SELECT in a fixed row order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from steward.analysis.consolidate.counting import count_rows, countable
from steward.analysis.consolidate.matching import count_matches, same_key, type_of
from steward.analysis.consolidate.model import Compatibility, Link, Loss, Matching, OutputColumn
from steward.analysis.consolidate.naming import Names, fresh
from steward.analysis.relate.keytext import LADDER, MEANING
from steward.core import Invalid, TooLarge
from steward.tables import Change, ColumnLineage, Table, literal, quote, result_columns

HOWS = ("inner", "left", "right", "full", "semi", "anti")
# These only choose rows of the left: those with a partner, or those without.
CHOOSING = ("semi", "anti")
MAX_ROWS = 500_000_000
MAX_TABLES = 20

_TOO_MANY = (
    f"The join could have {{rows:,}} rows; {MAX_ROWS:,} is the limit. "
    "Make one side unique by its key first, or join by more columns."
)

Pairs = Sequence[tuple[str, str]]


def links(
    tables: Sequence[Table],
    on: Pairs | Sequence[Link],
    how: str = "left",
    key_normalisation: str = "exact",
) -> tuple[Link, ...]:
    """Pairs of columns as links of the first table to each other one; links as they are."""
    if on and all(isinstance(each, Link) for each in on):
        return tuple(each for each in on if isinstance(each, Link))
    pairs = tuple((each[0], each[1]) for each in on if not isinstance(each, Link))
    return tuple(
        Link(table.name, pairs, tables[0].name, how, key_normalisation) for table in tables[1:]
    )


def check_join(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    on: Pairs | Sequence[Link],
    how: str = "left",
    key_normalisation: str = "exact",
) -> Compatibility:
    """What the join would give, lose and multiply; reads only."""
    chain = links(tables, on, how, key_normalisation)
    problems = _problems(tables, chain)
    if problems:
        return Compatibility((), (), (), 0, problems, ())
    by_name = {table.name: table for table in tables}
    matchings = tuple(count_matches(connection, by_name, link) for link in chain)
    plan = _plan(tables, chain, provenance=None)
    rows = _count(connection, by_name, chain, matchings, plan)
    return Compatibility(
        columns=tuple(column.described for column in plan.columns),
        lost=(*plan.lost, *_lost_rows(matchings)),
        matchings=matchings,
        rows=rows,
        problems=(_TOO_MANY.format(rows=rows),) if rows > MAX_ROWS else (),
        warnings=_warnings(matchings, plan),
    )


def join(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    on: Pairs | Sequence[Link],
    how: str = "left",
    key_normalisation: str = "exact",
    provenance: str | None = None,
) -> Change:
    """The plan of a join; `provenance` names a column that says which tables a row comes from.

    Rows come in the order of the first table, then of each joined one.
    """
    checked = check_join(connection, tables, on, how, key_normalisation)
    if checked.problems:
        refusal = TooLarge if checked.matchings else Invalid
        raise refusal(" ".join(checked.problems))
    chain = links(tables, on, how, key_normalisation)
    plan = _plan(tables, chain, provenance)
    arguments = {
        "tables": [table.name for table in tables],
        "links": [
            {
                "table": link.table,
                "to": link.to,
                "on": [list(pair) for pair in link.on],
                "how": link.how,
                "normalisation": link.normalisation,
            }
            for link in chain
        ],
        "provenance": provenance,
    }
    return Change(
        operation="join",
        arguments=arguments,
        sql=plan.sql,
        inputs=tuple(tables),
        columns=result_columns(connection, plan.sql),
        lineage=tuple(column.lineage for column in plan.columns),
        summary=_summary(tables, checked),
        counts={
            "rows": checked.rows,
            "unmatched_left": sum(each.left_unmatched for each in checked.matchings),
            "unmatched_right": sum(each.right_unmatched for each in checked.matchings),
            "multiplied_left": sum(each.left_multiplied for each in checked.matchings),
        },
        warnings=checked.warnings,
    )


@dataclass(frozen=True)
class _Planned:
    expression: str
    described: OutputColumn
    lineage: ColumnLineage


@dataclass(frozen=True)
class _Plan:
    unordered: str
    order: str
    columns: tuple[_Planned, ...]
    lost: tuple[Loss, ...]
    renamed: tuple[str, ...]

    @property
    def sql(self) -> str:
        return f"{self.unordered} ORDER BY {self.order}"


def _problems(tables: Sequence[Table], chain: Sequence[Link]) -> tuple[str, ...]:
    names = [table.name for table in tables]
    if len(tables) < 2:
        return ("A join takes two tables or more.",)
    if len(tables) > MAX_TABLES:
        return (f"A join takes at most {MAX_TABLES} tables, not {len(tables)}.",)
    if len(set(names)) != len(names):
        return ("Two of the tables have the same name; give each its own.",)
    if [link.table for link in chain] != names[1:]:
        return ("Each table after the first needs one link, in the order of the tables.",)
    return tuple(
        problem
        for position, link in enumerate(chain)
        for problem in _link_problems(
            _shown(tables[: position + 1], chain), tables[position + 1], link
        )
    )


def _shown(tables: Sequence[Table], chain: Sequence[Link]) -> list[Table]:
    """The tables whose columns are part of the result."""
    hidden = {link.table for link in chain if link.how in CHOOSING}
    return [table for table in tables if table.name not in hidden]


def _link_problems(earlier: Sequence[Table], table: Table, link: Link) -> list[str]:
    to = next((each for each in earlier if each.name == link.to), None)
    if to is None:
        return [f"{link.table} is linked to {link.to}, whose columns are not there before it."]
    found = []
    if link.how not in HOWS:
        found.append(f"There is no {link.how!r} join. Known: {', '.join(HOWS)}.")
    if link.normalisation not in LADDER:
        known = ", ".join(LADDER)
        found.append(f"There is no key normalisation {link.normalisation!r}. Known: {known}.")
    if not link.on:
        found.append(f"No columns are given by which {link.table} joins {link.to}.")
    for a, b in link.on:
        found += [f"{to.name} has no column {a!r}."] * (a not in to.column_names)
        found += [f"{table.name} has no column {b!r}."] * (b not in table.column_names)
    return found


def _plan(tables: Sequence[Table], chain: Sequence[Link], provenance: str | None) -> _Plan:
    by_name = {table.name: table for table in tables}
    alias = {table.name: f"t{index}" for index, table in enumerate(tables)}
    marker = fresh((name for table in tables for name in table.column_names), "steward_row")
    names = Names()
    columns: list[_Planned] = []
    lost: list[Loss] = []
    renamed: list[str] = []
    dropped = _keys_to_drop(by_name, chain)
    merged = _keys_to_merge(by_name, chain)
    shown = _shown(tables, chain)
    for table in tables:
        for column in table.columns:
            if table not in shown:
                reason = "the table only chooses rows"
                lost.append(Loss(table.name, column.name, 0, reason))
                continue
            if (table.name, column.name) in dropped:
                lost.append(Loss(table.name, column.name, 0, dropped[table.name, column.name]))
                continue
            name = names.take(column.name, f"{column.name}_{table.name}")
            if name != column.name:
                renamed.append(
                    f"{table.name}.{column.name} becomes {name}, because the name is taken."
                )
            sources = [(table.name, column.name), *merged.get((table.name, column.name), [])]
            columns.append(_planned(name, sources, by_name, alias))
    if provenance is not None:
        columns.append(_provenance(names.take(provenance), shown, alias, marker))
    terms = ", ".join(
        f"{column.expression} AS {quote(column.described.name)}" for column in columns
    )
    joined = [_numbered(tables[0], alias[tables[0].name], marker)]
    present = {tables[0].name}
    for link in chain:
        numbered = _numbered(by_name[link.table], alias[link.table], marker)
        # A row that so far stands alone on the right of a full join has its key there.
        keys = [
            _first_of(
                [
                    (link.to, a),
                    *(each for each in merged.get((link.to, a), []) if each[0] in present),
                ],
                alias,
            )
            for a, _ in link.on
        ]
        condition = same_key(by_name[link.to], by_name[link.table], link, keys, alias[link.table])
        joined.append(f"{link.how.upper()} JOIN {numbered} ON {condition}")
        present.add(link.table)
    order = ", ".join(f"{alias[table.name]}.{quote(marker)} NULLS LAST" for table in shown)
    unordered = f"SELECT {terms} FROM {' '.join(joined)}"
    return _Plan(unordered, order, tuple(columns), tuple(lost), tuple(renamed))


def _keys_to_drop(tables: Mapping[str, Table], chain: Sequence[Link]) -> dict[tuple[str, str], str]:
    """Key columns that would only repeat the other side's: their values are equal, or nearly so."""
    dropped = {}
    for link in chain:
        for a, b in link.on:
            if link.how in {"right", "full"} and not _mergeable(tables, link, a, b):
                continue
            reason = f"equals {link.to}.{a}, by which it is joined"
            if link.normalisation != "exact":
                reason = f"matches {link.to}.{a} {MEANING[link.normalisation]}; its own spelling is not kept"
            dropped[link.table, b] = reason
    return dropped


def _keys_to_merge(
    tables: Mapping[str, Table], chain: Sequence[Link]
) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Where rows of the right may stand alone, the left's key takes the right's value."""
    merged: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for link in chain:
        for a, b in link.on:
            if link.how in {"right", "full"} and _mergeable(tables, link, a, b):
                merged.setdefault((link.to, a), []).append((link.table, b))
    return merged


def _mergeable(tables: Mapping[str, Table], link: Link, a: str, b: str) -> bool:
    same = type_of(tables[link.to], a) == type_of(tables[link.table], b)
    return same and link.normalisation == "exact"


def _planned(
    name: str,
    sources: Sequence[tuple[str, str]],
    tables: Mapping[str, Table],
    alias: Mapping[str, str],
) -> _Planned:
    kind = type_of(tables[sources[0][0]], sources[0][1])
    note = "" if name == sources[0][1] else f"renamed from {sources[0][1]}"
    if len(sources) > 1:
        note = "the first of these that has a value"
    described = OutputColumn(
        name=name,
        type=kind,
        sources=tuple((table, column, type_of(tables[table], column)) for table, column in sources),
        note=note,
    )
    transformation = note or "unchanged"
    lineage = ColumnLineage(name, tuple(sources), transformation)
    return _Planned(_first_of(sources, alias), described, lineage)


def _first_of(sources: Sequence[tuple[str, str]], alias: Mapping[str, str]) -> str:
    terms = [f"{alias[table]}.{quote(column)}" for table, column in sources]
    return terms[0] if len(terms) == 1 else f"coalesce({', '.join(terms)})"


def _provenance(
    name: str, tables: Sequence[Table], alias: Mapping[str, str], marker: str
) -> _Planned:
    parts = ", ".join(
        f"CASE WHEN {alias[table.name]}.{quote(marker)} IS NOT NULL THEN {literal(table.name)} END"
        for table in tables
    )
    described = OutputColumn(name, "VARCHAR", (), "the tables in which the row was found")
    return _Planned(f"concat_ws(' + ', {parts})", described, ColumnLineage(name, (), "provenance"))


def _numbered(table: Table, alias: str, marker: str) -> str:
    return f"(SELECT *, row_number() OVER () AS {quote(marker)} FROM {table.source}) AS {alias}"


def _count(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    chain: Sequence[Link],
    matchings: Sequence[Matching],
    plan: _Plan,
) -> int:
    """The rows of the result; where they cannot be counted without being made, and may be too many, a bound."""
    if len(matchings) == 1:
        return matchings[0].rows
    if countable(chain):
        return count_rows(connection, tables, chain)
    bound = matchings[0].left_rows
    for each in matchings:
        if each.how not in CHOOSING:
            bound = bound * max(1, each.largest_fan_out) + each.right_unmatched
    if bound > MAX_ROWS:
        return bound
    row = connection.execute(f"SELECT count(*) FROM ({plan.unordered})").fetchone()
    return int(row[0]) if row else 0


def _lost_rows(matchings: Sequence[Matching]) -> tuple[Loss, ...]:
    lost = []
    for each in matchings:
        if each.how in {"inner", "right", "semi"} and each.left_unmatched:
            lost.append(Loss(each.left, None, each.left_unmatched, f"no partner in {each.right}"))
        met = each.left_rows - each.left_unmatched
        if each.how == "anti" and met:
            lost.append(Loss(each.left, None, met, f"a partner in {each.right}"))
        if each.how in {"inner", "left"} and each.right_unmatched:
            lost.append(Loss(each.right, None, each.right_unmatched, f"no partner in {each.left}"))
    return tuple(lost)


def _warnings(matchings: Sequence[Matching], plan: _Plan) -> tuple[str, ...]:
    said = list(plan.renamed)
    for each in matchings:
        if each.left_multiplied and each.how not in CHOOSING:
            said.append(
                f"{each.left_multiplied:,} rows of {each.left} meet more than one row of {each.right} "
                f"(up to {each.largest_fan_out:,}): sums over {each.left} would count them several times."
            )
        if each.left_null_keys or each.right_null_keys:
            said.append(
                f"Rows without a key meet nothing: {each.left_null_keys:,} of {each.left}, "
                f"{each.right_null_keys:,} of {each.right}."
            )
        if each.pairs == 0:
            said.append(f"No row of {each.left} meets a row of {each.right}.")
    return tuple(said)


def _summary(tables: Sequence[Table], checked: Compatibility) -> str:
    steps = []
    for each in checked.matchings:
        keys = " and ".join(f"{a} = {b}" for a, b in each.on)
        steps.append(f"{each.right} ({each.how}, {keys}, {MEANING[each.normalisation]})")
    unmatched = checked.matchings[0].left_unmatched
    return (
        f"Joins {tables[0].name} with {', then '.join(steps)}: {checked.rows:,} rows from "
        f"{checked.matchings[0].left_rows:,}; {unmatched:,} rows of {tables[0].name} find no partner."
    )
