"""Makes a query plan of a request: a function over a measure, grouped, filtered, ordered and cut."""

import json
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.rules.asking import Ask, name_words
from steward.agents.rules.conditions import (
    Conditions,
    conditions_in,
    money,
    values_elsewhere,
)
from steward.agents.rules.expressions import Piece, column, compared, day_of, truncated, value
from steward.agents.rules.grouping import Dimension, Grouping, grouping_in
from steward.agents.rules.naming import (
    Link,
    columns_in,
    date_column,
    link,
    name_spans,
    thing_at,
)
from steward.agents.rules.ordering import order_in
from steward.agents.rules.periods import Period
from steward.agents.rules.vocabulary import COMPARE, FUNCTION_NAMES, FUNCTIONS, MEASURES
from steward.agents.rules.windows import windows_in
from steward.definitions import ColumnFacts, DatasetFacts

_AVERAGED: Final = frozenset(
    {"satisfaction", "rating", "score", "age", "rate", "percentage", "share", "temperature"}
)
_RANKING: Final = ("top", "best", "bottom", "worst", "most", "least", "fewest", "largest", "biggest", "highest",
                   "lowest", "smallest")  # fmt: skip
_MEASURING: Final = frozenset({"sum", "avg", "min", "max", "median"})
_SHOWING: Final = ("show", "list", "display", "rows", "find", "see")
_DOWN: Final = frozenset({"bottom", "worst", "least", "fewest", "lowest", "smallest"})


@dataclass(frozen=True)
class Ranking:
    """The first few by a measure."""

    limit: int
    ascending: bool
    tokens: range


@dataclass(frozen=True)
class Query:
    """A query plan with what it was made from."""

    dataset: DatasetFacts
    document: dict[str, Any]
    dimensions: tuple[Dimension, ...]
    function: str
    measure: ColumnFacts | None
    sure: float
    used: frozenset[int]
    """Tokens that it was made from."""


def query_in(ask: Ask, dataset: DatasetFacts) -> Query | None:
    """The aggregation that a request asks for; None when it asks for none that can be told."""
    grouping = grouping_in(ask, dataset)
    ranking = ranking_in(ask)
    if ranking is not None or ask.says("which", "what", "who"):
        _subject(ask, dataset, ranking, grouping)
    function, said = function_in(ask, ranking)
    order, sorting = order_in(ask, dataset)
    if order and function is None and ranking is None and not grouping.dimensions:
        return None
    taken = sorting | grouping.used | set(said) | (set(ranking.tokens) if ranking else set())
    conditions = conditions_in(ask, dataset, taken)
    side_by_side(ask, dataset, conditions, grouping)
    if conditions.groups and not grouping.dimensions:
        _compared(ask, dataset, conditions, grouping)
        if not grouping.dimensions:
            return None
    if function == "count_distinct":
        measure = _counted(ask, dataset, set(said))
    else:
        measure = grouping.ranked or measure_in(ask, dataset, taken | conditions.used, function)
    if measure is None and function in _MEASURING and name_spans(ask, dataset):
        measure = money(dataset)
    function = function or _meant(ask, measure, grouping, conditions)
    if function is None or not _fits(function, measure):
        return None
    made = document_of(dataset, grouping.dimensions, function, measure, conditions, ranking)
    named = {n for each in columns_in(ask, dataset) for n in range(each.start, each.end)}
    reached = filter_elsewhere(ask, dataset, made, taken | conditions.used | named)
    windows, beside = windows_in(ask, made)
    if windows:
        made["window"] = windows
    taken |= reached | beside
    used = (
        taken
        | conditions.used
        | {n for each in columns_in(ask, dataset) for n in range(each.start, each.end)}
    )
    return Query(
        dataset,
        made,
        tuple(grouping.dimensions),
        function,
        measure,
        _sure(ask, dataset),
        frozenset(used),
    )


def side_by_side(
    ask: Ask, dataset: DatasetFacts, conditions: Conditions, grouping: Grouping
) -> None:
    """What is compared becomes groups: two years, two countries."""
    places = {n for start, end in ask.places(COMPARE) for n in range(start, end)}
    if not places:
        return
    conditions.used |= places
    time = date_column(ask, dataset)
    if conditions.periods and time is not None and not any(d.unit for d in grouping.dimensions):
        grouping.add(Dimension(time, _unit_of(conditions.periods)), range(0))
    for piece, about in zip(conditions.filters, conditions.about, strict=True):
        facts = dataset.column(about)
        if "among" in piece and not piece.get("negate") and facts is not None:
            grouping.add(Dimension(facts), range(0))


def _unit_of(periods: Iterable[Period]) -> str:
    """The unit that tells the stretches of time apart."""
    lengths = [(each.end - each.start).days for each in periods if each.start and each.end]
    longest = max(lengths, default=366)
    for unit, days in (("day", 1), ("week", 7), ("month", 31), ("quarter", 92)):
        if longest <= days:
            return unit
    return "year"


def filter_elsewhere(
    ask: Ask, dataset: DatasetFacts, document: dict[str, Any], taken: set[int]
) -> set[int]:
    """Limits a query by values of datasets that it reaches by a key; the tokens that said so."""
    used: set[int] = set()
    for other in ask.catalogue.datasets.values():
        reached = None if other.name == dataset.name else link(ask.catalogue, dataset, other)
        if reached is None:
            continue
        found = values_elsewhere(ask, dataset, other, taken | used)
        for piece, about in zip(found.filters, found.about, strict=True):
            name = joined(document, dataset, about, reached)
            there = json.dumps(column(about))
            renamed = json.loads(json.dumps(piece).replace(there, json.dumps(column(name))))
            document.setdefault("filters", []).append(renamed)
        used |= found.used
    return used


def _fits(function: str, measure: ColumnFacts | None) -> bool:
    """Whether the function can be had of that column."""
    if function == "count":
        return True
    if measure is None:
        return False
    return measure.kind != "text" or function in {"count_distinct", "min", "max"}


def document_of(
    dataset: DatasetFacts,
    dimensions: Iterable[Dimension],
    function: str,
    measure: ColumnFacts | None,
    conditions: Conditions,
    ranking: Ranking | None,
) -> dict[str, Any]:
    document: dict[str, Any] = {"source": dataset.name}
    group = [placed(document, dataset, dimension) for dimension in dimensions]
    if conditions.filters:
        document["filters"] = list(conditions.filters)
    if group:
        document["group"] = group
    aggregate = aggregated(function, measure, group)
    document["aggregate"] = [aggregate]
    if conditions.groups and group:
        document["having"] = [
            compared(column(aggregate["name"]), sign, value(number))
            for sign, number in conditions.groups
        ]
    ordered(document, list(dimensions), ranking)
    return document


def aggregated(function: str, measure: ColumnFacts | None, group: list[str]) -> Piece:
    name = FUNCTION_NAMES[function]
    if measure is not None and function != "count":
        name = f"{name}_{'_'.join(measure.name.split())}"
    while name in group:
        name += "_"
    found: Piece = {"name": name[:200], "function": function}
    return found if measure is None or function == "count" else {**found, "column": measure.name}


def placed(document: dict[str, Any], dataset: DatasetFacts, dimension: Dimension) -> str:
    """The column to group by; what has to be derived or joined for it is put into the plan."""
    name = dimension.column.name
    if dimension.link is not None:
        name = joined(document, dataset, name, dimension.link)
    if dimension.unit is None:
        return name
    derived = dimension.unit
    if dataset.column(derived) is not None:
        derived = f"{dimension.unit} of {dimension.column.name}"
    expression = truncated(dimension.unit, day_of(dimension.column, name))
    document.setdefault("derive", []).append({"name": derived, "expression": expression})
    return derived


def joined(document: dict[str, Any], dataset: DatasetFacts, name: str, reached: Link) -> str:
    joins = document.setdefault("joins", [])
    if all(each["dataset"] != reached.dataset.name for each in joins):
        pairs = [{"left": reached.left, "right": reached.right}]
        joins.append({"dataset": reached.dataset.name, "kind": "left", "on": pairs})
    return name if dataset.column(name) is None else f"{reached.dataset.name}.{name}"


def ordered(document: dict[str, Any], dimensions: list[Dimension], ranking: Ranking | None) -> None:
    """Time runs forward, everything else from the largest down, unless a ranking says otherwise."""
    if not document.get("group"):
        return
    measure = document["aggregate"][0]["name"]
    times = [
        name
        for name, each in zip(document["group"], dimensions, strict=True)
        if each.unit is not None
    ]
    if ranking is None and times:
        others = [name for name in document["group"] if name not in times]
        document["order"] = [{"column": name} for name in [*times, *others]]
        return
    ascending = ranking is not None and ranking.ascending
    direction = "ascending" if ascending else "descending"
    document["order"] = [
        {"column": measure, "direction": direction},
        *({"column": name} for name in document["group"]),
    ]
    if ranking is not None:
        document["limit"] = ranking.limit


def ranking_in(ask: Ask) -> Ranking | None:
    """Top 10, the 5 largest, which … the most."""
    singular = ask.says("which", "what", "who")
    for start, end in sorted(ask.places(_RANKING)):
        word = ask.words[start]
        after = ask.tokens[end].number if end < len(ask.tokens) else None
        before = ask.tokens[start - 1].number if start else None
        if isinstance(after, int) and 0 < after <= 10_000 and word in {"top", "bottom", "best", "worst", "largest",
                                                                       "biggest", "highest", "lowest"}:  # fmt: skip
            return Ranking(after, word in _DOWN, range(start, end + 1))
        if isinstance(before, int) and 0 < before <= 10_000:
            return Ranking(before, word in _DOWN, range(start - 1, end))
        if word in {"top", "bottom"}:
            return Ranking(10, word in _DOWN, range(start, end))
        if singular and _ranks_groups(ask, start):
            return Ranking(1, word in _DOWN, range(start, end))
    return None


def _ranks_groups(ask: Ask, at: int) -> bool:
    """ "Which product has the highest net" ranks products; "what is the highest net" does not."""
    before = set(ask.words[:at])
    return bool(
        before
        & {
            "has",
            "have",
            "had",
            "with",
            "bring",
            "made",
            "generate",
            "brought",
            "get",
            "got",
            "open",
        }
    )


def _subject(ask: Ask, dataset: DatasetFacts, ranking: Ranking | None, grouping: Grouping) -> None:
    """What is ranked: the noun behind "top 10" or "which"."""
    begin = ranking.tokens.stop if ranking is not None else 0
    which = next((n for n, word in enumerate(ask.words) if word in {"which", "what"}), None)
    if ranking is None and not any(True for _ in ask.places(("most", "least", "fewest"))):
        return
    if which is not None:
        begin = which + 1
    thing = thing_at(ask, dataset, begin)
    if thing is not None:
        grouping.add(Dimension(thing[0], None, thing[1]), range(begin, begin + 1))
        return
    for each in columns_in(ask, dataset, begin):
        measured = each.column.kind == "number" and not each.column.is_reference
        if each.start != begin or measured:
            continue
        grouping.add(Dimension(each.column), range(each.start, each.end))
        return


def _compared(ask: Ask, dataset: DatasetFacts, conditions: Conditions, grouping: Grouping) -> None:
    """What has more than so many rows: "accounts with more than 5 invoices"."""
    end = min(conditions.used, default=0)
    for at in range(end):
        thing = thing_at(ask, dataset, at)
        if thing is not None:
            grouping.add(Dimension(thing[0], None, thing[1]), range(at, at + 1))
            return
    for each in columns_in(ask, dataset, 0, end):
        if each.column.kind != "number":
            grouping.add(Dimension(each.column), range(each.start, each.end))
            return


def function_in(
    ask: Ask, ranking: Ranking | None, taken: Container[int] = ()
) -> tuple[str | None, range]:
    for function, phrases in FUNCTIONS.items():
        for start, end in ask.places(phrases):
            inside = start in taken or (ranking is not None and start in ranking.tokens)
            if not inside and not (function in {"min", "max"} and ranking is not None):
                return function, range(start, end)
    return None, range(0)


def measure_in(
    ask: Ask, dataset: DatasetFacts, taken: set[int], function: str | None
) -> ColumnFacts | None:
    """The column of numbers that is measured; dates too, for the first and the last."""
    own = {n for start, end in name_spans(ask, dataset) for n in range(start, end)}
    found = [
        each
        for each in columns_in(ask, dataset)
        if not taken & set(range(each.start, each.end))
        and not (each.score < 2 and own & set(range(each.start, each.end)))
    ]
    numbers = [
        each for each in found if each.column.kind == "number" and not each.column.is_reference
    ]
    texts = [each for each in found if each.column.is_number_text]
    if function in {"min", "max"} and not numbers:
        times = [each for each in found if each.column.is_time]
        return times[0].column if times else None
    chosen = max(numbers or texts, key=lambda each: each.score, default=None)
    return None if chosen is None else chosen.column


def _meant(
    ask: Ask, measure: ColumnFacts | None, grouping: Grouping, conditions: Conditions
) -> str | None:
    """What a request means that names no function: a count of rows, a total of amounts, an average of ratings."""
    if measure is None:
        return "count" if grouping.dimensions else None
    filtered = bool(conditions.filters) and not ask.says(*_SHOWING)
    if not grouping.dimensions and grouping.ranked is None and not filtered:
        return None
    return "avg" if set(name_words(measure.name)) & _AVERAGED else "sum"


def _counted(ask: Ask, dataset: DatasetFacts, said: set[int]) -> ColumnFacts | None:
    after = max(said, default=-1) + 1
    found = columns_in(ask, dataset, after)
    return found[0].column if found and found[0].start - after <= 1 else None


def _sure(ask: Ask, dataset: DatasetFacts) -> float:
    named = bool(name_spans(ask, dataset))
    return 0.9 if named and not set(ask.words) & set(MEASURES) else 0.75 if named else 0.65
