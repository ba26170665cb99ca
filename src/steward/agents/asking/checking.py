"""What is wrong with a reading by what definitions say: sums that mean nothing."""

from collections.abc import Iterator
from datetime import date
from typing import Final

from steward.agents.asking.compiling import nameless
from steward.agents.asking.expressions import spellings
from steward.agents.asking.reading import ColumnRef, Measured, Reading
from steward.agents.asking.tokens import name_words
from steward.agents.asking.wording import Words, listed
from steward.agents.asking.world import World, is_number_text, is_step
from steward.definitions import ColumnDefinition, ColumnFacts, quantity_of

_PLAIN_CHARTS: Final = frozenset({"histogram", "scatter", "box", "heatmap"})
_GROUPED_CHARTS: Final = frozenset({"bar", "line", "area", "pie"})
_MOST_LEFT: Final = 8
_MOSTLY: Final = 0.5
_END: Final = frozenset({"min", "max", "minimum", "maximum"})


def objections(reading: Reading, world: World) -> list[str]:
    """Sentences on why the answer would be no answer; none where it is one."""
    found = [
        problem for measure in reading.measures for problem in _of_measure(measure, reading, world)
    ]
    return list(dict.fromkeys([*found, *_not_computed(reading), *_of_groups(reading, world)]))


def _of_groups(reading: Reading, world: World) -> Iterator[str]:
    """Groups of one row each say nothing: they are counted as 1, or are as many as a figure has values."""
    counted = any(
        each.counts_rows or each.function == "count_distinct" for each in reading.measures
    )
    grouped = [each.by for each in reading.groups]
    if any(part.column in grouped for each in reading.measures for part in each.where):
        yield "The groups are those that the share is of, so each share is all or nothing."
    words = Words(world.definitions)
    shares = [each for each in reading.measures if each.share and each.column is None]
    parts = [part.column for each in shares for part in each.where]
    parts += grouped if any(not each.where for each in shares) else []
    for part in parts:
        if _is_part_of_key(part, reading, world):
            label = words.label(part, reading.table)
            yield f"Each {label} has as many rows as the others, so a share of the rows says nothing."
    for each in reading.groups:
        known = world.of(reading.table, each.by)
        if known is None or each.by.table is not None or each.unit is not None:
            continue
        _, facts, definition = known
        rows = world.datasets[reading.table].rows
        label = words.label(each.by, reading.table)
        if facts.unique and counted:
            yield f"Each {label} is in one row, so counting the rows of each says nothing."
        elif definition.role == "measure" and (facts.distinct or 0) > _MOSTLY * rows:
            yield f"{label} is a figure with a value of its own in most rows, so groups by it say little."


def _is_part_of_key(ref: ColumnRef, reading: Reading, world: World) -> bool:
    """Whether rows are one for each value of the column at each time: their number is none of what they are about."""
    facts, times = world.datasets[reading.table], set(world.times(reading.table))
    keys = [set(key) for key in (facts.key, *facts.keys) if len(key) > 1]
    return ref.table is None and any(
        ref.column in key and key - {ref.column} <= times for key in keys
    )


def _not_computed(reading: Reading) -> Iterator[str]:
    """Parts that are said, and that a query of this shape would leave out."""
    figures, plain = bool(reading.measures), reading.chart in _PLAIN_CHARTS
    if figures and not reading.groups and (reading.order or reading.limit is not None):
        yield "A figure of only some of the ranked rows cannot be computed here."
    if reading.chart in _GROUPED_CHARTS and not reading.groups:
        yield f"A {reading.chart} chart needs groups, such as one figure for each month."
    if reading.groups and not figures:
        yield "Groups need a figure, such as a number or an average."
    if reading.having and not (figures and reading.groups):
        yield "A condition on a figure needs groups."
    if figures and reading.columns and not plain:
        yield "Columns of single rows and figures of groups cannot be shown together."
    columns = [each.column for each in reading.measures if each.column is not None]
    columns += [each.by for each in reading.groups]
    ordered = [each.column for each in reading.order if figures and each.column is not None]
    if any(each not in columns for each in ordered):
        yield "Groups can be sorted by their figures and by what they are grouped by."


def _of_measure(measure: Measured, reading: Reading, world: World) -> Iterator[str]:
    if measure.share and not measure.where and measure.function not in {None, "count", "sum"}:
        name = Words(world.definitions).measure(
            measure.model_copy(update={"share": False}), reading.table
        )
        yield f"The {name} of the groups are not parts of one whole, so they have no shares."
    if measure.column is None or measure.function in {"count", "count_distinct", "min", "max"}:
        return
    known = world.of(reading.table, measure.column)
    if known is None or measure.over is not None:
        return
    table, facts, definition = known
    path = world.path(reading.table, measure.column) if table != reading.table else None
    if path is not None and any(each.cardinality != "one_to_one" for each in path.steps):
        rows = Words(world.definitions).noun(table, 2)
        yield f"Several rows of {reading.table} belong to one of the {rows}, so it would count several times."
    name = Words(world.definitions).label(measure.column, reading.table)
    if facts.kind == "text" and not is_number_text(facts):
        yield f'{name} is text. Say "read {measure.column.column} of {reading.table} as numbers" first.'
    elif definition.role == "identifier":
        yield f"{name} names rows. Adding it up or averaging it means nothing."
    elif definition.role in {"time", "text"} and measure.function != "median":
        yield f"{name} is no quantity, so it has no {'total' if measure.function == 'sum' else 'average'}."
    elif measure.function == "sum" and _never_adds_up(facts, definition):
        yield f"A total of {name} means nothing: it is no amount. Ask for the average, the lowest or the highest."
    elif _adds_up_over_time(measure, reading, world, definition.additive):
        yield f"{name} is counted again at each time, so a total over time counts it several times. Name one time, or ask per time."


def _never_adds_up(facts: ColumnFacts, definition: ColumnDefinition) -> bool:
    """Whether a person or the column says that a total means nothing; that no one knows is no reason."""
    if definition.additive != "never":
        return False
    quantity = quantity_of(facts.name)
    named = quantity is not None and quantity.additive == "never"
    known = definition.state == "confirmed" or definition.role != "measure"
    return named or known or is_number_text(facts)


def cautions(reading: Reading, world: World) -> list[str]:
    """What an answer must say of its figures: an average of what is an average already, a total no one vouches for."""
    words = Words(world.definitions)
    empty = [
        f"Rows without a {words.label(each, reading.table)} are left out."
        for each in nameless(reading, world)
        if (known := world.of(reading.table, each)) is not None and known[1].nulls
    ]
    totals = [
        f"Nothing says yet that {words.label(each.column, reading.table)} can be added up. "
        "Confirm it in the definitions."
        for each in reading.measures
        if each.column is not None
        and each.function == "sum"
        and each.over is None
        and (known := world.of(reading.table, each.column)) is not None
        and known[2].additive == "never"
    ]
    return [*empty, *totals, *_left_by_negation(reading, world)] + [
        f"{words.label(each.column, reading.table)} is an average already. "
        "This is the plain average of its rows, whatever each of them stands for."
        for each in reading.measures
        if each.column is not None
        and each.function == "avg"
        and (quantity := quantity_of(each.column.column)) is not None
        and quantity.kind == "average"
        and not _END & set(name_words(each.column.column))
    ]


def _left_by_negation(reading: Reading, world: World) -> Iterator[str]:
    """ "Not paid" takes in all other values, also cancelled ones: the answer names them."""
    words = Words(world.definitions)
    for each in reading.filters:
        known = world.of(reading.table, each.column) if each.test == "!=" else None
        if known is None or known[1].kind != "text":
            continue
        table, facts, _ = known
        values = {value.strip().casefold(): value for value in world.values(table, facts)}
        for value in (spelled for said in each.values for spelled in spellings(facts, str(said))):
            values.pop(value.strip().casefold(), None)
        if 1 < len(values) <= _MOST_LEFT and (facts.distinct or 0) <= len(facts.values):
            label = words.label(each.column, reading.table)
            yield f"That leaves the {label} {listed(list(values.values()))}."


def _adds_up_over_time(measure: Measured, reading: Reading, world: World, additive: str) -> bool:
    over_time = measure.function == "sum" and additive == "not over time"
    return over_time and bool(world.times(reading.table)) and not _is_one_time(reading, world)


def _is_one_time(reading: Reading, world: World) -> bool:
    """Whether each figure is of one time: grouped by it, or limited to one year of yearly data."""
    times = set(world.times(reading.table))
    if any(each.by.column in times for each in reading.groups):
        return True
    if any(
        each.column.column in times and each.test == "=" and len(each.values) == 1
        for each in reading.filters
    ):
        return True
    for each in reading.periods:
        facts = world.facts(reading.table, each.column.column)
        if facts is None or not (each.start and each.end):
            continue
        if facts.kind == "number" and int(each.end[:4]) - int(each.start[:4]) == 1:
            return True
        began, ended = (date.fromisoformat(text[:10]) for text in (each.start, each.end))
        if is_step(facts, (ended - began).days):
            return True
    return False
