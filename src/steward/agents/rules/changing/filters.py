"""Which rows a changed query looks at: conditions that come and go, and its stretch of time."""

from datetime import date
from typing import Final

from steward.agents.rules.changing.figures import regroup
from steward.agents.rules.changing.work import MOST_ROWS, Work
from steward.agents.rules.conditions import Conditions
from steward.agents.rules.expressions import Piece, column, compared, value
from steward.agents.rules.frames import is_about, moved, period_of
from steward.agents.rules.grouping import Dimension, Grouping
from steward.agents.rules.naming import columns_in, date_column, is_date
from steward.agents.rules.periods import shifted
from steward.agents.rules.querying import filter_elsewhere, side_by_side
from steward.agents.rules.vocabulary import COMPARE, UNITS

_BACK: Final = ("{} before", "previous {}", "prior {}", "{} earlier", "preceding {}")
_ON: Final = ("{} after", "next {}", "following {}", "{} later")
_NO_FILTER: Final = ("remove filter", "remove that filter", "remove the filter", "without filter", "no filter",
                     "without the filter", "clear filter", "all data", "everything", "drop the filter")  # fmt: skip
_EVER: Final = ("all year", "all time", "all month", "any time", "whole time", "entire period", "all period",
                "every year", "all quarter")  # fmt: skip


def add_conditions(work: Work, conditions: Conditions) -> None:
    made = work.made
    work.used |= conditions.used
    for piece, about in zip(conditions.filters, conditions.about, strict=True):
        if not _excludes(piece):
            # A new condition on a column takes the place of the old one: "only 2024" after "only 2025".
            work.no_filters_about(about)
    if conditions.filters:
        made.setdefault("filters", []).extend(conditions.filters)
        work.said.append(f"rows by {' and '.join(dict.fromkeys(conditions.about))}")
    for sign, number in conditions.groups if made.get("group") else ():
        name = made["aggregate"][0]["name"]
        made.setdefault("having", []).append(compared(column(name), sign, value(number)))
        work.said.append(f"{name.replace('_', ' ')} {sign} {number}")
    before = len(made.get("filters", ()))
    named = columns_in(work.ask, work.dataset)
    taken = work.used | {n for each in named for n in range(each.start, each.end)}
    work.used |= filter_elsewhere(work.ask, work.dataset, made, taken)
    if len(made.get("filters", ())) > before:
        work.said.append("rows by what they refer to")
    if not made.get("aggregate") and "limit" not in made and made.get("filters"):
        made["limit"] = MOST_ROWS


def compare(work: Work, conditions: Conditions, grouping: Grouping) -> None:
    """ "Compared to 2024": the query's own time beside the other."""
    frame, ask = period_of(work.made), work.ask
    before = len(grouping.dimensions)
    time = date_column(ask, work.dataset)
    if ask.says(*COMPARE) and frame is not None and time is not None:
        own = [each for each in work.made["filters"] if is_about(each, frame[0])]
        other = [
            piece
            for piece, about in zip(conditions.filters, conditions.about, strict=True)
            if about == time.name
        ]
        if other and not conditions.periods:
            conditions.filters = [
                {"any": [{"all": own}, {"all": other}]},
                *(each for each in conditions.filters if each not in other),
            ]
            conditions.about = [time.name, *(a for a in conditions.about if a != time.name)]
            if work.made.get("aggregate") and not work.made.get("derive"):
                unit = "year" if (frame[2] - frame[1]).days > 92 else "month"
                grouping.add(Dimension(time, unit), range(0))
    if work.made.get("aggregate"):
        side_by_side(ask, work.dataset, conditions, grouping)
    if len(grouping.dimensions) > before and not grouping.used:
        kept = list(work.made.get("group", ()))
        regroup(work, grouping.dimensions)
        work.made["group"] = list(dict.fromkeys([*kept, *work.made["group"]]))
        work.in_order()
        grouping.dimensions = []


def move_time(work: Work) -> None:
    """ "And the year before?" moves the query's stretch of time."""
    if work.frame.period is None or "window" in work.made:
        return
    for unit in UNITS:
        for phrases, count in ((_BACK, -1), (_ON, 1)):
            places = list(work.ask.places(each.format(unit) for each in phrases))
            if places and not {n for s, e in places for n in range(s, e)} & work.used:

                def step(day: date, unit: str = unit, count: int = count) -> date:
                    return shifted(day, unit, count)

                moved(work.made, step)
                work.used |= {n for s, e in places for n in range(s, e)}
                work.said.append(f"a {unit} {'earlier' if count < 0 else 'later'}")
                return


def drop_filters(work: Work) -> None:
    ask = work.ask
    period = period_of(work.made)
    if ask.says(*_NO_FILTER):
        work.take(_NO_FILTER)
        if work.made.pop("filters", None) or work.made.pop("having", None):
            work.said.append("no conditions any more")
    elif ask.says(*_EVER):
        work.take(_EVER)
        for facts in work.dataset.columns:
            timed = is_date(facts, work.dataset) or (period and facts.name == period[0])
            if timed and work.no_filters_about(facts.name):
                work.said.append(f"any {facts.name}")
    for start, end in ask.places(("all", "any", "every")):
        for each in columns_in(ask, work.dataset, end):
            if each.start == end and work.no_filters_about(each.column.name):
                work.used |= set(range(start, each.end))
                work.said.append(f"any {each.column.name}")


def _excludes(piece: Piece) -> bool:
    return piece.get("compare") == "!=" or ("among" in piece and bool(piece.get("negate")))
