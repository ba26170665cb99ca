"""In which order a changed query comes, and how many rows or groups of it."""

from typing import Any, Final

from steward.agents.rules.asking import phrase_words, spans
from steward.agents.rules.changing.work import Work
from steward.agents.rules.intents.rows import limit_in
from steward.agents.rules.naming import columns_in
from steward.agents.rules.querying import Ranking

_UPSIDE: Final = ("reverse", "other way round", "other way around", "turn around", "upside down")
_NEXT: Final = ("next page", "next", "more", "show more", "further", "continue", "go on")
_ALL: Final = ("all of them", "show all", "all rows", "without limit", "no limit", "the whole list")
_SMALLEST: Final = ("smallest", "lowest", "worst", "least", "bottom", "fewest", "cheapest")
_LARGEST: Final = ("largest", "highest", "biggest", "best", "most", "greatest")
_MOST_AT_ALL: Final = 1_000
_FLIPPED: Final = {"ascending": "descending", "descending": "ascending"}


def order_by_figure(
    work: Work, order: list[dict[str, Any]], taken: set[int]
) -> tuple[list[dict[str, Any]], set[int]]:
    """ "Sort by count": a column of the result that is none of the dataset."""
    names = [each["name"] for each in work.made.get("aggregate", ())]
    names += [each["name"] for each in work.made.get("window", ())]
    for start, end in work.ask.places(("sort by", "sorted by", "order by", "ordered by")):
        for name in names:
            for first, last in spans(work.ask.words[end:], phrase_words(name.replace("_", " "))):
                if first == 0:
                    falls = not work.ask.says("ascending", "smallest first", "lowest first")
                    direction = "descending" if falls else "ascending"
                    tokens = set(range(start, end + last))
                    return [{"column": name, "direction": direction}], taken | tokens
    return order, taken


def turn_around(work: Work, ranking: Ranking | None) -> bool:
    """The other end of a ranking: "the smallest instead"."""
    order = work.made.get("order")
    if not order or (ranking is not None and ranking.limit != 1):
        return False
    ranked = "limit" in work.made or not work.made.get("aggregate")
    wanted = ""
    if work.ask.says(*_UPSIDE):
        wanted = _FLIPPED[order[0].get("direction", "ascending")]
    elif ranked and ranking is None and not columns_in(work.ask, work.dataset):
        if work.ask.says(*_SMALLEST):
            wanted = "ascending"
        elif work.ask.says(*_LARGEST):
            wanted = "descending"
    if not wanted:
        return False
    work.take((*_UPSIDE, *_SMALLEST, *_LARGEST))
    order[0]["direction"] = wanted
    work.said.append("smallest first" if wanted == "ascending" else "largest first")
    return True


def put_in_order(work: Work, order: list[dict[str, Any]], ranking: Ranking | None) -> None:
    made, ask = work.made, work.ask
    if order:
        made["order"] = [_fitting(made, each) for each in order]
        work.said.append(f"sorted by {made['order'][0]['column']}")
    elif ask.says("descending", "ascending") and made.get("order"):
        direction = "descending" if ask.says("descending") else "ascending"
        made["order"] = [{**made["order"][0], "direction": direction}, *made["order"][1:]]
        work.said.append(direction)
    limit = ranking.limit if ranking is not None else limit_in(ask)
    if limit is None:
        _turn_page(work)
        return
    made["limit"] = limit
    made.pop("offset", None)
    work.said.append(f"the first {limit}")
    if ranking is not None and made.get("aggregate"):
        direction = "ascending" if ranking.ascending else "descending"
        made["order"] = [{"column": made["aggregate"][0]["name"], "direction": direction}]


def _turn_page(work: Work) -> None:
    made = work.made
    limit = made.get("limit")
    if work.said or limit is None:
        return
    if work.ask.says(*_ALL):
        made["limit"] = _MOST_AT_ALL
        made.pop("offset", None)
        work.take(_ALL)
        work.said.append("all of them")
    elif work.ask.says(*_NEXT):
        work.take(_NEXT)
        if made.get("aggregate"):
            made["limit"] = min(limit * 2, _MOST_AT_ALL)
            work.said.append(f"the first {made['limit']}")
            return
        if not made.get("order"):
            key = work.dataset.key or work.dataset.names[:1]
            made["order"] = [{"column": name} for name in key]
        made["offset"] = made.get("offset", 0) + limit
        wanted = next((t.number for t in work.ask.tokens if isinstance(t.number, int)), None)
        made["limit"] = wanted if wanted and 0 < wanted <= _MOST_AT_ALL else limit
        work.said.append(f"rows from {made['offset'] + 1} on")


def _fitting(made: dict[str, Any], order: dict[str, Any]) -> dict[str, Any]:
    """After aggregating, a measure is sorted by its aggregate."""
    there = [*made.get("group", ()), *(each["name"] for each in made.get("aggregate", ()))]
    there += [each["name"] for each in made.get("window", ())]
    if not made.get("aggregate") or order["column"] in there:
        return order
    by_column = {each.get("column"): each["name"] for each in made["aggregate"]}
    return {**order, "column": by_column.get(order["column"], made["aggregate"][0]["name"])}
