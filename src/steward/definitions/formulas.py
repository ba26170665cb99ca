"""Formulas of metrics and conditions of filters, as a query plan computes them.

`sum(unit_price * quantity)` becomes a derived column and an aggregate; `sum(late) / count(*)` two aggregates and a computed column.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steward.core import Invalid
from steward.definitions.expressions import ExpressionReader
from steward.sandbox import query_plan as q

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class Formula:
    """What a query plan needs to compute a metric; the last column made has the metric's name."""

    derive: list[q.Derive] = field(default_factory=list)
    aggregate: list[q.Aggregate] = field(default_factory=list)
    compute: list[q.Derive] = field(default_factory=list)


def parse_condition(text: str, columns: Iterable[str]) -> q.Condition:
    """A condition over columns, such as `status in ('open', 'overdue') and amount > 0`."""
    reader = ExpressionReader(text, columns, "condition")
    return reader.condition(reader.parsed())


def parse_formula(text: str, columns: Iterable[str], name: str) -> Formula:
    """A figure computed from aggregates over columns, such as `sum(late) / count(*)`, as a column called `name`."""
    reader = ExpressionReader(text, columns, "formula")
    return _Aggregates(reader, name).formula(reader.parsed())


def columns_in(text: str) -> frozenset[str]:
    """The names of the columns that a formula or condition uses; empty where it cannot be read."""
    from sqlglot import exp

    try:
        found = ExpressionReader(text, (), "formula").parsed()
    except Invalid:
        return frozenset()
    return frozenset(each.name for each in found.find_all(exp.Column))


class _Aggregates:
    """Takes a formula apart: arguments of aggregates, the aggregates, and what is computed from them."""

    def __init__(self, reader: ExpressionReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._derive: list[q.Derive] = []
        self._aggregate: list[q.Aggregate] = []
        self._known: dict[str, str] = {}

    def formula(self, node: "exp.Expr") -> Formula:
        from sqlglot import exp

        while isinstance(node, exp.Paren):
            node = node.this
        if _is_aggregate(node):
            self._add(node, self._name)
            return Formula(self._derive, self._aggregate)
        replaced = node.transform(self._column_instead, copy=True)
        if not self._aggregate:
            raise self._reader.wrong("it has no aggregate such as sum(…) or count(*)")
        self._refuse_plain_columns(replaced)
        names = [each.name for each in self._aggregate]
        after = ExpressionReader(self._reader.text, names, "formula")
        computed = q.Derive(name=self._name, expression=after.expression(replaced))
        return Formula(self._derive, self._aggregate, [computed])

    def _column_instead(self, node: "exp.Expr") -> "exp.Expr":
        from sqlglot import exp

        if not _is_aggregate(node):
            return node
        written = node.sql(dialect="duckdb")
        if written not in self._known:
            name = f"{self._name} part {len(self._known) + 1}"
            self._add(node, name)
            self._known[written] = name
        return exp.column(exp.to_identifier(self._known[written], quoted=True))

    def _refuse_plain_columns(self, node: "exp.Expr") -> None:
        from sqlglot import exp

        made = set(self._known.values())
        for each in node.find_all(exp.Column):
            if each.name not in made:
                raise self._reader.wrong(
                    f"{each.name} is outside of an aggregate; write sum({each.name}) or the like"
                )

    def _add(self, node: "exp.Expr", name: str) -> None:
        from sqlglot import exp

        where = None
        if isinstance(node, exp.Filter):
            where = self._reader.condition(node.expression.this)
            node = node.this
        function = _aggregation(node)
        if function is None:
            raise self._reader.wrong(f"{node.sql(dialect='duckdb')} is not known here")
        argument = node.this
        if function == "count" and isinstance(argument, exp.Distinct):
            if len(argument.expressions) != 1:
                raise self._reader.wrong("count(DISTINCT …) takes one column")
            function, argument = "count_distinct", argument.expressions[0]
        column = self._argument(argument, name)
        if column is None and function != "count":
            raise self._reader.wrong(f"{function} needs a column")
        self._aggregate.append(
            q.Aggregate.model_validate(
                {"name": name, "function": function, "column": column, "where": where}
            )
        )

    def _argument(self, node: "exp.Expr | None", name: str) -> str | None:
        from sqlglot import exp

        if node is None or isinstance(node, exp.Star):
            return None
        if any(_is_aggregate(each) for each in node.walk()):
            raise self._reader.wrong("an aggregate cannot hold another one")
        if isinstance(node, exp.Column):
            return self._reader.column(node)
        derived = f"{name} of rows"
        self._derive.append(q.Derive(name=derived, expression=self._reader.expression(node)))
        return derived


def _aggregation(node: "exp.Expr") -> str | None:
    from sqlglot import exp

    functions: dict[type, str] = {
        exp.Sum: "sum",
        exp.Avg: "avg",
        exp.Min: "min",
        exp.Max: "max",
        exp.Median: "median",
        exp.Count: "count",
        exp.Stddev: "stddev",
        exp.StddevSamp: "stddev",
        exp.Variance: "variance",
    }
    return functions.get(type(node))


def _is_aggregate(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Filter | exp.AggFunc)
