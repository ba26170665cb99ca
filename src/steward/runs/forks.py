"""Forks: a run copied up to one step and driven on with a change, and two runs side by side."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.core import Invalid, NotFound
from steward.runs import _tables as tables
from steward.runs.canonical import Json, canonical
from steward.runs.capsules import artifacts_of
from steward.runs.entries import Entry, Link, blob_references, made
from steward.runs.entry_types import EntryType, Kind, Mark
from steward.runs.model import RunRequest
from steward.store import Transaction

_COPIED = {
    Kind.step, Kind.retry, Kind.intent, Kind.outcome, Kind.opened, Kind.closed, Kind.note,
}  # fmt: skip


def prefix(entries: Iterable[Entry], at: str | None) -> list[Entry]:
    """What a fork keeps: everything that was written before the first entry of step `at`."""
    kept: list[Entry] = []
    found = at is None
    for entry in entries:
        if at is not None and entry.kind in _COPIED and _is_at(entry.key, at):
            found = True
            break
        if entry.kind in _COPIED:
            kept.append(entry)
    if not found:
        raise NotFound(f"The run has no step {at!r}; its steps are named in its journal.")
    dropped = _left_out(kept, at)
    return [entry for entry in kept if entry.key not in dropped and entry.of not in dropped]


def _left_out(kept: Sequence[Entry], at: str | None) -> frozenset[str]:
    """Keys of what was under way at the cut: calls as a whole, and other waits.

    A fork plans such a call again and asks again: an approval is for the run in which it was given. And an effect
    whose outcome lies behind the cut would look like one that was lost in a crash.
    """
    settled = {entry.key for entry in kept if entry.kind == Kind.outcome}
    closed = {entry.key for entry in kept if entry.kind == Kind.closed}
    unsettled = {
        name
        for entry in kept
        if (entry.kind == Kind.intent and entry.key not in settled)
        or (entry.kind == Kind.opened and entry.key not in closed)
        for name in (entry.key, entry.of)
    }
    cut = {
        entry.of
        for entry in kept
        if entry.type == EntryType.call_planned and at is not None and _is_at(at, entry.of)
    }
    return frozenset(unsettled | cut)


def _is_at(key: str, at: str) -> bool:
    return key == at or key.startswith(f"{at}/")


def changed(request: RunRequest, changes: Mapping[str, Json]) -> RunRequest:
    """A request with values replaced; paths are JSON pointers such as `/inputs/threshold`."""
    document: dict[str, Any] = copy.deepcopy(asdict(request))
    for pointer, value in changes.items():
        _set(document, pointer, value)
    return RunRequest(**document)


def _set(document: dict[str, Any], pointer: str, value: Json) -> None:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    if not pointer.startswith("/") or parts[0] not in {"inputs", "document", "title"}:
        raise Invalid(
            f"{pointer!r} cannot be changed; a path starts with /inputs or /document.",
            code="bad-pointer",
        )
    target: Any = document
    for part in parts[:-1]:
        target = _child(target, part, pointer)
    last = parts[-1]
    if isinstance(target, list):
        target[_index(target, last, pointer)] = value
    elif isinstance(target, dict):
        target[last] = value
    else:
        raise _no_place(pointer)


def _child(target: Any, part: str, pointer: str) -> Any:
    if isinstance(target, list):
        return target[_index(target, part, pointer)]
    if isinstance(target, dict) and part in target:
        return target[part]
    raise _no_place(pointer)


def _index(target: list[Any], part: str, pointer: str) -> int:
    if not part.isdigit() or int(part) >= len(target):
        raise _no_place(pointer)
    return int(part)


def _no_place(pointer: str) -> Invalid:
    return Invalid(f"There is nothing at {pointer!r} in the run's request.", code="bad-pointer")


def copied(
    tx: Transaction, run_id: str, link: Link, entries: Iterable[Entry], now: datetime
) -> Link:
    """Writes entries of another run behind the first entry of a new one, in its own chain."""
    rows = []
    digests: set[str] = set()
    for source in entries:
        mark = Mark(source.type, source.of)
        entry = made(run_id, link, Kind(source.kind), source.key, now, source.data, mark)
        link = Link(entry.seq, entry.hash)
        rows.append(
            {
                "run_id": run_id,
                "seq": entry.seq,
                "kind": entry.kind,
                "key": entry.key,
                "body": entry.body,
                "hash": entry.hash,
            }
        )
        digests |= {*blob_references(source.data), *artifacts_of(source.data.get("result"))}
    if rows:
        tx.execute(sa.insert(tables.journal), rows)
    if digests:
        tx.execute(
            sa.insert(tables.run_blobs),
            [{"run_id": run_id, "digest": digest} for digest in sorted(digests)],
        )
    return link


@dataclass(frozen=True)
class StepDifference:
    """One step of two runs; a side that does not have it is None."""

    key: str
    same: bool
    left: Json
    right: Json


def compared(left: Iterable[Entry], right: Iterable[Entry]) -> list[StepDifference]:
    """Steps, waits and the end of two runs, side by side in the order of the first."""
    ours, theirs = _by_key(left), _by_key(right)
    keys = [*ours, *(key for key in theirs if key not in ours)]
    found = []
    for key in keys:
        one, other = ours.get(key), theirs.get(key)
        found.append(StepDifference(key, canonical(one) == canonical(other), one, other))
    return found


def _by_key(entries: Iterable[Entry]) -> dict[str, Json]:
    kinds = {Kind.step, Kind.outcome, Kind.closed, Kind.done, Kind.failed, Kind.cancelled}
    return {entry.key: entry.data for entry in entries if entry.kind in kinds}
