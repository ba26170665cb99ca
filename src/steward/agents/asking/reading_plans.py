"""A query plan read back as a reading, whoever wrote it; None where it says what no reading can say."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final

from pydantic import ValidationError

from steward.agents.asking.compiling import compile_reading
from steward.agents.asking.periods import in_words
from steward.agents.asking.reading import (
    ColumnRef,
    Filtered,
    Grouped,
    Measured,
    Ordered,
    Period,
    Reading,
)
from steward.agents.asking.world import World
from steward.core import Invalid
from steward.definitions import parse_formula

_UNITS: Final = frozenset({"year", "quarter", "month", "week", "day", "hour"})
_FUNCTIONS: Final = frozenset(
    {"count", "count_distinct", "sum", "avg", "min", "max", "median", "stddev"}
)
Document = Mapping[str, Any]


class _Unreadable(Exception):
    """The plan holds something that no reading says."""


def read_plan(document: Document, world: World) -> Reading | None:
    """The reading that a query plan's document computes."""
    try:
        reading = _Plan(document, world).reading()
        # What was read must ask for columns that are there.
        compile_reading(reading, world)
    except (_Unreadable, Invalid, ValidationError, KeyError, TypeError):
        return None
    return reading


class _Plan:
    def __init__(self, document: Document, world: World) -> None:
        self._document = document
        self._world = world
        self._table = str(document["source"])
        if self._table not in world.datasets:
            raise _Unreadable
        if document.get("pivot") or document.get("offset"):
            raise _Unreadable
        self._names = {name: ColumnRef(column=name) for name in world.datasets[self._table].names}
        for join in document.get("joins", ()):
            self._join(join)
        self._units: dict[str, str] = {}
        self._metrics = dict(self._computed())
        for each in document.get("derive", ()):
            self._derived(each)

    def reading(self) -> Reading:
        document = self._document
        filters, periods, segments, defaults = self._conditions()
        figures = list(self._measures())
        known = self._world.table(self._table).default_filters
        return Reading(
            table=self._table,
            measures=[measure for _, measure in figures],
            groups=[self._group(name) for name in document.get("group", ())],
            columns=[] if figures else [self._ref(name) for name in document.get("select", ())],
            filters=filters,
            segments=segments,
            without_defaults=bool(known) and defaults < len(known),
            periods=periods,
            having=[self._having(each, figures) for each in document.get("having", ())],
            order=self._order([name for name, _ in figures]),
            limit=document.get("limit"),
        )

    def _ref(self, name: str) -> ColumnRef:
        if name not in self._names:
            raise _Unreadable
        return self._names[name]

    def _join(self, join: Document) -> None:
        table, pairs = str(join["dataset"]), [(on["left"], on["right"]) for on in join["on"]]
        if join.get("kind", "inner") not in {"inner", "left"} or join.get("where"):
            raise _Unreadable
        start = self._ref(pairs[0][0])
        for step in self._world.definitions.relationships:
            known = list(zip(step.from_columns, step.to_columns, strict=True))
            told = [(self._ref(left).column, right) for left, right in pairs]
            if (step.from_table, step.to_table) == (
                start.table or self._table,
                table,
            ) and known == told:
                break
        else:
            raise _Unreadable
        via = [*start.via, step.from_columns[0]] if start.table else [step.from_columns[0]]
        ways = self._world.paths(self._table).get(table, [])
        alias = join.get("alias") or table
        for name in self._world.datasets[table].names:
            shown = f"{alias}.{name}" if name in self._names else name
            chosen = via if len(ways) > 1 else []
            self._names[shown] = ColumnRef(column=name, table=table, via=chosen)

    def _computed(self) -> Iterator[tuple[str, str]]:
        """Names of aggregates and computed columns that are metrics."""
        made = {each["name"] for each in self._document.get("aggregate", ())}
        made |= {each["name"] for each in self._document.get("compute", ())}
        for name, metric in self._world.definitions.metrics.items():
            if metric.over == self._table and name in made:
                formula = parse_formula(
                    metric.formula, self._world.datasets[self._table].names, name
                )
                made_of = [each.name for each in (*formula.derive, *formula.compute)]
                made_of += [each.name for each in formula.aggregate]
                yield from ((part, name) for part in made_of)

    def _derived(self, derive: Document) -> None:
        name, expression = derive["name"], derive["expression"]
        if name in self._metrics:
            return
        unit = _unit(expression)
        columns = set(_columns(expression))
        if len(columns) != 1:
            raise _Unreadable
        self._names[name] = self._ref(columns.pop())
        if unit is not None:
            self._units[name] = unit
        elif expression.get("to") != "number":
            raise _Unreadable

    def _group(self, name: str) -> Grouped:
        return Grouped(by=self._ref(name), unit=self._units.get(name))

    def _measures(self) -> Iterator[tuple[str, Measured]]:
        windows = list(self._document.get("window", ()))
        told: set[str] = set()
        for each in self._document.get("aggregate", ()):
            metric = self._metrics.get(each["name"])
            if metric is not None:
                if metric not in told:
                    told.add(metric)
                    yield metric, _windowed(Measured(metric=metric), metric, windows)
                continue
            if each["function"] not in _FUNCTIONS or each.get("where") is not None:
                raise _Unreadable
            column = self._ref(each["column"]) if each.get("column") else None
            function = each["function"]
            if function == "count" and column is not None:
                raise _Unreadable
            measure = Measured(function=function, column=column)
            yield each["name"], _windowed(measure, each["name"], windows)
        if any(each["name"] not in self._metrics for each in self._document.get("compute", ())):
            raise _Unreadable

    def _having(self, piece: Document, figures: list[tuple[str, Measured]]) -> Filtered:
        name = _columns_of_one(piece)
        if not figures or name != figures[0][0]:
            raise _Unreadable
        here = ColumnRef(column="*")
        if "between" in piece:
            return Filtered(
                column=here, test="between", values=[_value(piece["low"]), _value(piece["high"])]
            )
        return Filtered(column=here, test=piece["compare"], values=[_value(piece["right"])])

    def _order(self, figures: list[str]) -> list[Ordered]:
        given = list(self._document.get("order", ()))
        groups = list(self._document.get("group", ()))
        timed = [name for name in groups if name in self._units]
        usual = [each["column"] for each in given] == [
            *timed,
            *(name for name in groups if name not in timed),
        ]
        if (
            timed
            and usual
            and all(each.get("direction", "ascending") == "ascending" for each in given)
        ):
            return []
        found = []
        for each in given[:1]:
            falls = each.get("direction", "ascending") == "descending"
            name = each["column"]
            if name in figures:
                if name == figures[0] and falls and "limit" not in self._document:
                    return []
                column = next(
                    (
                        m["column"]
                        for m in self._document.get("aggregate", ())
                        if m["name"] == name and m.get("column")
                    ),
                    None,
                )
                ref = self._ref(column) if column and name != figures[0] else None
                found.append(Ordered(by="measure", column=ref, descending=falls))
            elif name in self._units:
                found.append(Ordered(by="group", descending=falls))
            else:
                found.append(Ordered(by="column", column=self._ref(name), descending=falls))
        key = list(self._world.datasets[self._table].key) or list(
            self._world.table(self._table).key
        )
        if not figures and [each["column"] for each in given] == key:
            return []
        return found

    # Conditions

    def _conditions(self) -> tuple[list[Filtered], list[Period], list[str], int]:
        definition = self._world.table(self._table)
        segments = {
            name: self._world.condition(self._table, each.where)
            for name, each in definition.segments.items()
        }
        defaults = [
            self._world.condition(self._table, each.where) for each in definition.default_filters
        ]
        filters: list[Filtered] = []
        bounds: dict[str, dict[str, Any]] = {}
        periods: list[Period] = []
        chosen: list[str] = []
        met = 0
        for piece in self._document.get("filters", ()):
            if piece in defaults:
                met += 1
            elif piece in segments.values():
                chosen.append(next(name for name, each in segments.items() if each == piece))
            elif piece.get("not") in segments.values():
                name = next(name for name, each in segments.items() if each == piece["not"])
                here = ColumnRef(column="*")
                filters.append(Filtered(column=here, test="is not", values=[name]))
            elif "any" in piece and (found := self._several_periods(piece)) is not None:
                periods += found
            elif (bound := self._bound(piece)) is not None:
                bounds.setdefault(bound[0], {})[bound[1]] = bound[2]
            else:
                filters.append(self._filter(piece))
        for name, ends in bounds.items():
            periods.append(_period(self._ref(name), ends.get(">="), ends.get("<")))
        return filters, periods, chosen, met

    def _several_periods(self, piece: Document) -> list[Period] | None:
        found = []
        for each in piece["any"]:
            parts = each.get("all", [each])
            bounds = [self._bound(part) for part in parts]
            ends = {bound[1]: bound[2] for bound in bounds if bound is not None}
            names = {bound[0] for bound in bounds if bound is not None}
            if len(names) != 1 or None in bounds:
                return None
            found.append(_period(self._ref(names.pop()), ends.get(">="), ends.get("<")))
        return found

    def _bound(self, piece: Document) -> tuple[str, str, date] | None:
        """A condition that is one end of a stretch of time: the column, which end, the day."""
        if piece.get("compare") not in {">=", "<", "<=", ">", "="}:
            return None
        columns = set(_columns(piece.get("left")))
        given = piece["right"].get("value") if isinstance(piece.get("right"), Mapping) else None
        moment = given.get("date") or given.get("timestamp") if isinstance(given, Mapping) else None
        if moment is None or len(columns) != 1:
            return None
        day = date.fromisoformat(str(moment)[:10])
        if piece["compare"] in {">=", "<"}:
            return columns.pop(), piece["compare"], day
        if piece["compare"] in {"<=", ">"}:
            after = day + timedelta(days=1)
            return columns.pop(), {"<=": "<", ">": ">="}[piece["compare"]], after
        return None

    def _filter(self, piece: Document) -> Filtered:
        if "not" in piece:
            inner = self._filter(piece["not"])
            opposite = {"empty": "not empty", "=": "!="}.get(inner.test)
            if opposite is None:
                raise _Unreadable
            return inner.model_copy(update={"test": opposite})
        if "any" in piece and any("is_null" in each for each in piece["any"]):
            return Filtered(column=self._ref(_columns_of_one(piece)), test="empty")
        column = self._ref(_columns_of_one(piece))
        if "is_null" in piece:
            return Filtered(column=column, test="not empty" if piece.get("negate") else "empty")
        if "among" in piece:
            values = [_value(each) for each in piece["among"]]
            return Filtered(column=column, test="!=" if piece.get("negate") else "=", values=values)
        if "between" in piece:
            return Filtered(
                column=column, test="between", values=[_value(piece["low"]), _value(piece["high"])]
            )
        if "matches" in piece:
            return Filtered(column=column, test=piece["matches"], values=[piece["text"]])
        if "compare" in piece:
            values = [_value(piece["right"])]
            return Filtered(column=column, test=piece["compare"], values=values)
        raise _Unreadable


def _windowed(measure: Measured, name: str, windows: list[Document]) -> Measured:
    for each in windows:
        if each.get("column") != name or each.get("partition"):
            continue
        if each["function"] == "share":
            measure = measure.model_copy(update={"share": True})
        elif each["function"] == "difference":
            measure = measure.model_copy(update={"along": "change"})
        elif each["function"] == "sum":
            measure = measure.model_copy(update={"along": "running"})
        else:
            raise _Unreadable
    return measure


def _unit(expression: Document) -> str | None:
    if expression.get("function") == "year":
        return "year"
    if expression.get("function") == "date_trunc":
        unit = expression["args"][0].get("value")
        return unit if unit in _UNITS else None
    return None


def _period(ref: ColumnRef, start: date | None, end: date | None) -> Period:
    return Period(
        column=ref,
        start=start.isoformat() if start else None,
        end=end.isoformat() if end else None,
        said=in_words(start, end),
    )


def _columns(piece: Any) -> Iterator[str]:
    if isinstance(piece, list):
        for each in piece:
            yield from _columns(each)
    elif isinstance(piece, Mapping):
        if isinstance(piece.get("column"), str):
            yield piece["column"]
        for each in piece.values():
            yield from _columns(each)


def _columns_of_one(piece: Document) -> str:
    names = set(_columns(piece))
    if len(names) != 1:
        raise _Unreadable
    return names.pop()


def _value(piece: Any) -> Any:
    value = piece.get("value") if isinstance(piece, Mapping) else None
    if isinstance(value, Mapping):
        value = next(iter(value.values()), None)
    if value is None:
        raise _Unreadable
    return value
