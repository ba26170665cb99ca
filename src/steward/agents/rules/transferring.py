"""Carries a query over to another dataset: "the same for tickets"."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.rules.asking import Ask, name_words
from steward.agents.rules.conditions import money
from steward.agents.rules.expressions import day_of, equal, within
from steward.agents.rules.frames import Frame, columns_of, period_of
from steward.agents.rules.grouping import Dimension
from steward.agents.rules.naming import date_column
from steward.agents.rules.periods import Period
from steward.agents.rules.querying import aggregated, ordered, placed
from steward.definitions import ColumnFacts, DatasetFacts

_UNITS: Final = frozenset({"day", "week", "month", "quarter", "year"})
_GENERAL: Final = frozenset({"id", "no", "name", "date", "at", "code", "ref"})


@dataclass(frozen=True)
class Carried:
    frame: Frame
    left: tuple[str, ...] = ()
    """What the other dataset has nothing for."""


def carried(ask: Ask, frame: Frame, other: DatasetFacts) -> Carried:
    """The query over another dataset, as far as that has what it takes."""
    before, left = frame.document, []
    made: dict[str, Any] = {"source": other.name}
    dimensions: list[Dimension] = []
    for name in before.get("group", ()):
        dimension = _dimension(ask, name, frame, other)
        if dimension is None:
            left.append(name)
        else:
            dimensions.append(dimension)
    filters, missing = _filters(ask, frame, other)
    left += missing
    if filters:
        made["filters"] = filters
    if before.get("aggregate"):
        group = [placed(made, other, each) for each in dimensions]
        if group:
            made["group"] = group
        made["aggregate"] = [_aggregate(before["aggregate"][0], other, group, left)]
        ordered(made, dimensions, None)
    if "limit" in before:
        made["limit"] = before["limit"]
    return Carried(Frame(made, other), tuple(dict.fromkeys(left)))


def _dimension(ask: Ask, name: str, frame: Frame, other: DatasetFacts) -> Dimension | None:
    derived = {each["name"] for each in frame.document.get("derive", ())}
    unit = name.split(" of ", maxsplit=1)[0]
    if name in derived and unit in _UNITS:
        time = date_column(ask, other)
        return None if time is None else Dimension(time, unit)
    found = _same(frame.dataset.column(name), name, other)
    return None if found is None else Dimension(found)


def _same(facts: ColumnFacts | None, name: str, other: DatasetFacts) -> ColumnFacts | None:
    """The column that says the same there: by its name, its meaning, or the noun of its name."""
    own = other.column(name)
    if own is not None:
        return own
    meanings = set(facts.meanings) - {"category"} if facts is not None else set()
    words = set(name_words(name)) - _GENERAL
    kind = facts.kind if facts is not None else None
    for each in other.columns:
        if kind is not None and each.kind != kind:
            continue
        alike = (
            {"country", "email", "phone", "currency", "postcode"} & meanings & set(each.meanings)
        )
        if alike or words & (set(name_words(each.name)) - _GENERAL):
            return each
    return None


def _aggregate(
    before: Mapping[str, Any], other: DatasetFacts, group: list[str], left: list[str]
) -> dict[str, Any]:
    name = before.get("column")
    if name is None:
        return aggregated("count", None, group)
    facts = other.column(name) or money(other)
    if facts is None or facts.kind != "number":
        left.append(str(name))
        return aggregated("count", None, group)
    return aggregated(before["function"], facts, group)


def _filters(ask: Ask, frame: Frame, other: DatasetFacts) -> tuple[list[dict[str, Any]], list[str]]:
    found: list[dict[str, Any]] = []
    left: list[str] = []
    period, time = period_of(frame.document), date_column(ask, other)
    if period is not None and time is not None:
        found += within(Period(period[1], period[2], 0, 0), day_of(time))
    for each in frame.document.get("filters", ()):
        names = list(dict.fromkeys(columns_of(each)))
        if period is not None and names == [period[0]]:
            if time is None:
                left.append(names[0])
            continue
        facts = _same(frame.dataset.column(names[0]), names[0], other) if names else None
        values = list(_values(each))
        if facts is None or not values or facts.kind != "text":
            left += names[:1]
            continue
        negate = each.get("compare") == "!=" or bool(each.get("negate"))
        found.append(equal(facts, values, negate=negate))
    return found, left


def _values(piece: Mapping[str, Any]) -> Iterator[str]:
    """The texts that a condition asks for."""
    if piece.get("compare") in {"=", "!="}:
        given = [piece["right"]]
    else:
        given = list(piece.get("among", ()))
    for each in given:
        if isinstance(each, Mapping) and isinstance(each.get("value"), str):
            yield each["value"]
