"""How each node of a flow stands in a run: what it gave last, how long it took, what it cost, what went wrong."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from steward.flows.drawing import drawing
from steward.flows.model import Flow
from steward.runs import Call, Entry, EntryType, Json, Payload, Projection

_REPEATED: Final = re.compile(r"(\[\d+\]|#\d+|~\d+)+$")
"""What follows the id of a node in a key: the item of a map, the round of a loop, the try."""
_OVER: Final = frozenset({"done", "failed", "denied", "refused"})
_ENDS: Final = frozenset({EntryType.run_done, EntryType.run_failed, EntryType.run_cancelled})
_WIDEST: Final = 40
_FIRST: Final = 3
_LONGEST: Final = 300
_DEEPEST: Final = 6


@dataclass
class Standing:
    """One node in a run. A node inside a map or loop has run several times."""

    node: str
    """The ids on the way to it, as an editor names it: `each/show`."""
    state: str = "running"
    times: int = 0
    failed: int = 0
    began_at: str | None = None
    ended_at: str | None = None
    seconds: float = 0.0
    """Time in its calls, added up; waiting for a person is in it."""
    usd: Decimal = Decimal(0)
    tokens: int = 0
    size: int | None = None
    """How many rows or items it gave last."""
    sample: Json = None
    """What it gave last, shortened."""
    error: Json = None
    key: str = ""
    """Its last call."""
    open_calls: int = field(default=0, repr=False)
    inner_error: Json = field(default=None, repr=False)
    """Of a call below it; an agent may have made up for it."""


def standings(flow: Flow, entries: Iterable[Entry], payload: Payload) -> list[Standing]:
    """The nodes that have begun, in the order in which they did."""
    nodes = frozenset(drawing(flow)[0])
    projection = Projection(payload)
    found: dict[str, Standing] = {}
    end: Entry | None = None
    for entry in entries:
        projection.take(entry)
        if entry.type in _ENDS:
            end = entry
        node = node_of(entry.of, nodes) if entry.type == EntryType.budget_settled else None
        if node is not None:
            _spend(found.setdefault(node, Standing(node)), entry.data["request"]["cost"])
    for call in projection.calls.values():
        node = node_of(call.key, nodes)
        if node is not None:
            is_tried_again = _next_try(call.key) in projection.calls
            _add(found.setdefault(node, Standing(node)), call, is_tried_again=is_tried_again)
    for standing in found.values():
        if end is not None and standing.open_calls:
            _stop(standing, end)
        standing.state = _state(standing)
    if end is not None and end.type == EntryType.run_failed:
        _blame(found, nodes, end)
    return list(found.values())


def _next_try(key: str) -> str:
    base, _, attempt = key.rpartition("~")
    return f"{base}~{int(attempt) + 1}" if base and attempt.isdigit() else f"{key}~2"


def _add(standing: Standing, call: Call, *, is_tried_again: bool) -> None:
    if isinstance(call.cost, Mapping):
        _spend(standing, call.cost)
    if _is_own(call.key, standing.node):
        _count(standing, call, is_tried_again=is_tried_again)
        return
    standing.inner_error = call.error or standing.inner_error
    if call.state == "waiting":
        # What an agent does inside its node can stop for a person, too.
        standing.open_calls, standing.state = standing.open_calls + 1, "waiting"
        standing.key = call.key


def calls_at(node: str, flow: Flow, calls: Sequence[Call]) -> list[Call]:
    """The calls of one node: one for each item of the maps around it."""
    nodes = frozenset(drawing(flow)[0])
    return [call for call in calls if node_of(call.key, nodes) == node and _is_own(call.key, node)]


def node_of(key: str, nodes: frozenset[str]) -> str | None:
    """The innermost node that a key of the journal belongs to; parts of keys that name no node are left out."""
    found = ""
    for part in key.split("/"):
        name = _plain(part)
        longer = f"{found}/{name}" if found else name
        if longer in nodes:
            found = longer
        elif not found:
            return None
    return found or None


def _plain(part: str) -> str:
    return _REPEATED.sub("", part.partition(":")[0])


def _is_own(key: str, node: str) -> bool:
    """Whether a key is that of the node itself: agents make calls of their own below it."""
    return _plain(key.rpartition("/")[2]) == node.rpartition("/")[2]


def _spend(standing: Standing, cost: Mapping[str, Any]) -> None:
    standing.usd += Decimal(str(cost.get("usd", 0)))
    standing.tokens += int(cost.get("tokens", 0))


def _count(standing: Standing, call: Call, *, is_tried_again: bool) -> None:
    standing.times += 1
    standing.began_at = standing.began_at or call.began_at
    if call.state not in _OVER:
        standing.open_calls += 1
        standing.key = call.key
        if call.state == "waiting":
            standing.state = "waiting"
        return
    if call.ended_at is not None:
        standing.ended_at = call.ended_at
        standing.seconds += _between(call.began_at, call.ended_at)
    if (call.error is not None or call.state != "done") and not is_tried_again:
        standing.failed += 1
        standing.error = call.error or {"code": call.state, "message": "Somebody said no."}
    else:
        standing.sample, standing.size = shortened(call.value), size_of(call.value)
    if not standing.open_calls:
        standing.key = call.key


def _stop(standing: Standing, end: Entry) -> None:
    """Nothing goes on after the end of a run: what was under way then failed with it, or was left."""
    standing.open_calls = 0
    standing.ended_at = end.at
    if end.type != EntryType.run_done:
        standing.failed += 1
        standing.error = standing.error or standing.inner_error or end.data.get("error")


def _blame(found: dict[str, Standing], nodes: frozenset[str], end: Entry) -> None:
    """A node can fail before it calls anything, such as by an expression: the end of the run names it.

    The nodes around it failed with it.
    """
    error = end.data.get("error") or {}
    at = str(error.get("at") or "")
    node = node_of(at, nodes)
    while node:
        standing = found.setdefault(node, Standing(node, key=at, ended_at=end.at))
        if standing.error is None:
            standing.failed, standing.error = standing.failed + 1, error
            standing.state = "failed"
        node = node.rpartition("/")[0]


def _state(standing: Standing) -> str:
    if standing.open_calls:
        return "waiting" if standing.state == "waiting" else "running"
    return "failed" if standing.failed else "done"


def _between(began: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def size_of(value: Json) -> int | None:
    """How many rows or items a value has."""
    rows = value.get("rows") if isinstance(value, Mapping) else value
    return len(rows) if isinstance(rows, list) else None


def shortened(value: Json, depth: int = 0) -> Json:
    """A value with its shape kept and most of its content left out: enough to name its parts."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return {}
        return {k: shortened(v, depth + 1) for k, v in list(value.items())[:_WIDEST]}
    if isinstance(value, list):
        return [] if depth >= _DEEPEST else [shortened(v, depth + 1) for v in value[:_FIRST]]
    return value
