"""The rows behind a figure in place of the figure."""

from dataclasses import replace
from typing import Any, Final

from steward.agents.rules.changing.work import MOST_ROWS, Work
from steward.agents.rules.drawing import kind_in
from steward.agents.rules.expressions import Piece, equal
from steward.agents.rules.grouping import Grouping
from steward.definitions import ColumnFacts

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


def is_about_rows(
    work: Work, grouping: Grouping, function: str | None, order: list[dict[str, Any]]
) -> bool:
    if not work.made.get("aggregate") or function is not None or kind_in(work.ask) is not None:
        return False
    plain = not grouping.dimensions and not order and not work.said
    asked = work.ask.says(*_SHOW) and work.ask.says(*_THOSE)
    return work.ask.says(*_ROWS) or (asked and plain)


def show_rows(work: Work) -> None:
    picked = _picked(work) if "limit" in work.made else []
    for key in ("group", "aggregate", "having", "window", "order", "limit", "offset"):
        work.made.pop(key, None)
    if picked:
        work.made.setdefault("filters", []).extend(picked)
    if work.dataset.key:
        work.made["order"] = [{"column": name} for name in work.dataset.key]
    work.made["limit"] = MOST_ROWS
    work.take((*_ROWS, *_SHOW, *_THOSE))
    work.said.append("the rows behind it")


def _picked(work: Work) -> list[Piece]:
    """Of a ranking only those that came out: the values of its groups."""
    found: list[Piece] = []
    for name in work.made.get("group", []):
        facts = _grouped(work, name)
        if facts is None or name not in work.frame.columns:
            continue
        place = work.frame.columns.index(name)
        values = [row[place] for row in work.frame.rows if place < len(row)]
        there = [each for each in values if each is not None]
        if there:
            found.append(equal(facts, list(dict.fromkeys(there))))
    return found


def _grouped(work: Work, name: str) -> ColumnFacts | None:
    """A column that the query groups by, of its dataset or of one that it joins."""
    own = work.dataset.column(name)
    if own is not None:
        return own
    for each in work.made.get("joins", ()):
        other = work.ask.catalogue.datasets.get(each["dataset"])
        found = None if other is None else other.column(name.removeprefix(f"{other.name}."))
        if found is not None:
            return replace(found, name=name)
    return None
