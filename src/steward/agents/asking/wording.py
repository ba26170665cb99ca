"""Words for the parts of a reading: labels, nouns, measures, conditions and the chips that people change."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal

from steward.agents.asking.reading import (
    Asked,
    Chip,
    ColumnRef,
    Filtered,
    Grouped,
    Lacking,
    Measured,
    Ordered,
    Period,
    Reading,
)
from steward.agents.explaining.written_values import Writing
from steward.definitions import ColumnDefinition, Definitions, pointer

Source = Literal["asked", "definition", "assumed"]
FUNCTIONS: Final[Mapping[str, str]] = {
    "sum": "total",
    "avg": "average",
    "min": "smallest",
    "max": "largest",
    "median": "median",
    "stddev": "standard deviation of",
}
_OF_TIMES: Final = {"min": "earliest", "max": "latest"}
_COMPARED: Final = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"}
_OF_TIME: Final = {"<": "before", "<=": "until", ">": "after", ">=": "from"}
_MATCHED: Final = {"contains": "contains", "starts with": "starts with", "ends with": "ends with"}
_ARTICLE_AN: Final = frozenset("aeiou")
_MOST_NAMED: Final = 4


class Words:
    """How a project's tables and columns are called, by its definitions."""

    def __init__(
        self, definitions: Definitions | None = None, writing: Writing | None = None
    ) -> None:
        self.definitions = definitions or Definitions()
        self.writing = writing or Writing()

    # Names

    def column(self, ref: ColumnRef, table: str) -> ColumnDefinition | None:
        found = self.definitions.tables.get(ref.table or table)
        return found.columns.get(ref.column) if found is not None else None

    def label(self, ref: ColumnRef, table: str) -> str:
        """The name of a column as people say it, with its table where it is another one's."""
        known = self.column(ref, table)
        name = (known.label if known is not None else "") or spaced(ref.column)
        if ref.table is None or ref.table == table:
            return name
        owner = self._joined_as(ref) or self.noun(ref.table)
        return name if name.casefold().startswith(owner.casefold()) else f"{owner} {name}"

    def _joined_as(self, ref: ColumnRef) -> str:
        """What the other row is to this one, where several relationships lead there."""
        roles = (
            each.role
            for each in self.definitions.relationships
            if ref.via and each.from_columns[0] == ref.via[-1] and each.to_table == ref.table
        )
        return next((role for role in roles if role), "")

    def noun(self, table: str, count: int = 1) -> str:
        """What rows of a table are: invoice, invoices."""
        known = self.definitions.tables.get(table)
        row = known.row if known is not None else ""
        if row:
            return row if count == 1 else plural(row)
        name = spaced(table)
        return f"{'row' if count == 1 else 'rows'} of {name}"

    def unit(self, measured: Measured, table: str) -> str:
        """The unit of a figure; counts and shares have none."""
        if measured.share or measured.function in {"count", "count_distinct"}:
            return ""
        if measured.metric is not None:
            metric = self.definitions.metrics.get(measured.metric)
            return metric.unit if metric is not None else ""
        known = self.column(measured.column, table) if measured.column is not None else None
        return known.unit if known is not None else ""

    # Parts in a sentence

    def measure(self, measured: Measured, table: str, *, of: str = "") -> str:
        """Such as `total gross`, `share of cars with 8 cylinders`; `of` goes between function and column."""
        if measured.share and measured.where:
            conditions = joined([self.condition(each, table) for each in measured.where])
            column = measured.column
            of = self.noun(table, 2) if column is None else f"the total {self.label(column, table)}"
            return f"share of {of}{conditions}"
        if measured.share:
            return f"share of the {self._figure(measured, table, '')}"
        name = self._figure(measured, table, of)
        if measured.along == "running":
            return f"running {name}"
        return f"change of {name}" if measured.along == "change" else name

    def _figure(self, measured: Measured, table: str, of: str) -> str:
        if measured.metric is not None:
            return spaced(measured.metric)
        if measured.function == "count_distinct" and measured.column is not None:
            return f"number of different {plural(self.label(measured.column, table))}"
        if measured.column is None or measured.function is None or measured.function == "count":
            filled = "" if measured.column is None else f" with {self._a(measured.column, table)}"
            return f"{self._on_average(measured)}number of {self.noun(table, 2)}{filled}{self._each(measured, table)}"
        known = self.column(measured.column, table)
        is_time = known is not None and known.role == "time"
        word = (_OF_TIMES if is_time else {}).get(measured.function) or FUNCTIONS[measured.function]
        of = "" if word.endswith(" of") else of
        if measured.over is not None:
            return f"ratio of {self.label(measured.column, table)} to {self.label(measured.over, table)}"
        if measured.minus is not None:
            both = f"{self.label(measured.column, table)} and {self.label(measured.minus, table)}"
            return f"{word.removesuffix(' of')} difference between {both}"
        return f"{word} {of}{self.label(measured.column, table)}"

    @staticmethod
    def _on_average(measured: Measured) -> str:
        return "" if measured.per is None else "average "

    def _each(self, measured: Measured, table: str) -> str:
        """What a figure is of on average: ` per customer`."""
        if measured.per is None:
            return ""
        led = (
            each.role or self.noun(each.to_table)
            for each in self.definitions.relationships
            if each.from_table == table and each.from_columns == [measured.per.column]
        )
        return f" per {next(led, self.label(measured.per, table))}"

    def _a(self, ref: ColumnRef, table: str) -> str:
        label = self.label(ref, table)
        return f"{'an' if label[:1].casefold() in _ARTICLE_AN else 'a'} {label}"

    def group(self, grouped: Grouped, table: str) -> str:
        """Such as `country`, `month`, `month of due date`."""
        label = self.label(grouped.by, table)
        stretch = grouped.unit or grouped.part
        if stretch is None:
            return label
        known = self.definitions.tables.get(table)
        usual = known.default_time if known is not None else None
        is_usual = grouped.by.table in (None, table) and grouped.by.column == usual
        return stretch if is_usual else f"{stretch} of {label}"

    def condition(self, filtered: Filtered, table: str) -> str:
        """Such as `with 8 cylinders`, `with more than 200 horsepower`, `with the origin Japan`, `with no age`."""
        if filtered.test in {"is", "is not"}:
            word = "not " if filtered.test == "is not" else ""
            return f"that are {word}{listed([spaced(str(each)) for each in filtered.values])}"
        label, values = self.label(filtered.column, table), filtered.values
        if filtered.than is not None:
            word = {">": "above", "<": "below", "=": "equal to"}.get(filtered.test, filtered.test)
            return (
                f"with {self._a(filtered.column, table)} {word} {self.label(filtered.than, table)}"
            )
        known = self.column(filtered.column, table)
        test = filtered.test
        if test == "empty":
            return f"with no {label}"
        if test == "not empty":
            return f"with {self._a(filtered.column, table)}"
        if test in _MATCHED:
            return f"whose {label} {_MATCHED[test]} {_either([f'“{each}”' for each in values])}"
        said = [self.value(each) for each in values]
        numeric = bool(values) and all(_is_number(each) for each in values)
        if known is not None and known.role == "time":
            return f"whose {label} is {_OF_TIME.get(test, 'not' if test == '!=' else '')} {_either(said)}".replace(
                "  ", " "
            )
        if test == "between":
            return f"with {' to '.join(said)} {label}"
        if test in _COMPARED:
            return f"with {_COMPARED[test]} {_either(said)} {label}"
        if test == "!=":
            return f"without {f'{_either(said)} {label}' if numeric else f'the {label} {_either(said)}'}"
        return f"with {_either(said)} {label}" if numeric else f"with the {label} {_either(said)}"

    def lacking(self, lacking: Lacking) -> str:
        """Such as `without overdue invoices in 2024`."""
        segments = "".join(f"{spaced(each)} " for each in lacking.segments)
        conditions = joined([self.condition(each, lacking.table) for each in lacking.filters])
        times = "".join(f" {self.period(each, lacking.table)}" for each in lacking.periods)
        return f"without {segments}{self.noun(lacking.table, 2)}{conditions}{times}"

    def period(self, period: Period, table: str) -> str:
        """Such as `in 2024`, `from March 2021 to September 2026`, `since 2020`."""
        other = self._by_time(period, table)
        span = span_of(period.start, period.end)
        if span is not None:
            return f"in {span}{other}" if " " in span or span.isdigit() else f"on {span}{other}"
        first = as_month(period.start)
        last = as_month(_day_before(period.end), is_end=True)
        if first and last:
            return f"from {first} to {last}{other}"
        if first:
            return f"since {first}{other}"
        return f"until {last}{other}" if last else period.said

    def _by_time(self, period: Period, table: str) -> str:
        """The time that a stretch is of, where it is not the usual one."""
        known = self.definitions.tables.get(table)
        usual = known.default_time if known is not None else None
        return "" if period.column.column == usual else f" by {self.label(period.column, table)}"

    def value(self, value: Any) -> str:
        """A value as the reader writes it."""
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float):
            # A year or a number of cylinders: whole numbers below 10,000 go without marks.
            plain = isinstance(value, int) and abs(value) < 10_000
            return str(value) if plain else self.writing.number(value)
        return str(value)

    # Chips

    def chips(
        self, reading: Reading, sources: Mapping[str, Source] | None = None
    ) -> tuple[Chip, ...]:
        """Every part of a reading as people see and change it; `sources` by pointer."""
        known = sources or {}
        return tuple(
            chip.model_copy(
                update={
                    "source": known.get(chip.pointer, chip.source),
                    "entry": self._entry(chip.pointer, reading),
                }
            )
            for chip in self._chips(reading)
        )

    def _entry(self, place: str, reading: Reading) -> str | None:
        """The definition that a part is read by, as a pointer."""
        kind, _, index = place[1:].partition("/")
        known = self.definitions.tables.get(reading.table)
        part = getattr(reading, kind, None)
        part = part[int(index)] if index and isinstance(part, list) else part
        match part:
            case Measured(metric=str(metric)) if metric in self.definitions.metrics:
                return pointer("metrics", metric)
            case Filtered(test="is" | "is not", values=[str(segment), *_]):
                return pointer("tables", reading.table, "segments", segment)
            case Measured(column=ColumnRef() as ref) | Filtered(column=ref) | Period(column=ref):
                return self._entry_of(ref, reading.table) if kind != "having" else None
            case Grouped(by=ref):
                return self._entry_of(ref, reading.table)
            case str(segment) if kind == "segments" and known and segment in known.segments:
                return pointer("tables", reading.table, "segments", segment)
        if kind == "table" and known is not None:
            return pointer("tables", reading.table)
        if kind == "without_defaults" and known is not None:
            first = known.default_filters[0].where
            return pointer("tables", reading.table, "default_filters", first)
        return None

    def _entry_of(self, ref: ColumnRef, table: str) -> str | None:
        if self.column(ref, table) is None:
            return None
        return pointer("tables", ref.table or table, "columns", ref.column)

    def _chips(self, reading: Reading) -> Iterator[Chip]:
        table = reading.table
        yield Chip(kind="table", text=spaced(table), pointer="/table")
        for index, measured in enumerate(reading.measures):
            text = self.measure(measured, table, of="of ")
            kind: Literal["share", "measure"] = "share" if measured.share else "measure"
            yield Chip(kind=kind, text=text, pointer=f"/measures/{index}")
        for index, grouped in enumerate(reading.groups):
            text = f"by {self.group(grouped, table)}"
            source: Source = "definition" if grouped.is_unit else "asked"
            yield Chip(kind="group", text=text, pointer=f"/groups/{index}", source=source)
        for index, segment in enumerate(reading.segments):
            yield Chip(
                kind="segment",
                text=f"only {segment}",
                pointer=f"/segments/{index}",
                source="definition",
            )
        for index, filtered in enumerate(reading.filters):
            text = self.filter_chip(filtered, table)
            yield Chip(kind="filter", text=text, pointer=f"/filters/{index}")
        for index, lacking in enumerate(reading.lacking):
            yield Chip(kind="filter", text=self.lacking(lacking), pointer=f"/lacking/{index}")
        for index, period in enumerate(reading.periods):
            said = f"{period.said}{self._by_time(period, table)}" if period.said else ""
            text = said or self.period(period, table)
            yield Chip(kind="period", text=text, pointer=f"/periods/{index}")
        for index, filtered in enumerate(reading.having):
            text = self.having(filtered, reading)
            yield Chip(kind="having", text=text, pointer=f"/having/{index}")
        if reading.columns:
            names = [self.label(each, table) for each in reading.columns]
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            text = f"columns {', '.join(names[:_MOST_NAMED])}{more}"
            yield Chip(kind="columns", text=text, pointer="/columns")
        yield from self._rank_chips(reading)
        if reading.chart is not None:
            yield Chip(kind="chart", text=chart_name(reading.chart), pointer="/chart")
        yield from self._default_chips(reading)

    def _rank_chips(self, reading: Reading) -> Iterator[Chip]:
        if not reading.order:
            if reading.limit is not None:
                yield Chip(kind="rank", text=f"first {reading.limit}", pointer="/limit")
            return
        first = reading.order[0]
        if first.by == "measure" and reading.limit is not None:
            word = "largest" if first.descending else "smallest"
            yield Chip(kind="rank", text=f"{word} {reading.limit}", pointer="/limit")
            return
        limit = "" if reading.limit is None else f", first {reading.limit}"
        text = f"{self.order(first, reading)}{limit}"
        yield Chip(kind="rank", text=text, pointer="/limit")

    def _default_chips(self, reading: Reading) -> Iterator[Chip]:
        known = self.definitions.tables.get(reading.table)
        if known is None or reading.without_defaults or not known.default_filters:
            return
        said = ", ".join(each.say for each in known.default_filters)
        yield Chip(kind="filter", text=said, pointer="/without_defaults", source="definition")

    def order(self, ordered: Ordered, reading: Reading) -> str:
        if ordered.by == "measure":
            return "largest first" if ordered.descending else "smallest first"
        if ordered.by == "group" and reading.groups:
            by = self.group(reading.groups[0], reading.table)
        elif ordered.column is not None:
            by = self.label(ordered.column, reading.table)
        else:
            by = "group"
        return f"ordered by {by}{', descending' if ordered.descending else ''}"

    def filter_chip(self, filtered: Filtered, table: str) -> str:
        values = filtered.values
        if filtered.test in {"is", "is not"}:
            word = "without" if filtered.test == "is not" else "only"
            return f"{word} {listed([str(each) for each in values])}"
        known = self.column(filtered.column, table)
        named = known is not None and known.role == "identifier"
        if filtered.test == "=" and named:
            label = self.label(filtered.column, table)
            return f"{label} {_either([str(each) for each in values])}"
        plain = bool(values) and not any(_is_number(each) or each is None for each in values)
        if filtered.test == "=" and plain and not any(isinstance(each, bool) for each in values):
            return f"only {_either([self.value(each) for each in values])}"
        if filtered.test == "!=" and plain:
            return f"without {_either([self.value(each) for each in values])}"
        return self.condition(filtered, table).removeprefix("with ").removeprefix("whose ")

    def having(self, filtered: Filtered, reading: Reading) -> str:
        said = " to ".join(self.value(each) for each in filtered.values)
        what = self.measure(reading.measures[0], reading.table) if reading.measures else "rows"
        word = {"=": "exactly", "!=": "not", "between": "between"}.get(filtered.test)
        return f"{what} {word or _COMPARED.get(filtered.test, filtered.test)} {said}"

    def told(self, asked: Asked) -> Asked:
        """With the words that people see: chips and lines, where nobody wrote them yet."""
        chips = asked.chips
        if not chips and asked.reading is not None:
            chips = list(self.chips(asked.reading, dict.fromkeys(asked.assumed_at, "assumed")))
        lines = asked.nearest_lines or [self.line(each) for each in asked.nearest]
        return asked.model_copy(update={"chips": chips, "nearest_lines": lines})

    def line(self, reading: Reading) -> str:
        """The whole reading in one line, as the terminal and choices show it."""
        return " · ".join(chip.text for chip in self.chips(reading))


def chart_name(shape: str) -> str:
    names = {
        "scatter": "scatter plot",
        "histogram": "histogram",
        "box": "box plot",
        "heatmap": "heat map",
    }
    return names.get(shape, f"{shape} chart")


def spaced(name: str) -> str:
    """A name of code as words: due_date and dueDate are both due date."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace(".", " ")
    words = parted.split()
    is_code = name != parted or "_" in name
    return " ".join(
        word.lower() if is_code and not word.isupper() else word for word in words
    ) or name  # fmt: skip


def plural(noun: str) -> str:
    """The English plural of the last word; a word that ends in s is taken for one."""
    lower = noun.casefold()
    if lower.endswith(("ss", "us", "x", "ch", "sh")):
        return f"{noun}es"
    if lower.endswith("s") or not lower[-1:].isalpha():
        return noun
    if lower.endswith("y") and lower[-2:-1] not in _ARTICLE_AN:
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def listed(words: Sequence[str], last: str = "and") -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def joined(conditions: Sequence[str]) -> str:
    """Conditions behind a noun, with a space before: ` with 8 cylinders and the origin Japan`."""
    told: list[str] = []
    for each in conditions:
        if told and told[-1].startswith("with ") and each.startswith("with "):
            # One `with` is enough for both.
            told[-1] = f"{told[-1]} and {each.removeprefix('with ')}"
        else:
            told.append(each)
    return f" {listed(told)}" if told else ""


def span_of(start: str | None, end: str | None) -> str | None:
    """A whole year, quarter, month or day by its name; None for any other stretch."""
    first, after = _day(start), _day(end)
    if first is None or after is None:
        return None
    if (first.month, first.day) == (1, 1) and after == date(first.year + 1, 1, 1):
        return str(first.year)
    months = (after.year - first.year) * 12 + after.month - first.month
    if first.day == after.day == 1:
        if months == 1:
            return f"{first:%B %Y}"
        if months == 3 and first.month % 3 == 1:
            return f"Q{(first.month + 2) // 3} {first.year}"
    return first.isoformat() if after - first == timedelta(days=1) else None


def as_month(text: str | None, *, is_end: bool = False) -> str:
    """A day as its month where it is the month's first or, for an end, its last."""
    day = _day(text)
    if day is None:
        return text or ""
    whole = (day + timedelta(days=1)).day == 1 if is_end else day.day == 1
    return f"{day:%B %Y}" if whole else day.isoformat()


def _day_before(text: str | None) -> str | None:
    day = _day(text)
    return text if day is None else (day - timedelta(days=1)).isoformat()


def _day(text: str | None) -> date | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    if moment is None or (moment.hour, moment.minute, moment.second) != (0, 0, 0):
        return None
    return moment.date()


def _either(words: Sequence[str]) -> str:
    shown = list(words[:_MOST_NAMED])
    if len(words) > _MOST_NAMED:
        return f"{', '.join(shown)} or {len(words) - _MOST_NAMED} others"
    return listed(shown, "or")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
