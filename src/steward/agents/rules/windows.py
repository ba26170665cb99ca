"""Figures beside figures: shares of the whole, running totals, differences to what came before."""

from typing import Any, Final

from steward.agents.rules.asking import Ask

_SHARE: Final = (
    "share",
    "percent",
    "proportion",
    "in percent",
    "as percent",
    "percent of total",
    "relative",
)
_RUNNING: Final = (
    "cumulative",
    "cumulated",
    "running total",
    "running sum",
    "accumulated",
    "year to date",
)
_DIFFERENCE: Final = ("difference to", "difference from", "change to", "change from", "growth", "change over",
                      "compared to the previous", "compared with the previous", "month over month",
                      "year over year", "quarter over quarter", "versus the previous", "difference")  # fmt: skip
_PREVIOUS: Final = ("the previous month", "the previous year", "the previous quarter", "the previous week",
                    "previous month", "previous year", "previous quarter", "previous week", "month before",
                    "year before", "the one before", "previous one", "total")  # fmt: skip


def windows_in(ask: Ask, document: dict[str, Any]) -> tuple[list[dict[str, Any]], set[int]]:
    """What the request wants beside the groups of a query, and the tokens that said so."""
    group, aggregates = document.get("group", []), document.get("aggregate", [])
    if not group or not aggregates:
        return [], set()
    measure = aggregates[0]["name"]
    times = [each["name"] for each in document.get("derive", []) if each["name"] in group]
    order = [{"column": times[0]}] if times else []
    partition = [name for name in group if name not in times]
    found: list[dict[str, Any]] = []
    used: set[int] = set()
    for phrases, function, name in (
        (_SHARE, "share", f"share_of_{measure}"),
        (_RUNNING, "sum", f"running_{measure}"),
        (_DIFFERENCE, "difference", f"change_of_{measure}"),
    ):
        places = [n for start, end in ask.places(phrases) for n in range(start, end)]
        if not places or (function != "share" and not order):
            continue
        used |= set(places)
        used |= {n for start, end in ask.places(_PREVIOUS) for n in range(start, end)}
        window: dict[str, Any] = {"name": name[:200], "function": function, "column": measure}
        if function != "share":
            window |= {"order": order, **({"partition": partition} if partition else {})}
        found.append(window)
    return found, used


def wants_share(ask: Ask) -> bool:
    return ask.says(*_SHARE)
