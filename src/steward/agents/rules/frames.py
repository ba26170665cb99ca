"""What a follow-up builds on: the last query as a plan that can be changed, or the dataset that was last worked on."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from steward.agents.planning.task import Last
from steward.agents.rules.asking import Ask
from steward.agents.rules.drawing import drawn_plan
from steward.agents.rules.expressions import day_of
from steward.agents.rules.naming import is_date
from steward.core.errors import Invalid
from steward.definitions import DatasetFacts
from steward.sandbox.query_plan import QueryPlan

_TIMED: Final = frozenset({"date_trunc", "year", "quarter", "month", "day"})
_LOOKS: Final = frozenset(
    {"execute_query_plan", "execute_sql", "query", "execute_python", "preview", "chart"}
)


@dataclass(frozen=True)
class Frame:
    """A query plan with the dataset it is about; with nothing but a source where no query came before."""

    document: dict[str, Any]
    dataset: DatasetFacts
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    """What came out, where that was little."""

    @property
    def is_bare(self) -> bool:
        return set(self.document) == {"source"}

    @property
    def counts(self) -> bool:
        return bool(self.document.get("aggregate"))

    @property
    def period(self) -> tuple[date, date] | None:
        """The stretch of time that the query is limited to, where it is one with both ends."""
        found = period_of(self.document)
        return None if found is None else found[1:]


def frame_of(ask: Ask) -> Frame | None:
    document, acted = _last_document(ask.task.last), ask.task.acted
    if acted is not None:
        # Something else was done since: what was asked before goes on only with the same data.
        other = document is None or document["source"].casefold() != acted.dataset.casefold()
        if other and (document is None or acted.tool not in _LOOKS):
            document = {"source": acted.dataset}
    if document is None:
        return None
    wanted = str(document["source"]).casefold()
    dataset = next(
        (each for name, each in ask.catalogue.datasets.items() if name.casefold() == wanted), None
    )
    if dataset is None:
        return None
    last = ask.task.last
    known = last is not None and _last_document(last) == document
    return Frame(
        refreshed(document, dataset),
        dataset,
        last.columns if last is not None and known else (),
        last.rows if last is not None and known else (),
    )


def _last_document(last: Last | None) -> dict[str, Any] | None:
    """The last query as a plan's document; None when it was none, as with SQL."""
    if last is None:
        return None
    if last.tool == "preview":
        return _previewed(last.arguments)
    if last.tool == "execute_query_plan":
        given = last.arguments.get("plan")
    else:
        # The query and its chart run side by side; either may have ended last.
        given = drawn_plan(last.tool, last.arguments)
    try:
        if isinstance(given, str):
            plan = QueryPlan.parse(given)
        elif isinstance(given, dict):
            plan = QueryPlan.model_validate(given)
        else:
            return None
    except (Invalid, ValueError, RecursionError):
        return None
    found: dict[str, Any] = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found


def _previewed(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """A page of rows as the query that gives the same."""
    if not isinstance(arguments.get("dataset"), str) or arguments.get("at"):
        return None
    found: dict[str, Any] = {"source": arguments["dataset"]}
    if arguments.get("filters"):
        return found
    sort = arguments.get("sort") or ()
    if sort:
        found["order"] = [
            {
                "column": each["column"],
                "direction": "descending" if each.get("descending") else "ascending",
            }
            for each in sort
        ]
    if "limit" in arguments:
        found["limit"] = arguments["limit"]
    if arguments.get("offset") and sort:
        found["offset"] = arguments["offset"]
    return found


def refreshed(document: Mapping[str, Any], dataset: DatasetFacts) -> dict[str, Any]:
    """The query over the columns as they are now: text may have become dates since, or text again."""

    def visit(piece: Any, timed: bool) -> Any:
        if isinstance(piece, list):
            return [visit(each, timed) for each in piece]
        if not isinstance(piece, dict):
            return piece
        name = _dated(piece)
        if name is None and timed and set(piece) == {"column"}:
            name = piece["column"]
        facts = dataset.column(name) if isinstance(name, str) else None
        if facts is not None and is_date(facts, dataset):
            return day_of(facts)
        if name is not None and facts is None:
            return copy.deepcopy(piece)
        timed = _is_timed(piece)
        return {key: visit(each, timed) for key, each in piece.items()}

    return {
        key: visit(each, timed=False) if key in {"derive", "filters"} else copy.deepcopy(each)
        for key, each in document.items()
    }


def _dated(piece: Mapping[str, Any]) -> str | None:
    """The column that a piece reads as dates, where it is written as `day_of` writes it."""
    if piece.get("to") != "date" or "cast" not in piece:
        return None
    names = set(columns_of(piece["cast"]))
    return names.pop() if len(names) == 1 else None


def columns_of(piece: Any) -> Iterator[str]:
    if isinstance(piece, list):
        for each in piece:
            yield from columns_of(each)
    elif isinstance(piece, dict):
        if isinstance(piece.get("column"), str):
            yield piece["column"]
        for each in piece.values():
            yield from columns_of(each)


def _is_timed(piece: Mapping[str, Any]) -> bool:
    if piece.get("function") in _TIMED:
        return True
    right = piece.get("right")
    given = right.get("value") if isinstance(right, dict) else None
    return "compare" in piece and isinstance(given, dict) and "date" in given


def period_of(document: Mapping[str, Any]) -> tuple[str, date, date] | None:
    """The column by which a query is limited in time, and from when to when."""
    starts: dict[str, date] = {}
    ends: dict[str, date] = {}
    for each in document.get("filters", ()):
        found = _bound(each)
        if found is not None:
            (starts if each["compare"] == ">=" else ends)[found[0]] = found[1]
    both = next((name for name in starts if name in ends), None)
    return None if both is None else (both, starts[both], ends[both])


def _bound(piece: Any) -> tuple[str, date] | None:
    if not isinstance(piece, dict) or piece.get("compare") not in {">=", "<"}:
        return None
    value = piece["right"].get("value") if isinstance(piece.get("right"), dict) else None
    names = set(columns_of(piece.get("left")))
    if not isinstance(value, dict) or "date" not in value or len(names) != 1:
        return None
    return names.pop(), date.fromisoformat(str(value["date"]))


def moved(document: dict[str, Any], step: Callable[[date], date]) -> None:
    """Moves the query's stretch of time."""
    for each in document.get("filters", ()):
        found = _bound(each)
        if found is not None:
            each["right"] = {"value": {"date": step(found[1]).isoformat()}}


def is_about(piece: Any, column: str) -> bool:
    """Whether a condition looks at a column."""
    return json.dumps({"column": column}) in json.dumps(piece)
