"""What a changed query counts: other figures, groups, and shares or running totals beside them."""

from typing import Any, Final

from steward.agents.rules.changing.work import Work
from steward.agents.rules.conditions import money
from steward.agents.rules.frames import is_about
from steward.agents.rules.grouping import Dimension, Grouping
from steward.agents.rules.naming import columns_in, is_date
from steward.agents.rules.querying import aggregated, measure_in, placed
from steward.agents.rules.windows import wants_share, windows_in

_ADDING: Final = ("also", "additionally", "too", "as well", "and by", "and per", "in addition", "split by",
                  "broken down by", "split", "break down", "breakdown")  # fmt: skip
_BESIDE: Final = ("with", "also", "plus", "add", "including", "together with")


def change_figures(work: Work, grouping: Grouping, function: str | None, taken: set[int]) -> None:
    measure = grouping.ranked or measure_in(work.ask, work.dataset, taken, function)
    if measure is not None and measure.kind != "number":
        measure = None
    if not work.made.get("aggregate"):
        if function is None and not grouping.dimensions:
            return
        _as_figures(work, function or "count", measure)
    elif function is not None or measure is not None:
        _another_figure(work, function, measure)
    if measure is not None:
        work.used |= {
            n
            for each in columns_in(work.ask, work.dataset)
            if each.column is measure
            for n in range(each.start, each.end)
        }
    if grouping.dimensions:
        regroup(work, grouping.dimensions)


def ask_which(work: Work, grouping: Grouping) -> None:
    """ "In which country?" after one figure: the figure by country, its largest first."""
    if not work.made.get("aggregate") or work.made.get("group") or grouping.dimensions:
        return
    for _, end in work.ask.places(("which", "what")):
        for each in columns_in(work.ask, work.dataset, end):
            if each.start == end and each.column.kind == "text":
                grouping.add(Dimension(each.column), range(each.start, each.end))
                return


def add_beside(work: Work) -> None:
    """Shares, running totals, differences."""
    if wants_share(work.ask) and work.made.get("aggregate") and not work.made.get("group"):
        _apart(work)
    windows, tokens = windows_in(work.ask, work.made)
    if windows:
        work.made["window"] = windows
        work.used |= tokens
        work.said += [each["name"].replace("_", " ") for each in windows]


def regroup(work: Work, dimensions: list[Dimension]) -> None:
    made = work.made
    kept = list(made.get("group", [])) if work.ask.says(*_ADDING) else []
    units = {each.unit for each in dimensions if each.unit is not None}
    if units:
        # One unit of time takes the place of another.
        times = {each["name"] for each in made.get("derive", ())}
        kept = [name for name in kept if name not in times]
    made["derive"] = [each for each in made.get("derive", []) if each["name"] not in units]
    added = [placed(made, work.dataset, each) for each in dimensions]
    made["group"] = list(dict.fromkeys([*kept, *added]))
    for key in ("limit", "window"):
        made.pop(key, None)
    work.in_order()
    work.said.append(f"by {' and '.join(made['group'])}")


def _as_figures(work: Work, function: str, measure: Any) -> None:
    """Rows become a figure about those rows."""
    if measure is None and function != "count":
        measure = money(work.dataset)
    if measure is None and function != "count":
        return
    for key in ("select", "order", "limit", "offset"):
        work.made.pop(key, None)
    work.made["aggregate"] = [aggregated(function, measure, [])]
    work.said.append(work.made["aggregate"][0]["name"].replace("_", " "))


def _another_figure(work: Work, function: str | None, measure: Any) -> None:
    first = work.made["aggregate"][0]
    chosen = function or (first["function"] if first["function"] != "count" else "sum")
    facts = measure or work.dataset.column(first.get("column") or "")
    if facts is None and chosen != "count":
        return
    added = aggregated(chosen, facts, work.made.get("group", []))
    said = added["name"].replace("_", " ")
    if work.ask.says(*_BESIDE) and not work.ask.says("instead"):
        if all(each["name"] != added["name"] for each in work.made["aggregate"]):
            work.made["aggregate"].append(added)
        work.said.append(f"with {said}")
        return
    work.made["aggregate"] = [added]
    work.made.pop("window", None)
    work.rename(first["name"], added["name"])
    work.said.append(said)


def _apart(work: Work) -> None:
    """The share of one figure: among the values of the column that it was limited by."""
    names = [
        facts.name
        for facts in work.dataset.columns
        if any(is_about(each, facts.name) for each in work.made.get("filters", ()))
        and not is_date(facts, work.dataset)
    ]
    if len(names) == 1:
        work.no_filters_about(names[0])
        work.made["group"] = names
        work.in_order()
