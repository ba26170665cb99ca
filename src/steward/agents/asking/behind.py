"""The row behind a figure: "the highest price, and when?", and the figures of each time where a time has one row."""

from collections.abc import Sequence
from typing import Final

from steward.agents.asking.parts import Parsed
from steward.agents.asking.reading import ColumnRef, Grouped, Measured, Ordered, Reading
from steward.agents.asking.world import World

_ENDS: Final = frozenset({"min", "max"})


def end_of_one_column(
    measures: Sequence[Measured], groups: Sequence[Grouped]
) -> tuple[ColumnRef, bool] | None:
    """The column whose highest or lowest value is all that is asked for, and whether it is the highest."""
    if len(measures) != 1 or groups or measures[0].function not in _ENDS:
        return None
    column = measures[0].column
    return None if column is None else (column, measures[0].function == "max")


def asked_columns(words: Sequence[str], world: World, table: str) -> list[ColumnRef]:
    """What "when" and "who" ask for: the table's time, and the column that names its rows."""
    time = world.time_of(table) if "when" in words else None
    name = world.table(table).name_column if "who" in words else None
    return [ColumnRef(column=each) for each in (time, name) if each is not None]


def row_behind(parsed: Parsed, columns: Sequence[ColumnRef]) -> bool:
    """Makes a figure the row that it is of, with these columns; says whether that can be."""
    end = end_of_one_column(parsed.measures, parsed.groups)
    if end is None or not columns or parsed.order or parsed.limit is not None or parsed.having:
        return False
    figure, descending = end
    parsed.measures, parsed.rows, parsed.limit = [], True, 1
    parsed.columns = distinct([*parsed.columns, *columns, figure])
    parsed.order = [Ordered(by="column", column=figure, descending=descending)]
    return True


def changed_to_row(last: Reading, columns: Sequence[ColumnRef]) -> Reading | None:
    """The row behind the figure of the last answer, with these columns; None where it was no such figure."""
    end = end_of_one_column(last.measures, last.groups)
    if end is None or not columns:
        return None
    figure, descending = end
    return last.model_copy(
        update={
            "measures": [],
            "columns": distinct([*columns, figure]),
            "order": [Ordered(by="column", column=figure, descending=descending)],
            "limit": 1,
            "chart": None,
        }
    )


def distinct(columns: Sequence[ColumnRef]) -> list[ColumnRef]:
    return [each for at, each in enumerate(columns) if each not in columns[:at]]
