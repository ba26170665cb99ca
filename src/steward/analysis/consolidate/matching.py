"""Exact counts of what meets what in a join, before the join is made."""

from collections.abc import Mapping, Sequence

import duckdb

from steward.analysis.consolidate.model import Link, Matching
from steward.analysis.relate.keytext import key_text
from steward.tables import Table, quote


def same_key(left: Table, right: Table, link: Link, left_keys: Sequence[str], alias: str) -> str:
    """The join condition in SQL, `left_keys` being expressions; null keys meet nothing."""
    terms = []
    for (a, b), left_key in zip(link.on, left_keys, strict=True):
        a_type, b_type = type_of(left, a), type_of(right, b)
        right_key = f"{alias}.{quote(b)}"
        if link.normalisation == "exact" and a_type == b_type:
            terms.append(f"{left_key} = {right_key}")
        else:
            texts = (
                key_text(left_key, a_type, link.normalisation),
                key_text(right_key, b_type, link.normalisation),
            )
            terms.append(" = ".join(texts))
    return " AND ".join(terms)


def type_of(table: Table, column: str) -> str:
    return next(each.type for each in table.columns if each.name == column)


def count_matches(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Table], link: Link
) -> Matching:
    left, right = tables[link.to], tables[link.table]
    keys = ", ".join(f"k{index}" for index in range(len(link.on)))
    row = connection.execute(
        f"WITH l AS ({_grouped(tables, link, left_side=True)}), "
        f"r AS ({_grouped(tables, link, left_side=False)}), "
        f"met AS (SELECT l.n AS l, r.n AS r FROM l FULL JOIN r USING ({keys})) "
        "SELECT sum(l), sum(l) FILTER (r IS NULL), sum(r), sum(r) FILTER (l IS NULL), sum(l * r), "
        "sum(l) FILTER (r > 1), max(r) FILTER (l IS NOT NULL), max(l) FILTER (r IS NOT NULL), "
        f"(SELECT count(*) FROM {left.source}), (SELECT count(*) FROM {right.source}) FROM met"
    ).fetchone()
    numbers = [int(value or 0) for value in (row or (0,) * 10)]
    filled_l, alone_l, filled_r, alone_r, pairs, multiplied, most_r, most_l = numbers[:8]
    rows_l, rows_r = numbers[8:]
    unmatched_l = alone_l + rows_l - filled_l
    unmatched_r = alone_r + rows_r - filled_r
    rows = pairs
    rows += unmatched_l if link.how in {"left", "full"} else 0
    rows += unmatched_r if link.how in {"right", "full"} else 0
    if link.how in {"semi", "anti"}:
        rows = unmatched_l if link.how == "anti" else rows_l - unmatched_l
    return Matching(
        left=link.to,
        right=link.table,
        on=link.on,
        how=link.how,
        normalisation=link.normalisation,
        cardinality=_cardinality(most_l, most_r),
        left_rows=rows_l,
        left_null_keys=rows_l - filled_l,
        left_unmatched=unmatched_l,
        right_rows=rows_r,
        right_null_keys=rows_r - filled_r,
        right_unmatched=unmatched_r,
        pairs=pairs,
        left_multiplied=multiplied,
        largest_fan_out=most_r,
        rows=rows,
        growth=round(rows / rows_l, 4) if rows_l else 0.0,
    )


def _cardinality(most_left: int, most_right: int) -> str:
    if most_left > 1 and most_right > 1:
        return "n:m"
    return f"{'n' if most_left > 1 else '1'}:{'n' if most_right > 1 else '1'}"


def key_of(
    tables: Mapping[str, Table], link: Link, position: int, alias: str, *, left_side: bool
) -> str:
    """One key column of one side, in the form in which the link compares it."""
    left, right = tables[link.to], tables[link.table]
    a, b = link.on[position]
    table, column = (left, a) if left_side else (right, b)
    name = f"{alias}.{quote(column)}"
    if link.normalisation == "exact" and type_of(left, a) == type_of(right, b):
        return name
    return key_text(name, type_of(table, column), link.normalisation)


def _grouped(tables: Mapping[str, Table], link: Link, *, left_side: bool) -> str:
    keys = [key_of(tables, link, index, "t", left_side=left_side) for index in range(len(link.on))]
    texts = ", ".join(f"{key} AS k{index}" for index, key in enumerate(keys))
    present = " AND ".join(f"k{index} IS NOT NULL" for index in range(len(link.on)))
    source = tables[link.to if left_side else link.table].source
    inner = f"SELECT {texts} FROM {source} AS t"
    return f"SELECT *, count(*) AS n FROM ({inner}) WHERE {present} GROUP BY ALL"
