"""What a question can be about: tables, columns and their definitions, and the ways from one table to another."""

import re
from calendar import day_name
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

from steward.agents.asking.reading import LONGEST_NAME, ColumnRef, Grouped, Measured
from steward.agents.asking.tokens import NOTHING, name_words, number_of, plain
from steward.definitions import (
    ColumnDefinition,
    ColumnFacts,
    DatasetFacts,
    Definitions,
    Relationship,
    TableDefinition,
    columns_in,
    parse_condition,
)

_LONGEST_PATH: Final = 3
_ABOUT: Final = 0.1
_TITLE_WORD: Final = re.compile(
    r"\s*\b(?:of|in|and|with|from|at|for|by|on|to|per|since|during)\b.*|\s+|(?=[^\w\s])"
)
"""Ends the words before the first small word of a title, and parts them."""


@dataclass(frozen=True)
class FoundValue:
    """A value of a column that a word of the message is, found in the data."""

    table: str
    column: str
    value: str


@dataclass(frozen=True)
class Path:
    """Relationships followed from one table to another; each leads to one row."""

    steps: tuple[Relationship, ...]

    @property
    def via(self) -> list[str]:
        return [step.from_columns[0] for step in self.steps]

    @property
    def role(self) -> str:
        return self.steps[0].role


@dataclass(frozen=True)
class World:
    datasets: Mapping[str, DatasetFacts]
    definitions: Definitions
    found: Sequence[FoundValue] = field(default=())
    title: str = ""
    """What people named the project."""

    def __post_init__(self) -> None:
        """Leaves out columns that no reading can name: their names are empty or too long."""
        nameable = {name: _nameable(each) for name, each in self.datasets.items()}
        object.__setattr__(self, "datasets", nameable)

    def facts(self, table: str, column: str) -> ColumnFacts | None:
        dataset = self.datasets.get(table)
        return None if dataset is None else dataset.column(column)

    @cached_property
    def _found(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for each in self.found:
            found.setdefault((each.table, each.column), []).append(each.value)
        return found

    def values(self, table: str, facts: ColumnFacts) -> tuple[str, ...]:
        """Values of a column that are known: frequent ones, and those that the message names."""
        return tuple(dict.fromkeys((*facts.values, *self._found.get((table, facts.name), ()))))

    def table(self, name: str) -> TableDefinition:
        return self.definitions.tables.get(name) or TableDefinition()

    def column(self, table: str, name: str) -> ColumnDefinition:
        """Its definition; of a column without one, the cautious guess by its type."""
        known = self.table(table).columns.get(name)
        facts = self.facts(table, name)
        if known is not None and not (known.state == "proposed" and is_number_text(facts)):
            return known
        if is_number_text(facts):
            return ColumnDefinition(role="measure", total="avg", additive="never")
        if facts is not None and (facts.is_time or facts.is_date_text):
            return ColumnDefinition(role="time")
        if facts is not None and facts.kind == "number" and not facts.is_reference:
            return ColumnDefinition(role="measure", additive="never")
        return ColumnDefinition(role="dimension")

    def of(self, base: str, ref: ColumnRef) -> tuple[str, ColumnFacts, ColumnDefinition] | None:
        """The table, facts and definition of a column of a reading."""
        table = ref.table or base
        facts = self.facts(table, ref.column)
        return None if facts is None else (table, facts, self.column(table, facts.name))

    @cached_property
    def _paths(self) -> dict[str, dict[str, list[Path]]]:
        return {name: dict(self._leading(name)) for name in self.datasets}

    def paths(self, base: str) -> Mapping[str, list[Path]]:
        """Tables that rows of this one lead to, with every way; none of them multiplies rows."""
        return self._paths.get(base, {})

    def _leading(self, base: str) -> Iterator[tuple[str, list[Path]]]:
        found: dict[str, list[Path]] = {}
        begun = [Path(())]
        for _ in range(_LONGEST_PATH):
            longer: list[Path] = []
            for path in begun:
                at = path.steps[-1].to_table if path.steps else base
                for step in self._from(at):
                    if step.to_table == base or step.to_table not in self.datasets:
                        continue
                    longer.append(Path((*path.steps, step)))
            for path in longer:
                target = path.steps[-1].to_table
                shortest = min((len(each.steps) for each in found.get(target, [])), default=9)
                if len(path.steps) <= shortest:
                    found.setdefault(target, []).append(path)
            begun = longer
        yield from found.items()

    def leading_to(self, table: str) -> list[Relationship]:
        """Relationships of other tables whose rows each lead to one row of this one."""
        return [
            each
            for each in self.definitions.relationships
            if each.to_table == table and each.from_table in self.datasets
        ]

    def _from(self, table: str) -> Iterator[Relationship]:
        for each in self.definitions.relationships:
            if each.from_table == table:
                yield each
            elif each.to_table == table and each.cardinality == "one_to_one":
                yield Relationship(
                    from_table=each.to_table,
                    from_columns=each.to_columns,
                    to_table=each.from_table,
                    to_columns=each.from_columns,
                    cardinality="one_to_one",
                    role=each.role,
                )

    def path(self, base: str, ref: ColumnRef) -> Path | None:
        """The one way to the column's table; None where there is none or several and none is chosen."""
        ways = self.paths(base).get(ref.table or base, [])
        if ref.via:
            ways = [each for each in ways if each.via == list(ref.via)]
        return ways[0] if len(ways) == 1 else None

    def unit_column(self, base: str, measured: Measured) -> ColumnRef | None:
        """The column that says what each row's amounts are in, where there are several units."""
        if measured.metric is not None:
            metric = self.definitions.metrics.get(measured.metric)
            if metric is None or metric.unit:
                return None
            refs = [ColumnRef(column=name) for name in sorted(columns_in(metric.formula))]
        elif measured.column is None or measured.function in {"count", "count_distinct"}:
            return None
        else:
            refs = [measured.column]
        for ref in refs:
            table = ref.table or base
            name = self.column(table, ref.column).unit_column
            facts = self.facts(table, name) if name is not None else None
            if facts is not None and facts.distinct != 1:
                return ref.model_copy(update={"column": facts.name})
        return None

    def times(self, table: str) -> list[str]:
        """The columns that say when, the default first."""
        dataset = self.datasets[table]
        names = [each.name for each in dataset.columns if each.name and self.is_time(table, each)]
        default = self.table(table).default_time
        if default is not None and dataset.column(default) is not None:
            return [default, *(each for each in names if each != default)]
        return names

    def is_time(self, table: str, facts: ColumnFacts) -> bool:
        role = self.column(table, facts.name).role
        return (
            role == "time" or facts.is_time or facts.is_date_text or self._says_when(table, facts)
        )

    def _says_when(self, table: str, facts: ColumnFacts) -> bool:
        """Of a dataset that nobody profiled only the name can tell that text is dates."""
        if self.datasets[table].profiled or facts.kind != "text":
            return False
        return bool({"date", "at", "on"} & set(name_words(facts.name)[-1:]))

    def calendar(self, table: str) -> dict[str, str]:
        """Columns that hold the number of a year, month or day, by the unit."""
        found: dict[str, str] = {}
        for name, each in self.table(table).columns.items():
            facts = self.facts(table, name)
            is_part = each.unit in {"year", "quarter", "month", "day", "hour"}
            is_number = facts is not None and facts.kind == "number"
            if is_part and is_number and name_words(name) == (each.unit,):
                found.setdefault(each.unit, name)
        return found

    def names_of_weekdays(self, table: str) -> str | None:
        """The column that holds names of weekdays, in full or shortened, where there is one."""
        found = [
            each.name
            for each in self.datasets[table].columns
            if each.kind == "text" and each.values and (each.distinct or 0) <= len(each.values)
            if all(_is_weekday(value) for value in each.values)
        ]
        return found[0] if len(found) == 1 else None

    def is_stretch(self, base: str, group: Grouped) -> bool:
        """Whether a group is a stretch of time: of a time column, or a column that holds the number of a year or month."""
        if group.unit is not None:
            return True
        table = group.by.table or base
        return group.by.column in self.calendar(table).values()

    def row_unit(self, table: str) -> str | None:
        """The stretch of time that each row is about, where there is one row for each: `day` of daily weather."""
        name = self.time_of(table)
        facts = self.facts(table, name) if name is not None else None
        if facts is None or not facts.unique:
            return None
        if facts.kind == "date" or facts.is_date_text:
            return "day"
        return "year" if facts.kind == "number" else None

    @cached_property
    def row_noun(self) -> str | None:
        """What the rows of the only table are by the project's name: "stations" of "Stations of the Paris metro".

        Rows that follow each other in time are no such things: a project named after jobs counts them in a column.
        """
        if len(self.datasets) != 1:
            return None
        (table,) = self.datasets
        if self.row_unit(table) is not None:
            return None
        head = list(takewhile(str.isalpha, _TITLE_WORD.split(self.title.strip().casefold())))
        noun = head[-1] if head else ""
        return noun if plain(noun) != noun else None

    def time_of(self, table: str) -> str | None:
        """The time column that a period is about where none is named; None where nobody can tell."""
        times = self.times(table)
        if self.table(table).default_time in times or len(times) == 1:
            return times[0]
        real = [name for name in times if self.datasets[table].column(name).kind != "number"]  # type: ignore[union-attr]
        return real[0] if len(real) == 1 else None

    def condition(self, table: str, where: str) -> dict[str, Any]:
        """A condition of a definition as a piece of a query plan."""
        found = parse_condition(where, self.datasets[table].names)
        document: dict[str, Any] = found.model_dump(mode="json", by_alias=True, exclude_none=True)
        return document


def is_number_text(facts: ColumnFacts | None) -> bool:
    """Numbers with a few words such as NA among them; they are read as numbers, and that is told."""
    if facts is None or facts.kind != "text" or "number_text" not in facts.meanings:
        return False
    return all(
        each.strip().upper() in NOTHING or number_of(each.strip().lstrip("-")) is not None
        for each in facts.values
    )


def _is_weekday(text: str) -> bool:
    word = text.strip().casefold()
    return len(word) > 1 and any(each.casefold().startswith(word) for each in day_name)


def _nameable(dataset: DatasetFacts) -> DatasetFacts:
    columns = tuple(each for each in dataset.columns if 0 < len(each.name) <= LONGEST_NAME)
    return dataset if len(columns) == len(dataset.columns) else replace(dataset, columns=columns)


def is_step(facts: ColumnFacts, days: float) -> bool:
    """Whether the dates of a column are about so many days apart: 30 of monthly figures."""
    if facts.first is None or facts.last is None or (facts.distinct or 0) <= 1:
        return False
    first, last = (date.fromisoformat(each[:10]) for each in (facts.first, facts.last))
    step = (last - first).days / ((facts.distinct or 0) - 1)
    return abs(days - step) <= _ABOUT * step
