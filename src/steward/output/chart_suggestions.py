"""Charts worth drawing of a table nobody has looked at yet, from one pass over its columns."""

import re
from dataclasses import dataclass
from itertools import zip_longest

import duckdb

from steward.output import dimensions
from steward.output.formats import is_numeric_type
from steward.output.requests import ChartRequest
from steward.tables import Column, Table, quote

MAX_COLUMNS = 60
_FEW = 2
_MANY_CATEGORIES = 1_000
_MONEY = re.compile(
    r"amount|total|price|cost|revenue|sales|value|sum|balance|paid|net|gross|betrag|umsatz|qty|quantity",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(^|_|\b)(id|key|code|number|no|nr|zip|plz|phone|uuid|guid)($|_|\b)|id$", re.IGNORECASE
)
_RATE = re.compile(r"rate|ratio|percent|share|score|average|avg|age|temp|grade", re.IGNORECASE)


@dataclass(frozen=True)
class _Facts:
    column: Column
    rows: int
    filled: int
    distinct: int

    @property
    def category(self) -> bool:
        """Few enough values to compare, repeated often enough to be groups."""
        text = not (is_numeric_type(self.column.type) or dimensions.is_temporal(self.column))
        plausible = _FEW <= self.distinct <= min(_MANY_CATEGORIES, max(12, self.filled // 3))
        return text and plausible and not _IDENTIFIER.search(self.column.name)

    @property
    def measure(self) -> bool:
        if not is_numeric_type(self.column.type) or self.distinct < _FEW:
            return False
        counted = dimensions.is_integer(self.column) and self.distinct > 0.95 * self.filled
        return not (
            _IDENTIFIER.search(self.column.name)
            or (counted and not _MONEY.search(self.column.name))
        )

    @property
    def moment(self) -> bool:
        return dimensions.is_temporal(self.column) and self.distinct >= _FEW

    @property
    def weight(self) -> float:
        """How promising a measure is: money first, then whatever is filled."""
        return (2.0 if _MONEY.search(self.column.name) else 0.0) + self.filled / max(1, self.rows)

    @property
    def adding(self) -> str:
        """Amounts add up; rates and scores do not."""
        rate = _RATE.search(self.column.name) and not _MONEY.search(self.column.name)
        return "mean" if rate else "sum"


def suggest(
    connection: duckdb.DuckDBPyConnection, table: Table, *, limit: int = 8
) -> list[ChartRequest]:
    """Up to `limit` requests, the most telling first; none for a table with nothing to compare."""
    facts = _facts(connection, table)
    moments = [fact for fact in facts if fact.moment and fact.filled]
    measures = sorted((f for f in facts if f.measure), key=lambda fact: -fact.weight)
    categories = sorted(
        (f for f in facts if f.category), key=lambda fact: (fact.distinct > 20, fact.distinct)
    )
    groups = (
        _over_time(moments, measures, categories),
        _by_category(measures, categories),
        _shapes(measures, categories),
    )
    # One of each sort in turn, so that a short list still shows more than one side of the data.
    found = [request for turn in zip_longest(*groups) for request in turn if request is not None]
    unique = {request.model_dump_json(): request for request in found}
    return list(unique.values())[: max(0, limit)]


def _facts(connection: duckdb.DuckDBPyConnection, table: Table) -> list[_Facts]:
    columns = [c for c in table.columns if not c.type.upper().startswith(("STRUCT", "MAP", "BLOB"))]
    columns = [c for c in columns if not c.type.endswith("]")][:MAX_COLUMNS]
    if not columns:
        return []
    counts = ", ".join(
        f"count({quote(c.name)}), approx_count_distinct({quote(c.name)})" for c in columns
    )
    row = connection.execute(f"SELECT count(*), {counts} FROM {table.source}").fetchone()
    if row is None:
        return []
    return [
        _Facts(column, int(row[0]), int(row[1 + 2 * i]), int(row[2 + 2 * i]))
        for i, column in enumerate(columns)
    ]


def _over_time(
    moments: list[_Facts], measures: list[_Facts], categories: list[_Facts]
) -> list[ChartRequest]:
    if not moments:
        return []
    day = moments[0].column.name
    few = [fact for fact in categories if fact.distinct <= 8]
    found = []
    for fact in measures[:1]:
        found.append(_request("line", x=day, y=fact.column.name, aggregate=fact.adding))
        if few:
            colour = few[0].column.name
            found.append(
                _request("line", x=day, y=fact.column.name, aggregate=fact.adding, colour=colour)
            )
    if not measures:
        found.append(_request("line", x=day))
    return found


def _by_category(measures: list[_Facts], categories: list[_Facts]) -> list[ChartRequest]:
    found = []
    for category in categories[:2]:
        name = category.column.name
        if measures:
            best = measures[0]
            found.append(_request("bar", x=name, y=best.column.name, aggregate=best.adding))
        found.append(_request("bar", x=name))
    return found


def _shapes(measures: list[_Facts], categories: list[_Facts]) -> list[ChartRequest]:
    found = [_request("histogram", x=fact.column.name) for fact in measures[:2]]
    if len(measures) >= _FEW:
        x, y = measures[1].column.name, measures[0].column.name
        found.append(_request("scatter", x=x, y=y))
    few = [fact.column.name for fact in categories if fact.distinct <= 20]
    if measures and few:
        found.append(_request("box", x=few[0], y=measures[0].column.name))
    if len(few) >= _FEW:
        found.append(_request("heatmap", x=few[0], y=few[1]))
    return found


def _request(kind: str, **fields: str) -> ChartRequest:
    return ChartRequest.model_validate({"kind": kind, **fields})
