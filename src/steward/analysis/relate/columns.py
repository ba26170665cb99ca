"""What relating needs to know of every column: counts, range, length and how its values are built."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import duckdb

from steward.analysis.relate.keytext import FLOATS, INTEGERS, key_text
from steward.analysis.relate.names import Place, Vocabulary, name_of, shared_prefix, words_of
from steward.tables import Column, Table, quote

_COLUMNS_PER_QUERY = 40
# Up to here distinct values are simply counted.
_EXACT_ROWS = 50_000
# DuckDB's approximate distinct count has been seen 16% off; this much slack loses no key.
_APPROXIMATE_SLACK = 0.7


@dataclass(frozen=True)
class Facts:
    """One column: `family` is what its values are (`integer`, `text`, `date`, …), whatever type stores them."""

    table: str
    name: str
    type: str
    position: int
    family: str
    rows: int
    filled: int
    distinct: int
    distinct_exact: bool
    low: float | None
    high: float | None
    length: float
    longest: int
    prefix: str
    """What all texts start with; for codes such as C-00017 what stands before the digits."""
    numbered: tuple[int, int] | None
    """The lowest and highest number of such codes."""
    place: Place

    @property
    def unique(self) -> bool:
        return self.distinct_exact and self.filled == self.distinct and self.filled > 0

    @property
    def nulls(self) -> int:
        return self.rows - self.filled

    @property
    def range(self) -> tuple[float, float] | None:
        """Lowest and highest, where all values are whole numbers."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def dense(self) -> float:
        """The share of the whole numbers between lowest and highest that occur; 0 where that has no meaning."""
        if self.low is None or self.high is None:
            return 0.0
        return min(1.0, self.distinct / (self.high - self.low + 1))


def survey(
    connection: duckdb.DuckDBPyConnection, table: Table, vocabulary: Vocabulary
) -> tuple[Facts, ...]:
    """Facts of all columns, with exact distinct counts wherever a column may be unique."""
    prefix = shared_prefix(table.column_names, table.name)
    counted = connection.execute(f"SELECT count(*) FROM {table.source}").fetchone()
    exactly = counted is not None and counted[0] <= _EXACT_ROWS
    found = [
        _facts(table, position, column, values, prefix, vocabulary, exactly)
        for position, column, values in _measured(connection, table, exactly)
    ]
    if exactly:
        return tuple(found)
    doubtful = [
        facts
        for facts in found
        if facts.filled and facts.distinct >= facts.filled * _APPROXIMATE_SLACK
    ]
    exact = _exact_distinct(connection, table, [facts.name for facts in doubtful])
    return tuple(
        replace(facts, distinct=exact[facts.name], distinct_exact=True)
        if facts.name in exact
        else facts
        for facts in found
    )


def whole_number(facts: Facts) -> bool:
    return facts.low is not None


def _measured(
    connection: duckdb.DuckDBPyConnection, table: Table, exactly: bool
) -> Iterator[tuple[int, Column, tuple[object, ...]]]:
    columns = list(enumerate(table.columns))
    for start in range(0, len(columns), _COLUMNS_PER_QUERY):
        chunk = columns[start : start + _COLUMNS_PER_QUERY]
        terms = [term for _, column in chunk for term in _terms(column, exactly)]
        row = connection.execute(f"SELECT {', '.join(terms)} FROM {table.source}").fetchone()
        values = row or ()
        each = len(values) // len(chunk)
        for index, (position, column) in enumerate(chunk):
            yield position, column, tuple(values[index * each : (index + 1) * each])


def _terms(column: Column, exactly: bool) -> list[str]:
    """Ten aggregates per column, in the order in which `_facts` takes them."""
    name = quote(column.name)
    text = f"CAST({name} AS VARCHAR)"
    # Only numbers of up to 18 digits count as whole: they fit, and longer ones are codes.
    number = f"TRY_CAST(trim({key_text(name, column.type)}) AS BIGINT)"
    whole = f"CASE WHEN regexp_full_match(trim({key_text(name, column.type)}), '-?[0-9]{{1,18}}') THEN {number} END"
    if column.type in INTEGERS:
        whole = f"TRY_CAST({name} AS BIGINT)"
    if not _comparable(column.type):
        return ["count(*)", f"count({name})", "0", "0", "NULL", "NULL", "NULL", "NULL", "0", "0"]
    lowest, highest = (
        (f"min({name})", f"max({name})") if column.type == "VARCHAR" else ("NULL", "NULL")
    )
    return [
        "count(*)",
        f"count({name})",
        f"count(DISTINCT {name})" if exactly else f"approx_count_distinct({name})",
        f"count({whole})",
        f"min({whole})",
        f"max({whole})",
        lowest,
        highest,
        f"avg(length({text}))",
        f"max(length({text}))",
    ]


def _facts(
    table: Table,
    position: int,
    column: Column,
    values: tuple[object, ...],
    prefix: int,
    vocabulary: Vocabulary,
    exactly: bool,
) -> Facts:
    rows, filled, distinct, whole, low, high, first, last, length, longest = values
    is_whole = bool(filled) and whole == filled and column.type not in {"DATE", "BOOLEAN"}
    prefix_text, numbered = _code(str(first or ""), str(last or ""))
    full = name_of(column.name, vocabulary)
    short = name_of(column.name, vocabulary, skip=prefix) if prefix else full
    return Facts(
        table=table.name,
        name=column.name,
        type=column.type,
        position=position,
        family=_family(column.type, is_whole),
        rows=_number(rows),
        filled=_number(filled),
        distinct=min(_number(distinct), _number(filled)),
        distinct_exact=exactly,
        low=float(_number(low)) if is_whole else None,
        high=float(_number(high)) if is_whole else None,
        length=float(length) if isinstance(length, int | float) else 0.0,
        longest=_number(longest),
        prefix=prefix_text,
        numbered=numbered,
        place=Place(full=full, short=short, table=table.name, table_words=words_of(table.name)),
    )


def _exact_distinct(
    connection: duckdb.DuckDBPyConnection, table: Table, names: Sequence[str]
) -> dict[str, int]:
    exact: dict[str, int] = {}
    for name in names:
        row = connection.execute(
            f"SELECT count(DISTINCT {quote(name)}) FROM {table.source}"
        ).fetchone()
        exact[name] = _number(row[0] if row else 0)
    return exact


def _comparable(type_name: str) -> bool:
    """Whether values of this type can be keys at all; nested and binary ones are left alone."""
    return not re.search(r"\[|STRUCT|MAP|UNION|BLOB|BIT|JSON|INTERVAL", type_name)


def _family(type_name: str, is_whole: bool) -> str:
    if not _comparable(type_name):
        return "other"
    if type_name in INTEGERS or (type_name in FLOATS and is_whole):
        return "integer"
    if type_name.startswith("DECIMAL"):
        return "integer" if type_name.endswith(",0)") else "decimal"
    if type_name in FLOATS:
        return "float"
    if type_name.startswith(("TIMESTAMP", "TIME")):
        return "timestamp"
    return {"VARCHAR": "text", "UUID": "uuid", "DATE": "date", "BOOLEAN": "boolean"}.get(
        type_name, "text"
    )


def _code(first: str, last: str) -> tuple[str, tuple[int, int] | None]:
    """How codes are built, told from the lowest and the highest: the text before the digits, and their range."""
    low, high = (re.fullmatch(r"(\D+)(\d{1,18})", text) for text in (first, last))
    if low and high and low[1] == high[1] and len(first) == len(last):
        return low[1], (int(low[2]), int(high[2]))
    return _common_start(first, last), None


def _common_start(first: str, last: str) -> str:
    """What the lowest and the highest text share at their start, all texts between share too."""
    length = 0
    for a, b in zip(first, last, strict=False):
        if a != b:
            break
        length += 1
    return first[:length]


def _number(value: object) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value)
    return 0
