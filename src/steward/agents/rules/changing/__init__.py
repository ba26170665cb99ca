"""Changes a query as a follow-up says: other groups, conditions, times, figures, order, or its rows instead."""

import copy
import json
from dataclasses import dataclass, replace
from typing import Any

from steward.agents.rules.asking import Ask
from steward.agents.rules.changing.columns import show_columns, wanted_columns
from steward.agents.rules.changing.figures import add_beside, ask_which, change_figures
from steward.agents.rules.changing.filters import add_conditions, compare, drop_filters, move_time
from steward.agents.rules.changing.order import order_by_figure, put_in_order, turn_around
from steward.agents.rules.changing.rows import is_about_rows, show_rows
from steward.agents.rules.changing.work import Work
from steward.agents.rules.conditions import conditions_in
from steward.agents.rules.describing import in_words
from steward.agents.rules.frames import Frame
from steward.agents.rules.grouping import Grouping, grouping_in
from steward.agents.rules.ordering import order_in
from steward.agents.rules.querying import function_in, ranking_in

__all__ = ["Changed", "changed"]


@dataclass(frozen=True)
class Changed:
    document: dict[str, Any]
    said: str
    """What was changed, in a few words."""
    used: frozenset[int]
    """Tokens that it was made from."""

    @property
    def words(self) -> str:
        return in_words(self.document)


def changed(ask: Ask, frame: Frame) -> Changed | None:
    """The query with everything that the request changes; None when that is nothing."""
    period = frame.period
    ask = replace(ask, year=period[0].year) if period is not None else ask
    work = Work(ask, frame)
    _change(work)
    if not work.said:
        return None
    made = _without_leftovers(work.made)
    said = "; ".join(dict.fromkeys(work.said))
    return Changed(made, f"{said[0].upper()}{said[1:]}", frozenset(work.used))


def _change(work: Work) -> None:
    """Every change reads the same words and marks those it used: their order decides which of two readings wins."""
    ask, dataset = work.ask, work.dataset
    add_beside(work)
    move_time(work)
    drop_filters(work)
    order, taken = order_in(ask, dataset)
    order, taken = order_by_figure(work, order, taken)
    # "sorted by net" says "by" too; that is not a group.
    grouping = Grouping() if order else grouping_in(ask, dataset)
    ranking = ranking_in(ask)
    ask_which(work, grouping)
    turned = turn_around(work, ranking)
    function, spoken = function_in(ask, ranking, work.used | taken)
    if order or turned:
        function, spoken = None, range(0)
    work.used |= taken | grouping.used | set(spoken)
    work.used |= set(ranking.tokens) if ranking else set()
    shown = wanted_columns(work) if function is None else []
    work.used |= {n for _, tokens in shown for n in tokens}
    conditions = conditions_in(ask, dataset, work.used, grouped=bool(work.made.get("group")))
    if is_about_rows(work, grouping, function, order):
        show_rows(work)
    else:
        compare(work, conditions, grouping)
        change_figures(work, grouping, function, set(work.used | conditions.used))
    show_columns(work, shown)
    add_conditions(work, conditions)
    put_in_order(work, order, ranking)


def _without_leftovers(made: dict[str, Any]) -> dict[str, Any]:
    """Without derived columns, orders and joins that nothing uses any more."""
    made = copy.deepcopy(made)
    used = json.dumps({key: each for key, each in made.items() if key != "derive"})
    kept = [each for each in made.get("derive", []) if json.dumps(each["name"]) in used]
    made.pop("derive", None)
    if kept:
        made["derive"] = kept
    if made.get("aggregate"):
        there = {*made.get("group", ()), *(each["name"] for each in made["aggregate"])}
        there |= {each["name"] for each in made.get("window", ())}
        made["order"] = [each for each in made.get("order", ()) if each["column"] in there]
    for key in ("filters", "having", "order", "group", "window"):
        if key in made and not made[key]:
            del made[key]
    if made.get("having") and not made.get("group"):
        del made["having"]
    return made
