"""In which order: "sorted by net descending", "newest first"."""

from typing import Any, Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.naming import columns_in, date_column
from steward.definitions import DatasetFacts

_SORTED: Final = ("sorted by", "sort by", "order by", "ordered by", "sort", "ranked by")
_DOWN: Final = ("descending", "desc", "largest first", "highest first", "biggest first", "from high to low",
                "high to low", "decreasing", "reverse", "newest first", "latest first", "z to a")  # fmt: skip
_UP: Final = ("ascending", "asc", "smallest first", "lowest first", "from low to high", "low to high", "increasing",
              "oldest first", "earliest first", "a to z", "alphabetically")  # fmt: skip
_BY_TIME: Final = ("newest", "latest", "most recent", "oldest", "earliest")


def order_in(ask: Ask, dataset: DatasetFacts) -> tuple[list[dict[str, Any]], set[int]]:
    """The order that is asked for, as a query plan has it, and the tokens that said so."""
    down, up = list(ask.places(_DOWN)), list(ask.places(_UP))
    used = {n for start, end in [*down, *up] for n in range(start, end)}
    for start, end in sorted(ask.places(_SORTED)):
        found = [each for each in columns_in(ask, dataset, end) if each.start - end <= 1]
        if found:
            used |= set(range(start, found[0].end))
            facts = found[0].column
            falls = bool(down) or (facts.kind == "number" and not up and ask.says("top", "highest"))
            return [_by(facts.name, falls)], used
    for start, end in ask.places(_BY_TIME):
        time = date_column(ask, dataset)
        if time is not None and time.is_time:
            used |= set(range(start, end))
            return [_by(time.name, ask.words[start] not in {"oldest", "earliest"})], used
    return [], used


def _by(name: str, falls: bool) -> dict[str, Any]:
    return {"column": name, "direction": "descending" if falls else "ascending"}
