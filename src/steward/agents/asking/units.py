"""Amounts in several units: one figure for each, and no ranking of euros among crowns."""

from steward.agents.asking.reading import ColumnRef, Filtered, Grouped, Measured, Reading
from steward.agents.asking.wording import Words, plural
from steward.agents.asking.world import World


def in_units(reading: Reading, world: World) -> tuple[Reading, list[str], list[str]]:
    """The reading with one figure per unit; what is assumed, and the pointers of what was added.

    Figures of several units cannot be ranked, or be parts of one whole: then it is the unit that most rows have.
    """
    assumed: list[str] = []
    places: list[str] = []
    asked_for = [each for each in reading.groups if not each.is_unit]
    reading = reading.model_copy(update={"groups": asked_for})
    for unit in _units(reading, world):
        if _is_of_one(reading, unit):
            continue
        if not _compares(reading):
            group = Grouped(by=unit, is_unit=True)
            reading = reading.model_copy(update={"groups": [*reading.groups, group]})
            continue
        facts = world.facts(unit.table or reading.table, unit.column)
        if facts is None or not facts.values:
            continue
        only = Filtered(column=unit, test="=", values=[facts.values[0]])
        places.append(f"/filters/{len(reading.filters)}")
        reading = reading.model_copy(update={"filters": [*reading.filters, only]})
        label = Words(world.definitions).label(unit, reading.table)
        assumed.append(
            f"The amounts have several {plural(label)}, which cannot be compared. "
            f"This is only {facts.values[0]}, the most frequent one."
        )
    return reading, assumed, places


def _units(reading: Reading, world: World) -> list[ColumnRef]:
    measured = list(reading.measures)
    if not measured:
        # Rows that are ranked by an amount.
        ranked = [each.column for each in reading.order if reading.limit is not None]
        measured = [Measured(function="max", column=each) for each in ranked if each is not None]
    found = [world.unit_column(reading.table, each) for each in measured]
    return [each for each in found if each is not None]


def _is_of_one(reading: Reading, unit: ColumnRef) -> bool:
    """Whether each figure is of one unit: grouped by it, or limited to one."""
    if any(each.by == unit for each in reading.groups):
        return True
    return any(
        each.column == unit and each.test == "=" and len(each.values) == 1
        for each in reading.filters
    )


def _compares(reading: Reading) -> bool:
    ranks = reading.limit is not None and bool(reading.order)
    return ranks or bool(reading.having) or any(each.share for each in reading.measures)
