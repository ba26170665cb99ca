"""What can stand at a place of a reading: everything that a click on a chip, or on *Add*, offers.

Each option holds the whole changed reading, so that whoever shows it needs to know nothing about readings.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, get_args

from steward.agents.asking.reading import (
    ColumnRef,
    Filtered,
    Function,
    Grouped,
    Measured,
    Ordered,
    Reading,
    Shape,
    TimePart,
    Unit,
)
from steward.agents.asking.usual_periods import periods_of
from steward.agents.asking.wording import Words, chart_name, spaced
from steward.definitions import ColumnDefinition, DatasetFacts, Relationship

Values = Callable[[str, str, str], Sequence[tuple[str, int]]]
"""Values of a table's column that contain a text, with how many rows have each; the most frequent first."""
_ADDITIVE: Final[tuple[Function, ...]] = ("sum", "avg", "median", "min", "max", "stddev")
_RANKS: Final = (1, 3, 5, 10, 20, 50)
_SHAPES: Final[tuple[Shape, ...]] = ("bar", "line", "area", "pie")
_LONGEST_WAY: Final = 2


_Finder = Callable[[Reading, "int | None", str, "ColumnRef | None"], "Iterator[Option]"]


@dataclass(frozen=True)
class Option:
    text: str
    reading: Reading | None = None
    """The reading once this is chosen; None where a value of `column` is chosen next."""
    group: str = ""
    """A heading that options share."""
    detail: str = ""
    column: ColumnRef | None = None


class Options:
    def __init__(
        self, words: Words, datasets: Mapping[str, DatasetFacts], values: Values, today: date
    ) -> None:
        self._words = words
        self._definitions = words.definitions
        self._datasets = datasets
        self._values = values
        self._today = today

    def additions(self, reading: Reading) -> list[tuple[str, str]]:
        """Where something can be added: pointer and words."""
        found = [("/measures/-", "figure"), ("/groups/-", "group"), ("/filters/-", "condition")]
        if self._times(reading.table):
            found.append(("/periods/-", "period"))
        if not reading.order and reading.limit is None:
            found.append(("/limit", "ranking"))
        if reading.chart is None and reading.measures and 1 <= len(reading.groups) <= 2:
            found.append(("/chart", "chart"))
        if not reading.measures:
            found.append(("/columns", "column"))
        return found

    def at(
        self,
        reading: Reading | None,
        pointer: str,
        search: str = "",
        column: ColumnRef | None = None,
    ) -> Iterator[Option]:
        """What can stand there; `search` narrows it down or is the value that is wanted."""
        if reading is None or pointer in ("", "/table"):
            yield from _matching(self._tables(), search)
            return
        field, index = _place(pointer)
        if _is_there(reading, field, index):
            yield Option("Remove", _without(reading, field, index))
        yield from self._of_field(field)(reading, index, search, column)

    def _of_field(self, field: str) -> "_Finder":
        plain: dict[str, Callable[[Reading, int | None], Iterator[Option]]] = {
            "measures": self._measures,
            "groups": self._groups,
            "columns": self._columns,
            "chart": self._charts,
        }
        if field in plain:
            find = plain[field]
            return lambda reading, index, search, _: _matching(find(reading, index), search)
        by_value: dict[str, _Finder] = {
            "filters": self._filters,
            "segments": self._filters,
            "periods": self._periods,
            "limit": self._ranks,
            "order": self._ranks,
            "having": self._having,
        }
        return by_value.get(field, lambda *_: iter(()))

    # Tables and columns

    def _tables(self) -> Iterator[Option]:
        for name in sorted(self._datasets):
            reading = Reading(table=name, measures=[Measured(function="count")])
            rows = self._words.writing.number(self._datasets[name].rows)
            yield Option(spaced(name), reading, detail=f"{rows} rows")

    def _reachable(self, table: str) -> Iterator[tuple[ColumnRef, ColumnDefinition]]:
        """Columns of the table, then of those that its rows lead to, one row each."""
        known = self._definitions.tables.get(table)
        for name, definition in (known.columns if known is not None else {}).items():
            yield ColumnRef(column=name), definition
        for way in self._ways(table, ()):
            target = way[-1].to_table
            there = self._definitions.tables.get(target)
            via = [each.from_columns[0] for each in way]
            for name, definition in (there.columns if there is not None else {}).items():
                if definition.role != "identifier":
                    yield ColumnRef(column=name, table=target, via=via), definition

    def _ways(
        self, table: str, before: tuple[Relationship, ...]
    ) -> Iterator[tuple[Relationship, ...]]:
        seen = {each.from_table for each in before} | {table}
        for each in self._definitions.relationships:
            if each.from_table == table and each.to_table not in seen:
                yield (*before, each)
                if len(before) + 1 < _LONGEST_WAY:
                    yield from self._ways(each.to_table, (*before, each))

    def _times(self, table: str) -> list[str]:
        known = self._definitions.tables.get(table)
        if known is None:
            return []
        names = [name for name, each in known.columns.items() if each.role == "time"]
        return sorted(names, key=lambda name: name != known.default_time)

    # Parts

    def _measures(self, reading: Reading, index: int | None) -> Iterator[Option]:
        for measured, group in self._figures(reading):
            text = self._words.measure(measured, reading.table, of="of ")
            yield Option(text, _with(reading, "measures", index, measured), group)
        if index is not None and index < len(reading.measures):
            whole = reading.measures[index]
            if reading.groups and whole.function in (None, "count", "sum") and not whole.where:
                other = whole.model_copy(update={"share": not whole.share})
                text = "as it is" if whole.share else "as a share of the whole"
                yield Option(text, _with(reading, "measures", index, other), "Shown")

    def _figures(self, reading: Reading) -> Iterator[tuple[Measured, str]]:
        table = reading.table
        yield Measured(function="count"), "Number"
        for name, metric in self._definitions.metrics.items():
            if metric.over == table:
                yield Measured(metric=name), "Metrics"
        known = self._definitions.tables.get(table)
        for name, definition in (known.columns if known is not None else {}).items():
            ref = ColumnRef(column=name)
            for function in _functions(definition):
                yield Measured(function=function, column=ref), self._words.label(ref, table)

    def _groups(self, reading: Reading, index: int | None) -> Iterator[Option]:
        for ref, definition in self._reachable(reading.table):
            if definition.role in ("measure", "text"):
                continue
            group = self._owner(ref, reading.table)
            units: Sequence[Unit | None] = (None,)
            if definition.role == "time":
                units = [
                    unit
                    for unit in get_args(Unit)
                    if unit != "hour" or self._has_hours(ref, reading)
                ]
            groups = [Grouped(by=ref, unit=unit) for unit in units]
            if self._is_day(ref, reading):
                groups += [
                    Grouped(by=ref, part=part)
                    for part in get_args(TimePart)
                    if part != "hour of the day" or self._has_hours(ref, reading)
                ]
            for grouped in groups:
                text = f"by {self._words.group(grouped, reading.table)}"
                yield Option(text, _with(reading, "groups", index, grouped), group)

    def _is_day(self, ref: ColumnRef, reading: Reading) -> bool:
        dataset = self._datasets.get(ref.table or reading.table)
        column = dataset.column(ref.column) if dataset is not None else None
        return column is not None and (column.is_time or column.is_date_text)

    def _has_hours(self, ref: ColumnRef, reading: Reading) -> bool:
        dataset = self._datasets.get(ref.table or reading.table)
        column = dataset.column(ref.column) if dataset is not None else None
        return column is not None and column.kind == "moment"

    def _owner(self, ref: ColumnRef, table: str) -> str:
        return spaced(ref.table or table)

    def _columns(self, reading: Reading, _: int | None) -> Iterator[Option]:
        chosen = list(reading.columns)
        for ref, _definition in self._reachable(reading.table):
            label, group = self._words.label(ref, reading.table), self._owner(ref, reading.table)
            without = [each for each in chosen if each != ref]
            if len(without) < len(chosen):
                yield Option(f"without {label}", _changed(reading, columns=without), group)
            else:
                yield Option(label, _changed(reading, columns=[*chosen, ref]), group)

    def _charts(self, reading: Reading, _: int | None) -> Iterator[Option]:
        for shape in _SHAPES:
            yield Option(chart_name(shape), _changed(reading, chart=shape))

    # Which rows

    def _periods(
        self, reading: Reading, index: int | None, search: str, _: ColumnRef | None
    ) -> Iterator[Option]:
        for name in self._times(reading.table):
            group = self._words.label(ColumnRef(column=name), reading.table)
            for period in periods_of(reading, name, search, self._datasets, self._today):
                yield Option(period.said, _with(reading, "periods", index, period), group)

    def _filters(
        self, reading: Reading, index: int | None, search: str, column: ColumnRef | None
    ) -> Iterator[Option]:
        if column is None and index is not None and index < len(reading.filters):
            column = reading.filters[index].column
        if column is not None:
            yield from self._tests(reading, column, index, search)
        else:
            yield from _matching(self._filtered(reading), search)

    def _filtered(self, reading: Reading) -> Iterator[Option]:
        known = self._definitions.tables.get(reading.table)
        for name in known.segments if known is not None else {}:
            if name not in reading.segments:
                segments = [*reading.segments, name]
                yield Option(f"only {name}", _changed(reading, segments=segments), "Defined")
        for ref, _ in self._reachable(reading.table):
            label = self._words.label(ref, reading.table)
            yield Option(label, None, self._owner(ref, reading.table), column=ref)

    def _tests(
        self, reading: Reading, ref: ColumnRef, index: int | None, search: str
    ) -> Iterator[Option]:
        """A value of the column, several of them, or a comparison with the number that was typed."""
        dataset = self._datasets.get(ref.table or reading.table)
        facts = dataset.column(ref.column) if dataset is not None else None
        is_number = facts is not None and facts.kind == "number"

        def option(test: Any, values: list[Any], group: str = "", detail: str = "") -> Option:
            filtered = Filtered(column=ref, test=test, values=values)
            text = self._words.filter_chip(filtered, reading.table)
            return Option(text, _with(reading, "filters", index, filtered), group, detail)

        number = _number(search)
        if is_number and number is not None:
            for test in ("=", ">", ">=", "<", "<=", "!="):
                yield option(test, [number], "Compared")
        now = reading.filters[index] if index is not None and index < len(reading.filters) else None
        for text, count in self._values(ref.table or reading.table, ref.column, search):
            value = _typed(text, facts.kind if facts is not None else "text")
            rows = f"{self._words.writing.number(count)} rows"
            yield option("=", [value], "Values", rows)
            if now is not None and now.test == "=" and now.values and value not in now.values:
                yield option("=", [*now.values, value], "One of several", rows)
        if not search:
            yield option("empty", [], "Other")
            yield option("not empty", [], "Other")

    def _having(
        self, reading: Reading, index: int | None, search: str, _: ColumnRef | None
    ) -> Iterator[Option]:
        number = _number(search)
        if number is None or not reading.measures:
            return
        column = reading.measures[0].column or ColumnRef(column="count")
        for test in (">", ">=", "<", "<=", "="):
            filtered = Filtered(column=column, test=test, values=[number])
            text = self._words.having(filtered, reading)
            yield Option(text, _with(reading, "having", index, filtered))

    # Order

    def _ranks(
        self, reading: Reading, _: int | None, search: str, __: ColumnRef | None
    ) -> Iterator[Option]:
        wanted = _number(search)
        counts = (int(wanted),) if wanted is not None and 0 < wanted <= 10_000 else _RANKS
        for descending, word in ((True, "largest"), (False, "smallest")):
            for count in counts:
                if reading.measures:
                    order = [Ordered(by="measure", descending=descending)]
                    yield Option(f"{word} {count}", _changed(reading, order=order, limit=count))
                    continue
                known = self._definitions.tables.get(reading.table)
                for name, each in (known.columns if known is not None else {}).items():
                    if each.role in ("measure", "time") and count in (*counts[:1], 10):
                        ref = ColumnRef(column=name)
                        order = [Ordered(by="column", column=ref, descending=descending)]
                        text = f"{word} {count} by {self._words.label(ref, reading.table)}"
                        yield Option(text, _changed(reading, order=order, limit=count))


def _functions(definition: ColumnDefinition) -> Sequence[Function]:
    """How a column can be summarised, the usual way first."""
    match definition.role:
        case "measure":
            found = [each for each in _ADDITIVE if each != "sum" or definition.additive != "never"]
            first = [definition.total] if definition.total is not None else []
            return list(dict.fromkeys([*first, *found]))
        case "time":
            return ("min", "max")
        case "identifier" | "dimension":
            return ("count_distinct",)
        case _:
            return ()


def _matching(options: Iterator[Option], search: str) -> Iterator[Option]:
    words = search.casefold().split()
    for option in options:
        told = f"{option.text} {option.group}".casefold()
        if all(word in told for word in words):
            yield option


# Changing a reading


def _place(pointer: str) -> tuple[str, int | None]:
    """The list and the index that a pointer names; None where it names no element, as in `/groups/-`."""
    parts = pointer.strip("/").split("/")
    index = int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else None
    return parts[0], index


def _is_there(reading: Reading, field: str, index: int | None) -> bool:
    value = getattr(reading, field, None)
    if isinstance(value, list):
        return index is not None and index < len(value) if field != "columns" else bool(value)
    if field == "limit":
        return reading.limit is not None or bool(reading.order)
    return field == "without_defaults" or value is not None


def _without(reading: Reading, field: str, index: int | None) -> Reading:
    value = getattr(reading, field)
    if field == "without_defaults":
        return _changed(reading, without_defaults=True)
    if field in ("limit", "order"):
        return _changed(reading, order=[], limit=None)
    if field == "columns":
        return _changed(reading, columns=[])
    if isinstance(value, list):
        return _changed(reading, **{field: [*value[:index], *value[(index or 0) + 1 :]]})
    return _changed(reading, **{field: None})


def _with(reading: Reading, field: str, index: int | None, part: Any) -> Reading:
    parts = list(getattr(reading, field))
    if index is not None and index < len(parts):
        parts[index] = part
    else:
        parts.append(part)
    return _changed(reading, **{field: parts})


def _changed(reading: Reading, **parts: Any) -> Reading:
    return reading.model_copy(update=parts)


def _number(text: str) -> int | float | None:
    try:
        number = float(text.replace(",", "").strip())
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def _typed(text: str, kind: str) -> Any:
    """A value as the column holds it."""
    if kind == "number":
        number = _number(text)
        return text if number is None else number
    if kind == "boolean":
        return text.casefold() == "true"
    return text
