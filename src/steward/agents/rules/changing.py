"""Changes a query as a follow-up says: other groups, conditions, times, figures, order, or its rows instead.

Longer than other files: every change reads and marks the same words of one request, and their order decides which of two
readings wins.
"""

import copy
import json
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from steward.agents.planning.facts import ColumnFacts
from steward.agents.rules.asking import Ask, phrase_words, spans
from steward.agents.rules.conditions import Conditions, conditions_in, money
from steward.agents.rules.describing import in_words
from steward.agents.rules.drawing import kind_in
from steward.agents.rules.expressions import Piece, column, compared, equal, value
from steward.agents.rules.frames import Frame, is_about, moved, period_of
from steward.agents.rules.grouping import Dimension, Grouping, grouping_in
from steward.agents.rules.intents.rows import limit_in
from steward.agents.rules.naming import columns_in, date_column, is_date, link
from steward.agents.rules.ordering import order_in
from steward.agents.rules.periods import shifted
from steward.agents.rules.querying import (
    Ranking,
    aggregated,
    filter_elsewhere,
    function_in,
    measure_in,
    ordered,
    placed,
    ranking_in,
    side_by_side,
)
from steward.agents.rules.vocabulary import COMPARE, UNITS
from steward.agents.rules.windows import wants_share, windows_in

_ADDING: Final = ("also", "additionally", "too", "as well", "and by", "and per", "in addition", "split by",
                  "broken down by", "split", "break down", "breakdown")  # fmt: skip
_BESIDE: Final = ("with", "also", "plus", "add", "including", "together with")
_ROWS: Final = ("rows", "records", "details", "detail", "drill down", "individual", "underlying", "which ones",
                "entries", "line items", "single rows")  # fmt: skip
_SHOW: Final = (
    "show",
    "list",
    "see",
    "display",
    "give me",
    "open",
    "who are",
    "which are",
    "what are",
)
_THOSE: Final = ("those", "them", "these", "they")
_BACK: Final = ("{} before", "previous {}", "prior {}", "{} earlier", "preceding {}")
_ON: Final = ("{} after", "next {}", "following {}", "{} later")
_NO_FILTER: Final = ("remove filter", "remove that filter", "remove the filter", "without filter", "no filter",
                     "without the filter", "clear filter", "all data", "everything", "drop the filter")  # fmt: skip
_EVER: Final = ("all year", "all time", "all month", "any time", "whole time", "entire period", "all period",
                "every year", "all quarter")  # fmt: skip
_UPSIDE: Final = ("reverse", "other way round", "other way around", "turn around", "upside down")
_NEXT: Final = ("next page", "next", "more", "show more", "further", "continue", "go on")
_ALL: Final = ("all of them", "show all", "all rows", "without limit", "no limit", "the whole list")
_SMALLEST: Final = ("smallest", "lowest", "worst", "least", "bottom", "fewest", "cheapest")
_LARGEST: Final = ("largest", "highest", "biggest", "best", "most", "greatest")
_MOST_ROWS: Final = 100
_MOST_AT_ALL: Final = 1_000
_FLIPPED: Final = {"ascending": "descending", "descending": "ascending"}


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
    work = _Changing(ask, frame)
    work.do()
    if not work.said:
        return None
    made = _without_leftovers(work.made)
    said = "; ".join(dict.fromkeys(work.said))
    return Changed(made, f"{said[0].upper()}{said[1:]}", frozenset(work.used))


class _Changing:
    def __init__(self, ask: Ask, frame: Frame) -> None:
        self.ask = ask
        self.frame = frame
        self.dataset = frame.dataset
        self.made: dict[str, Any] = copy.deepcopy(frame.document)
        self.said: list[str] = []
        self.used: set[int] = set()

    def do(self) -> None:
        ask, dataset = self.ask, self.dataset
        self._beside()
        self._time()
        self._filters_gone()
        order, taken = order_in(ask, dataset)
        order, taken = self._order_by_figure(order, taken)
        # "sorted by net" says "by" too; that is not a group.
        grouping = Grouping() if order else grouping_in(ask, dataset)
        ranking = ranking_in(ask)
        self._which(grouping)
        turned = self._turned(ranking)
        function, spoken = function_in(ask, ranking, self.used | taken)
        if order or turned:
            function, spoken = None, range(0)
        self.used |= taken | grouping.used | set(spoken)
        self.used |= set(ranking.tokens) if ranking else set()
        shown = self._wanted() if function is None else []
        self.used |= {n for _, tokens in shown for n in tokens}
        conditions = conditions_in(ask, dataset, self.used, grouped=bool(self.made.get("group")))
        if self._is_about_rows(grouping, function, order):
            self._as_rows()
        else:
            self._compared(conditions, grouping)
            self._figures(grouping, function, set(self.used | conditions.used))
        self._shown(shown)
        self._conditions(conditions)
        self._sequence(order, ranking)

    # Figures

    def _figures(self, grouping: Grouping, function: str | None, taken: set[int]) -> None:
        measure = grouping.ranked or measure_in(self.ask, self.dataset, taken, function)
        if measure is not None and measure.kind != "number":
            measure = None
        if not self.made.get("aggregate"):
            if function is None and not grouping.dimensions:
                return
            self._as_figures(function or "count", measure)
        elif function is not None or measure is not None:
            self._another_figure(function, measure)
        if measure is not None:
            self.used |= {
                n
                for each in columns_in(self.ask, self.dataset)
                if each.column is measure
                for n in range(each.start, each.end)
            }
        if grouping.dimensions:
            self._regroup(grouping.dimensions)

    def _which(self, grouping: Grouping) -> None:
        """ "In which country?" after one figure: the figure by country, its largest first."""
        if not self.made.get("aggregate") or self.made.get("group") or grouping.dimensions:
            return
        for _, end in self.ask.places(("which", "what")):
            for each in columns_in(self.ask, self.dataset, end):
                if each.start == end and each.column.kind == "text":
                    grouping.add(Dimension(each.column), range(each.start, each.end))
                    return

    def _as_figures(self, function: str, measure: Any) -> None:
        """Rows become a figure about those rows."""
        if measure is None and function != "count":
            measure = money(self.dataset)
        if measure is None and function != "count":
            return
        for key in ("select", "order", "limit", "offset"):
            self.made.pop(key, None)
        self.made["aggregate"] = [aggregated(function, measure, [])]
        self.said.append(self.made["aggregate"][0]["name"].replace("_", " "))

    def _another_figure(self, function: str | None, measure: Any) -> None:
        first = self.made["aggregate"][0]
        chosen = function or (first["function"] if first["function"] != "count" else "sum")
        facts = measure or self.dataset.column(first.get("column") or "")
        if facts is None and chosen != "count":
            return
        added = aggregated(chosen, facts, self.made.get("group", []))
        said = added["name"].replace("_", " ")
        if self.ask.says(*_BESIDE) and not self.ask.says("instead"):
            if all(each["name"] != added["name"] for each in self.made["aggregate"]):
                self.made["aggregate"].append(added)
            self.said.append(f"with {said}")
            return
        self.made["aggregate"] = [added]
        self.made.pop("window", None)
        self._renamed(first["name"], added["name"])
        self.said.append(said)

    def _regroup(self, dimensions: list[Dimension]) -> None:
        made = self.made
        kept = list(made.get("group", [])) if self.ask.says(*_ADDING) else []
        units = {each.unit for each in dimensions if each.unit is not None}
        if units:
            # One unit of time takes the place of another.
            times = {each["name"] for each in made.get("derive", ())}
            kept = [name for name in kept if name not in times]
        made["derive"] = [each for each in made.get("derive", []) if each["name"] not in units]
        added = [placed(made, self.dataset, each) for each in dimensions]
        made["group"] = list(dict.fromkeys([*kept, *added]))
        for key in ("limit", "window"):
            made.pop(key, None)
        self._in_order()
        self.said.append(f"by {' and '.join(made['group'])}")

    def _in_order(self) -> None:
        times = {each["name"] for each in self.made.get("derive", [])}
        any_column = self.dataset.columns[0]
        units = [Dimension(any_column, "day" if n in times else None) for n in self.made["group"]]
        ordered(self.made, units, None)

    def _beside(self) -> None:
        """Shares, running totals, differences."""
        if wants_share(self.ask) and self.made.get("aggregate") and not self.made.get("group"):
            self._apart()
        windows, tokens = windows_in(self.ask, self.made)
        if windows:
            self.made["window"] = windows
            self.used |= tokens
            self.said += [each["name"].replace("_", " ") for each in windows]

    def _apart(self) -> None:
        """The share of one figure: among the values of the column that it was limited by."""
        names = [
            facts.name
            for facts in self.dataset.columns
            if any(is_about(each, facts.name) for each in self.made.get("filters", ()))
            and not is_date(facts, self.dataset)
        ]
        if len(names) == 1:
            self._no_filters_about(names[0])
            self.made["group"] = names
            self._in_order()

    # Rows

    def _is_about_rows(
        self, grouping: Grouping, function: str | None, order: list[dict[str, Any]]
    ) -> bool:
        if not self.made.get("aggregate") or function is not None or kind_in(self.ask) is not None:
            return False
        plain = not grouping.dimensions and not order and not self.said
        asked = self.ask.says(*_SHOW) and self.ask.says(*_THOSE)
        return self.ask.says(*_ROWS) or (asked and plain)

    def _as_rows(self) -> None:
        picked = self._picked() if "limit" in self.made else []
        for key in ("group", "aggregate", "having", "window", "order", "limit", "offset"):
            self.made.pop(key, None)
        if picked:
            self.made.setdefault("filters", []).extend(picked)
        if self.dataset.key:
            self.made["order"] = [{"column": name} for name in self.dataset.key]
        self.made["limit"] = _MOST_ROWS
        self._take((*_ROWS, *_SHOW, *_THOSE))
        self.said.append("the rows behind it")

    def _picked(self) -> list[Piece]:
        """Of a ranking only those that came out: the values of its groups."""
        found: list[Piece] = []
        for name in self.made.get("group", []):
            facts = self._grouped(name)
            if facts is None or name not in self.frame.columns:
                continue
            place = self.frame.columns.index(name)
            values = [row[place] for row in self.frame.rows if place < len(row)]
            there = [each for each in values if each is not None]
            if there:
                found.append(equal(facts, list(dict.fromkeys(there))))
        return found

    def _grouped(self, name: str) -> ColumnFacts | None:
        """A column that the query groups by, of its dataset or of one that it joins."""
        own = self.dataset.column(name)
        if own is not None:
            return own
        for each in self.made.get("joins", ()):
            other = self.ask.catalogue.datasets.get(each["dataset"])
            found = None if other is None else other.column(name.removeprefix(f"{other.name}."))
            if found is not None:
                return replace(found, name=name)
        return None

    # Which rows

    def _conditions(self, conditions: Conditions) -> None:
        made = self.made
        self.used |= conditions.used
        for piece, about in zip(conditions.filters, conditions.about, strict=True):
            if not _excludes(piece):
                # A new condition on a column takes the place of the old one: "only 2024" after "only 2025".
                self._no_filters_about(about)
        if conditions.filters:
            made.setdefault("filters", []).extend(conditions.filters)
            self.said.append(f"rows by {' and '.join(dict.fromkeys(conditions.about))}")
        for sign, number in conditions.groups if made.get("group") else ():
            name = made["aggregate"][0]["name"]
            made.setdefault("having", []).append(compared(column(name), sign, value(number)))
            self.said.append(f"{name.replace('_', ' ')} {sign} {number}")
        before = len(made.get("filters", ()))
        named = columns_in(self.ask, self.dataset)
        taken = self.used | {n for each in named for n in range(each.start, each.end)}
        self.used |= filter_elsewhere(self.ask, self.dataset, made, taken)
        if len(made.get("filters", ())) > before:
            self.said.append("rows by what they refer to")
        if not made.get("aggregate") and "limit" not in made and made.get("filters"):
            made["limit"] = _MOST_ROWS

    def _compared(self, conditions: Conditions, grouping: Grouping) -> None:
        """ "Compared to 2024": the query's own time beside the other."""
        frame, ask = period_of(self.made), self.ask
        before = len(grouping.dimensions)
        time = date_column(ask, self.dataset)
        if ask.says(*COMPARE) and frame is not None and time is not None:
            own = [each for each in self.made["filters"] if is_about(each, frame[0])]
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
                if self.made.get("aggregate") and not self.made.get("derive"):
                    unit = "year" if (frame[2] - frame[1]).days > 92 else "month"
                    grouping.add(Dimension(time, unit), range(0))
        if self.made.get("aggregate"):
            side_by_side(ask, self.dataset, conditions, grouping)
        if len(grouping.dimensions) > before and not grouping.used:
            kept = list(self.made.get("group", ()))
            self._regroup(grouping.dimensions)
            self.made["group"] = list(dict.fromkeys([*kept, *self.made["group"]]))
            self._in_order()
            grouping.dimensions = []

    def _time(self) -> None:
        """ "And the year before?" moves the query's stretch of time."""
        if self.frame.period is None or "window" in self.made:
            return
        for unit in UNITS:
            for phrases, count in ((_BACK, -1), (_ON, 1)):
                places = list(self.ask.places(each.format(unit) for each in phrases))
                if places and not {n for s, e in places for n in range(s, e)} & self.used:

                    def step(day: date, unit: str = unit, count: int = count) -> date:
                        return shifted(day, unit, count)

                    moved(self.made, step)
                    self.used |= {n for s, e in places for n in range(s, e)}
                    self.said.append(f"a {unit} {'earlier' if count < 0 else 'later'}")
                    return

    def _filters_gone(self) -> None:
        ask = self.ask
        period = period_of(self.made)
        if ask.says(*_NO_FILTER):
            self._take(_NO_FILTER)
            if self.made.pop("filters", None) or self.made.pop("having", None):
                self.said.append("no conditions any more")
        elif ask.says(*_EVER):
            self._take(_EVER)
            for facts in self.dataset.columns:
                timed = is_date(facts, self.dataset) or (period and facts.name == period[0])
                if timed and self._no_filters_about(facts.name):
                    self.said.append(f"any {facts.name}")
        for start, end in ask.places(("all", "any", "every")):
            for each in columns_in(ask, self.dataset, end):
                if each.start == end and self._no_filters_about(each.column.name):
                    self.used |= set(range(start, each.end))
                    self.said.append(f"any {each.column.name}")

    def _no_filters_about(self, name: str) -> bool:
        before = list(self.made.get("filters", ()))
        left = [each for each in before if not is_about(each, name)]
        self.made.pop("filters", None)
        if left:
            self.made["filters"] = left
        return len(left) < len(before)

    # What else is shown

    def _wanted(self) -> list[tuple[Dimension, range]]:
        """ "With product name": columns here, or in a dataset that is reached by a key."""
        ask, dataset, found = self.ask, self.dataset, []
        for _, end in ask.places(
            ("with the", "with", "plus", "include", "including", "add", "show also")
        ):
            own = [each for each in columns_in(ask, dataset, end) if each.start - end <= 1]
            if own and self.made.get("aggregate") and own[0].column.kind == "number":
                # Another measure, not another group.
                continue
            if own and not _compares(ask, own[0].end):
                found.append((Dimension(own[0].column), range(own[0].start, own[0].end)))
                continue
            for other in ask.catalogue.datasets.values():
                reached = (
                    None if other.name == dataset.name else link(ask.catalogue, dataset, other)
                )
                theirs = [
                    each for each in columns_in(ask, other, end, least=1.5) if each.start - end <= 1
                ]
                if reached is not None and theirs:
                    one = theirs[0]
                    found.append((Dimension(one.column, None, reached), range(one.start, one.end)))
                    break
        return found

    def _shown(self, wanted: list[tuple[Dimension, range]]) -> None:
        made = self.made
        for dimension, _ in wanted:
            name = placed(made, self.dataset, dimension)
            target = "group" if made.get("aggregate") else "select"
            if target == "select" and not made.get("select"):
                if dimension.link is None:
                    continue
            elif name not in made.get(target, []):
                made.setdefault(target, []).append(name)
            self.said.append(f"with {name}")

    # In which order, and how many

    def _order_by_figure(
        self, order: list[dict[str, Any]], taken: set[int]
    ) -> tuple[list[dict[str, Any]], set[int]]:
        """ "Sort by count": a column of the result that is none of the dataset."""
        names = [each["name"] for each in self.made.get("aggregate", ())]
        names += [each["name"] for each in self.made.get("window", ())]
        for start, end in self.ask.places(("sort by", "sorted by", "order by", "ordered by")):
            for name in names:
                for first, last in spans(
                    self.ask.words[end:], phrase_words(name.replace("_", " "))
                ):
                    if first == 0:
                        falls = not self.ask.says("ascending", "smallest first", "lowest first")
                        direction = "descending" if falls else "ascending"
                        tokens = set(range(start, end + last))
                        return [{"column": name, "direction": direction}], taken | tokens
        return order, taken

    def _turned(self, ranking: Ranking | None) -> bool:
        """The other end of a ranking: "the smallest instead"."""
        order = self.made.get("order")
        if not order or (ranking is not None and ranking.limit != 1):
            return False
        ranked = "limit" in self.made or not self.made.get("aggregate")
        wanted = ""
        if self.ask.says(*_UPSIDE):
            wanted = _FLIPPED[order[0].get("direction", "ascending")]
        elif ranked and ranking is None and not columns_in(self.ask, self.dataset):
            if self.ask.says(*_SMALLEST):
                wanted = "ascending"
            elif self.ask.says(*_LARGEST):
                wanted = "descending"
        if not wanted:
            return False
        self._take((*_UPSIDE, *_SMALLEST, *_LARGEST))
        order[0]["direction"] = wanted
        self.said.append("smallest first" if wanted == "ascending" else "largest first")
        return True

    def _sequence(self, order: list[dict[str, Any]], ranking: Ranking | None) -> None:
        made, ask = self.made, self.ask
        if order:
            made["order"] = [_fitting(made, each) for each in order]
            self.said.append(f"sorted by {made['order'][0]['column']}")
        elif ask.says("descending", "ascending") and made.get("order"):
            direction = "descending" if ask.says("descending") else "ascending"
            made["order"] = [{**made["order"][0], "direction": direction}, *made["order"][1:]]
            self.said.append(direction)
        limit = ranking.limit if ranking is not None else limit_in(ask)
        if limit is None:
            self._pages()
            return
        made["limit"] = limit
        made.pop("offset", None)
        self.said.append(f"the first {limit}")
        if ranking is not None and made.get("aggregate"):
            direction = "ascending" if ranking.ascending else "descending"
            made["order"] = [{"column": made["aggregate"][0]["name"], "direction": direction}]

    def _pages(self) -> None:
        made = self.made
        limit = made.get("limit")
        if self.said or limit is None:
            return
        if self.ask.says(*_ALL):
            made["limit"] = _MOST_AT_ALL
            made.pop("offset", None)
            self._take(_ALL)
            self.said.append("all of them")
        elif self.ask.says(*_NEXT):
            self._take(_NEXT)
            if made.get("aggregate"):
                made["limit"] = min(limit * 2, _MOST_AT_ALL)
                self.said.append(f"the first {made['limit']}")
                return
            if not made.get("order"):
                key = self.dataset.key or self.dataset.names[:1]
                made["order"] = [{"column": name} for name in key]
            made["offset"] = made.get("offset", 0) + limit
            wanted = next((t.number for t in self.ask.tokens if isinstance(t.number, int)), None)
            made["limit"] = wanted if wanted and 0 < wanted <= _MOST_AT_ALL else limit
            self.said.append(f"rows from {made['offset'] + 1} on")

    def _take(self, phrases: tuple[str, ...]) -> None:
        self.used |= {n for start, end in self.ask.places(phrases) for n in range(start, end)}

    def _renamed(self, before: str, after: str) -> None:
        for each in self.made.get("order", []):
            if each["column"] == before:
                each["column"] = after
        if self.made.get("having"):
            self.made["having"] = json.loads(
                json.dumps(self.made["having"]).replace(json.dumps(before), json.dumps(after))
            )


def _excludes(piece: Piece) -> bool:
    return piece.get("compare") == "!=" or ("among" in piece and bool(piece.get("negate")))


def _compares(ask: Ask, at: int) -> bool:
    return at < len(ask.words) and ask.words[at] in {
        *("is", "=", "over", "above", "under", "below", "more", "less", "of")
    }


def _fitting(made: dict[str, Any], order: dict[str, Any]) -> dict[str, Any]:
    """After aggregating, a measure is sorted by its aggregate."""
    there = [*made.get("group", ()), *(each["name"] for each in made.get("aggregate", ()))]
    there += [each["name"] for each in made.get("window", ())]
    if not made.get("aggregate") or order["column"] in there:
        return order
    by_column = {each.get("column"): each["name"] for each in made["aggregate"]}
    return {**order, "column": by_column.get(order["column"], made["aggregate"][0]["name"])}


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
