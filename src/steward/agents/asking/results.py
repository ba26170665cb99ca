"""Looks at the rows of a result before they are told as an answer: shares that are no shares, conditions that left nothing."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any, Final

from steward.agents.asking.answering import Result, number_in, places_of
from steward.agents.asking.reading import Asked, Filtered, Period, Reading
from steward.agents.asking.wording import Words, as_month, listed
from steward.agents.asking.world import World

_MOST_VALUES: Final = 8
_ROUNDED: Final = Decimal("0.005")


def checked_result(asked: Asked | None, result: Result | None, world: World) -> Asked | None:
    """What is told of a result: as it was read, or with what the rows show to be wrong."""
    if asked is None or asked.status != "fact" or asked.reading is None or result is None:
        return asked
    reading = asked.reading
    wrong = list(_no_shares(reading, result))
    if wrong:
        update = {"status": "proposal", "problems": wrong, "nearest": [reading]}
        return asked.model_copy(update=update)
    told = list(_why_nothing(reading, world)) if _is_nothing(reading, result) else []
    return asked.model_copy(update={"problems": [*asked.problems, *told]}) if told else asked


def _no_shares(reading: Reading, result: Result) -> Iterator[str]:
    """Parts of one whole add up to it, or they are no parts."""
    shared = any(each.share and not each.where for each in reading.measures)
    cut = result.is_cut or reading.limit is not None or bool(reading.having)
    if not shared or cut or not result.rows:
        return
    place = places_of(reading, result.names)[0]
    parts = [
        number for record in result.records if (number := number_in(record[place])) is not None
    ]
    whole = sum(parts, Decimal(0))
    if parts and abs(whole - 1) > _ROUNDED:
        yield f"These are no shares: together they are {float(whole):.1%}, not 100%."


def _is_nothing(reading: Reading, result: Result) -> bool:
    if not (reading.filters or reading.periods or reading.segments):
        return False
    if not result.records:
        return True
    if not reading.measures or reading.groups or len(result.records) > 1:
        return False
    return all(number_in(value) in (None, 0) for value in result.records[0])


def _why_nothing(reading: Reading, world: World) -> Iterator[str]:
    """The conditions that no row can meet, with what there is instead."""
    for each in reading.filters:
        yield from _filtered_out(each, reading, world)
    for period in reading.periods:
        yield from _out_of_time(period, reading, world)


def _filtered_out(each: Filtered, reading: Reading, world: World) -> Iterator[str]:
    known = world.of(reading.table, each.column)
    if known is None or each.test not in {"=", "<", "<=", ">", ">=", "between"}:
        return
    table, facts, _ = known
    label = Words(world.definitions).label(each.column, reading.table)
    if facts.kind == "text" and each.test == "=":
        there = world.values(table, facts)
        said = {str(value).casefold() for value in there}
        missing = [str(value) for value in each.values if str(value).casefold() not in said]
        if missing and there and (facts.distinct or 0) <= len(there):
            yield f"No row has the {label} “{missing[0]}”. {_there_is(there)}"
    elif facts.low is not None and facts.high is not None:
        numbers = [value for value in each.values if isinstance(value, int | float)]
        if numbers and not any(
            _can_meet(each.test, value, facts.low, facts.high) for value in numbers
        ):
            yield f"{label} goes from {facts.low:g} to {facts.high:g}."


def _there_is(values: tuple[str, ...]) -> str:
    more = " and others" if len(values) > _MOST_VALUES else ""
    return f"There is: {listed(list(values[:_MOST_VALUES]))}{more}."


def _can_meet(test: str, value: float, low: float, high: float) -> bool:
    if test in {"<", "<="}:
        return value > low or (test == "<=" and value == low)
    if test in {">", ">="}:
        return value < high or (test == ">=" and value == high)
    return low <= value <= high


def _out_of_time(period: Period, reading: Reading, world: World) -> Iterator[str]:
    known = world.of(reading.table, period.column)
    if known is None:
        return
    facts = known[1]
    first, last = _ends(facts)
    starts_late = period.start is not None and last is not None and period.start[:10] > last
    ends_early = period.end is not None and first is not None and period.end[:10] <= first
    if first and last and (starts_late or ends_early):
        yield f"The data is from {as_month(first)} to {as_month(last)}."


def _ends(facts: Any) -> tuple[str | None, str | None]:
    if facts.kind == "number" and facts.low is not None and facts.high is not None:
        return f"{int(facts.low):04d}-01-01", f"{int(facts.high):04d}-12-31"
    ends = [(each or "")[:10] or None for each in (facts.first, facts.last)]
    return tuple(each if _is_day(each) else None for each in ends)  # type: ignore[return-value]


def _is_day(text: str | None) -> bool:
    try:
        return text is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False
