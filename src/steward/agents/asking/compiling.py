"""A reading as a query plan: joins along relationships, default filters and segments of definitions, order and limit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from steward.agents.asking.expressions import (
    Piece,
    among,
    call,
    column,
    compared,
    day_of,
    equal,
    is_empty,
    number_of,
    time_part,
    truncated,
    value,
    within,
)
from steward.agents.asking.reading import (
    ColumnRef,
    Filtered,
    Lacking,
    Measured,
    Period,
    Reading,
    TimePart,
)
from steward.agents.asking.world import World, is_number_text
from steward.core import Invalid
from steward.definitions import ColumnFacts, parse_formula

FUNCTION_NAMES: Final = {
    "count": "count",
    "count_distinct": "distinct",
    "sum": "total",
    "avg": "average",
    "min": "lowest",
    "max": "highest",
    "median": "median",
    "stddev": "deviation",
}
_AVERAGE: Final = "average_count"
IN_ALL: Final = "count of all"
"""Rows of all units together, beside the rows of each."""
MOST_ROWS: Final = 100
"""Rows that are shown where a question says no number."""


def compile_reading(reading: Reading, world: World) -> dict[str, Any]:
    """The query plan's document; Invalid where the reading names what is not there."""
    if reading.table not in world.datasets:
        raise _wrong(f"there is no dataset {reading.table!r}")
    return _Compiler(reading, world).document()


class _Compiler:
    def __init__(self, reading: Reading, world: World) -> None:
        self._reading = reading
        self._world = world
        self._names = list(world.datasets[reading.table].names)
        self._joins: list[dict[str, Any]] = []
        self._joined: dict[tuple[str, ...], dict[str, str]] = {}
        self._derive: list[dict[str, Any]] = []
        self._compute: list[dict[str, Any]] = []
        self._places: dict[str, str] = {}
        """Columns that say where a group stands in its week or year, by the group that is shown."""

    def document(self) -> dict[str, Any]:
        reading = self._reading
        self._joins += [self._without(each) for each in reading.lacking]
        filters = [*self._defaults(), *self._conditions()]
        groups = [self._group(each) for each in reading.groups]
        made: dict[str, Any] = {"source": reading.table}
        figures = list(self._figures())
        shown = self._shown()
        order = self._order(groups, figures)
        parts = {
            "joins": self._joins,
            "derive": self._derive,
            "filters": filters,
            "group": [*groups, *self._places.values()] if figures else [],
            "aggregate": [part for figure in figures for part in figure.parts],
            "compute": self._compute,
            "having": self._having(figures),
            "window": [window for figure in figures for window in figure.windows],
            "select": shown or self._selected(groups, figures),
            "order": order,
        }
        made |= {name: part for name, part in parts.items() if part}
        if reading.limit is not None:
            made["limit"] = reading.limit
        elif not figures:
            made["limit"] = MOST_ROWS
        return made

    def _shown(self) -> list[str]:
        """The columns of rows: those that were asked for, with what rows are known and sorted by."""
        reading = self._reading
        if not reading.columns or reading.measures:
            return []
        definition = self._world.table(reading.table)
        known = [definition.name_column] if definition.name_column else list(definition.key)
        there = [each for each in known if self._world.facts(reading.table, each) is not None]
        names = [*there, *(self._name(each) for each in reading.columns)]
        names += [self._number(each.column) for each in reading.order if each.column is not None]
        return list(dict.fromkeys(names))

    # Columns

    def _facts(self, ref: ColumnRef) -> ColumnFacts:
        facts = self._world.facts(ref.table or self._reading.table, ref.column)
        if facts is None:
            where = ref.table or self._reading.table
            raise _wrong(f"there is no column {ref.column!r} in {where!r}")
        return facts

    def _name(self, ref: ColumnRef) -> str:
        """The column's name in the query, joining its table where needed."""
        facts = self._facts(ref)
        if ref.table is None or ref.table == self._reading.table:
            return facts.name
        path = self._world.path(self._reading.table, ref)
        if path is None:
            raise _wrong(
                f"no single relationship leads from {self._reading.table!r} to {ref.table!r}"
            )
        names = {name: name for name in self._world.datasets[self._reading.table].names}
        key: tuple[str, ...] = ()
        for step in path.steps:
            key = (*key, step.from_columns[0], step.to_table)
            if key not in self._joined:
                self._join(
                    key,
                    step.to_table,
                    list(zip(step.from_columns, step.to_columns, strict=True)),
                    names,
                )
            names = self._joined[key]
        return names[facts.name]

    def _number(self, ref: ColumnRef) -> str:
        """The column's name in the query, as numbers where it holds numbers as text."""
        name = self._name(ref)
        if not is_number_text(self._facts(ref)):
            return name
        derived = f"{name} as number"
        if derived not in {each["name"] for each in self._derive}:
            self._derive.append({"name": derived, "expression": number_of(name)})
        return derived

    def _join(
        self,
        key: tuple[str, ...],
        table: str,
        pairs: Sequence[tuple[str, str]],
        names: dict[str, str],
    ) -> None:
        taken = {self._reading.table, *(each.get("alias", each["dataset"]) for each in self._joins)}
        alias = table if table not in taken else f"{table} by {pairs[0][0]}"
        join: dict[str, Any] = {
            "dataset": table,
            "kind": "left",
            "on": [{"left": names[left], "right": right} for left, right in pairs],
        }
        if alias != table:
            join["alias"] = alias
        self._joins.append(join)
        there: dict[str, str] = {}
        for name in self._world.datasets[table].names:
            there[name] = f"{alias}.{name}" if name in self._names else name
            self._names.append(there[name])
        self._joined[key] = there

    # Which rows

    def _without(self, lacking: Lacking) -> dict[str, Any]:
        """The join that leaves out rows that others lead to."""
        ways = [
            each
            for each in self._world.leading_to(self._reading.table)
            if each.from_table == lacking.table and each.from_columns == [lacking.via]
        ]
        if len(ways) != 1:
            raise _wrong(f"no rows of {lacking.table!r} lead to {self._reading.table!r}")
        parts = {name: getattr(lacking, name) for name in ("filters", "segments", "periods")}
        there = _Compiler(Reading(table=lacking.table, **parts), self._world)
        conditions = [*there._defaults(), *there._conditions()]
        if there._joins or there._derive:
            raise _wrong(f"a condition on {lacking.table!r} needs columns of other tables")
        pairs = zip(ways[0].to_columns, ways[0].from_columns, strict=True)
        return {
            "dataset": lacking.table,
            "kind": "anti",
            "on": [{"left": left, "right": right} for left, right in pairs],
            **({"where": {"all": conditions}} if conditions else {}),
        }

    def _defaults(self) -> Iterator[Piece]:
        definition = self._world.table(self._reading.table)
        if not self._reading.without_defaults:
            for each in definition.default_filters:
                yield self._world.condition(self._reading.table, each.where)
        for name in self._reading.segments:
            yield self._segment(name)

    def _segment(self, name: str) -> Piece:
        segment = self._world.table(self._reading.table).segments.get(name)
        if segment is None:
            raise _wrong(f"{self._reading.table!r} has no segment {name!r}")
        return self._world.condition(self._reading.table, segment.where)

    def _conditions(self) -> Iterator[Piece]:
        yield from self._periods(self._reading.periods)
        for each in self._reading.filters:
            yield self.condition(each)
        for ref in nameless(self._reading, self._world):
            empty = is_empty(self._facts(ref), self._name(ref))
            yield {**empty, "negate": True} if "is_null" in empty else {"not": empty}

    def _periods(self, periods: Sequence[Period]) -> Iterator[Piece]:
        pieces = []
        for each in periods:
            facts, name = self._facts(each.column), self._name(each.column)
            pieces.append(within(facts, name, each.start, each.end))
        if len(pieces) == 1:
            yield from pieces[0]
        elif pieces:
            yield {"any": [each[0] if len(each) == 1 else {"all": each} for each in pieces]}

    def condition(self, each: Filtered) -> Piece:
        if each.than is not None:
            than = column(self._number(each.than))
            return compared(column(self._number(each.column)), each.test, than)
        return self._segment_condition(each) or self._value_condition(each)

    def _segment_condition(self, each: Filtered) -> Piece | None:
        if each.test in {"is", "is not"} and each.values:
            part = self._segment(str(each.values[0]))
            return {"not": part} if each.test == "is not" else part
        return None

    def _value_condition(self, each: Filtered) -> Piece:
        facts, name = self._facts(each.column), self._name(each.column)
        if each.test in {"empty", "not empty"}:
            piece = is_empty(facts, name)
            return {"not": piece} if each.test == "not empty" else piece
        if not each.values:
            raise _wrong(f"the condition on {each.column.column!r} has no value")
        numeric = all(isinstance(value, int | float) for value in each.values)
        if is_number_text(facts) and numeric:
            name = self._number(each.column)
            if each.test in {"=", "!="}:
                return among(column(name), list(each.values), each.test == "!=")
        if each.test in {"=", "!="}:
            return equal(facts, name, each.values, negate=each.test == "!=")
        if each.test in {"contains", "starts with", "ends with"}:
            folded = call("lower", column(name))
            return {"matches": each.test, "of": folded, "text": str(each.values[0]).lower()}
        if each.test == "between":
            if len(each.values) != 2:
                raise _wrong(f"between needs two values for {each.column.column!r}")
            low, high = each.values
            return {"between": column(name), "low": value(low), "high": value(high)}
        return compared(column(name), each.test, value(each.values[0]))

    # Figures

    def _group(self, group: Any) -> str:
        facts, name = self._facts(group.by), self._name(group.by)
        if group.part is not None:
            return self._part_of_time(group.part, facts, name)
        if group.unit is None or facts.kind == "number":
            return name
        taken = {each["name"] for each in self._derive} | set(self._names)
        derived = group.unit if group.unit not in taken else f"{group.unit} of {name}"
        expression = truncated(group.unit, day_of(facts, name))
        if group.unit == "hour":
            expression = call("date_trunc", value("hour"), column(name))
        self._derive.append({"name": derived, "expression": expression})
        return derived

    def _part_of_time(self, part: TimePart, facts: ColumnFacts, name: str) -> str:
        taken = {each["name"] for each in self._derive} | set(self._names)
        shown = part if part not in taken else f"{part} of {name}"
        number, names = time_part(part, facts, name)
        if not names:
            self._derive.append({"name": shown, "expression": number})
            return shown
        place = f"number of {shown}"
        cases = [
            {"when": compared(column(place), "=", value(at)), "then": value(each)}
            for at, each in names.items()
        ]
        self._derive += [
            {"name": place, "expression": number},
            {"name": shown, "expression": {"case": cases}},
        ]
        self._places[shown] = place
        return shown

    def _figures(self) -> Iterator["_Figure"]:
        for measure in self._reading.measures:
            if measure.where and measure.column is not None:
                yield _Figure("share", self._part_of_total(measure, measure.column), [])
                continue
            if measure.over is not None and measure.column is not None:
                yield _Figure("ratio", self._ratio(measure.column, measure.over), [])
                continue
            if measure.per is not None:
                yield _Figure(_AVERAGE, self._per(measure.per), [])
                continue
            parts = (
                self._metric(measure.metric)
                if measure.metric is not None
                else [self._aggregate(measure)]
            )
            name = measure.metric or parts[0]["name"]
            yield _Figure(name, parts, list(self._windows(measure, name)))

    def _selected(self, groups: Sequence[str], figures: Sequence["_Figure"]) -> list[str]:
        """Only groups and figures, where a metric is computed from parts."""
        if not self._compute and not self._places:
            return []
        made = [
            name for each in figures for name in (each.name, *(w["name"] for w in each.windows))
        ]
        return [*groups, *made]

    def _aggregate(self, measure: Measured) -> dict[str, Any]:
        if measure.where:
            return self._part(measure)
        function = measure.function or "count"
        if measure.column is None:
            return {"name": "count", "function": "count"}
        if measure.minus is not None:
            return self._difference(measure.column, measure.minus, function)
        name = self._name(measure.column)
        of = name if function == "count_distinct" else self._number(measure.column)
        return {"name": f"{FUNCTION_NAMES[function]}_{name}", "function": function, "column": of}

    def _part_of_total(self, measure: Measured, of: ColumnRef) -> list[dict[str, Any]]:
        """The part of a total that rows have for which conditions hold."""
        total = {"function": "sum", "column": self._number(of)}
        quotient = {"op": "/", "args": [column("part"), column("whole")]}
        self._compute.append({"name": "share", "expression": quotient})
        return [
            {"name": "part", **total, "where": self._where(measure)},
            {"name": "whole", **total},
        ]

    def _difference(self, of: ColumnRef, less: ColumnRef, function: str) -> dict[str, Any]:
        first, second = self._number(of), self._number(less)
        name = f"{first} less {second}"
        expression = {"op": "-", "args": [column(first), column(second)]}
        if name not in {each["name"] for each in self._derive}:
            self._derive.append({"name": name, "expression": expression})
        return {
            "name": f"{FUNCTION_NAMES[function]}_difference",
            "function": function,
            "column": name,
        }

    def _ratio(self, of: ColumnRef, to: ColumnRef) -> list[dict[str, Any]]:
        """Totals by each other; rows that lack one of the two count in neither."""
        first, second = self._number(of), self._number(to)
        both = [{"is_null": column(each), "negate": True} for each in (first, second)]
        quotient = {"op": "/", "args": [column("part"), column("whole")]}
        self._compute.append({"name": "ratio", "expression": quotient})
        return [
            {"name": name, "function": "sum", "column": each, "where": {"all": both}}
            for name, each in (("part", first), ("whole", second))
        ]

    def _per(self, ref: ColumnRef) -> list[dict[str, Any]]:
        """How many rows each value of a column has on average."""
        name = self._name(ref)
        quotient = {"op": "/", "args": [column("rows"), column("owners")]}
        self._compute.append({"name": _AVERAGE, "expression": quotient})
        return [
            {"name": "rows", "function": "count", "column": name},
            {"name": "owners", "function": "count_distinct", "column": name},
        ]

    def _where(self, measure: Measured) -> Piece:
        tests = [self.condition(each) for each in measure.where]
        return tests[0] if len(tests) == 1 else {"all": tests}

    def _part(self, measure: Measured) -> dict[str, Any]:
        """The part of the rows for which conditions hold: the average of one and nothing."""
        when = self._where(measure)
        case = {"case": [{"when": when, "then": value(1.0)}], "otherwise": value(0.0)}
        self._derive.append({"name": "counts", "expression": case})
        return {"name": "share", "function": "avg", "column": "counts"}

    def _metric(self, name: str) -> list[dict[str, Any]]:
        metric = self._world.definitions.metrics.get(name)
        if metric is None or metric.over != self._reading.table:
            raise _wrong(f"there is no metric {name!r} over {self._reading.table!r}")
        names = self._world.datasets[metric.over].names
        formula = parse_formula(metric.formula, names, name)
        self._derive += [_document(each) for each in formula.derive]
        self._compute += [_document(each) for each in formula.compute]
        return [_document(each) for each in formula.aggregate]

    def _windows(self, measure: Measured, name: str) -> Iterator[dict[str, Any]]:
        if measure.counts_rows and [each.is_unit for each in self._reading.groups] == [True]:
            yield {"name": IN_ALL, "function": "sum", "column": name}
        if measure.share and not measure.where:
            yield {"name": f"share_of_{name}", "function": "share", "column": name}
        if measure.along is not None and self._reading.groups:
            times = [each for each in self._derive if each["name"] != "counts"]
            order = [{"column": times[0]["name"]}] if times else []
            if not order:
                raise _wrong("a running total or a change needs a time to run along")
            if measure.along == "running":
                frame = {"before": None, "after": 0}
                yield {
                    "name": f"running_{name}",
                    "function": "sum",
                    "column": name,
                    "order": order,
                    "frame": frame,
                }
            else:
                yield {
                    "name": f"change_of_{name}",
                    "function": "difference",
                    "column": name,
                    "order": order,
                }

    def _having(self, figures: Sequence["_Figure"]) -> list[Piece]:
        found: list[Piece] = []
        for each in self._reading.having:
            if not figures or not each.values:
                raise _wrong("a condition on groups needs a figure and a number")
            here = column(figures[0].name)
            if each.test == "between" and len(each.values) == 2:
                low, high = (value(number) for number in each.values)
                found.append({"between": here, "low": low, "high": high})
            else:
                found.append(compared(here, each.test, value(each.values[0])))
        return found

    def _order(self, groups: Sequence[str], figures: Sequence["_Figure"]) -> list[dict[str, Any]]:
        wanted = [self._ordered(each, groups, figures) for each in self._reading.order]
        if wanted:
            return wanted
        if not figures:
            key = self._world.datasets[self._reading.table].key or tuple(
                self._world.table(self._reading.table).key
            )
            shown = set(self._shown())
            return [{"column": name} for name in key if not shown or name in shown]
        times = [
            name
            for name, group in zip(groups, self._reading.groups, strict=True)
            if self._world.is_stretch(self._reading.table, group) or group.part is not None
        ]
        if times:
            ordered = [*times, *(g for g in groups if g not in times)]
            return [{"column": self._places.get(name, name)} for name in ordered]
        if groups:
            return [{"column": figures[0].name, "direction": "descending"}]
        return []

    def _ordered(
        self, order: Any, groups: Sequence[str], figures: Sequence["_Figure"]
    ) -> dict[str, Any]:
        direction = "descending" if order.descending else "ascending"
        if order.by == "group" and groups:
            name = self._places.get(groups[0], groups[0])
            return {"column": name, "direction": direction}
        if order.column is not None:
            name = self._number(order.column)
            by_column = [each.name for each in figures if each.column == name]
            if order.by == "measure" and by_column:
                return {"column": by_column[-1], "direction": direction}
            if not figures or name in groups:
                return {"column": name, "direction": direction}
            if by_column:
                return {"column": by_column[0], "direction": direction}
        if figures:
            return {"column": figures[0].name, "direction": direction}
        raise _wrong("there is nothing to sort by")


def nameless(reading: Reading, world: World) -> list[ColumnRef]:
    """Columns whose empty value is no group of a ranking: the carrier with the most flights is not none."""
    if reading.limit is None or not any(each.by == "measure" for each in reading.order):
        return []
    own = [each.by for each in reading.groups if each.by.table in (None, reading.table)]
    found = []
    for each in reading.groups:
        known = world.of(reading.table, each.by)
        joined = each.by.table not in (None, reading.table)
        path = world.path(reading.table, each.by) if joined else None
        if path is not None and any(path.steps[0].from_columns[0] == ref.column for ref in own):
            # A customer without a name is one, by its number beside.
            continue
        if known is not None and each.unit is None and (joined or known[1].nulls):
            found.append(each.by)
    return found


@dataclass(frozen=True)
class _Figure:
    """A measure in the query: its aggregates, and what runs over it."""

    name: str
    parts: list[dict[str, Any]]
    windows: list[dict[str, Any]]

    @property
    def column(self) -> str | None:
        return self.parts[0].get("column")


def _document(part: BaseModel) -> dict[str, Any]:
    return part.model_dump(mode="json", by_alias=True, exclude_none=True)


def _wrong(why: str) -> Invalid:
    return Invalid(f"This reading cannot be answered: {why}.", code="reading-invalid")
