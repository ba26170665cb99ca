"""Versions that hold plain values of columns that were encrypted since: read and brought back only with permission.

A commit on the main branch that encrypts a column seals every version of the dataset that has the column as it was.
Whatever reads a version asks here first, so there is no way around it: history, comparison, export, query, branch.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Denied
from steward.store import Prepared, Transaction
from steward.tables import Encryption
from steward.versions import _tables as tables
from steward.versions._branches import MAIN
from steward.versions._tree import Key

_unsealed: ContextVar[bool] = ContextVar("unsealed", default=False)
_SEALED: Final = Prepared(
    sa.select(tables.seals.c.dataset, tables.seals.c.columns).where(
        tables.seals.c.version_id.in_(sa.bindparam("ids", expanding=True))
    )
)


@dataclass(frozen=True)
class Exposure:
    """Where plain values of columns stay when they are encrypted now."""

    versions: int
    """Versions of the dataset that hold them."""
    related: tuple[str, ...]
    """Datasets it was made from, or that were made from it."""


@contextmanager
def unsealed(*, allowed: bool = True) -> Iterator[None]:
    """Inside, sealed versions can be read and brought back: for calls that policy allowed to decrypt."""
    token = _unsealed.set(allowed or _unsealed.get())
    try:
        yield
    finally:
        _unsealed.reset(token)


def is_unsealed() -> bool:
    return _unsealed.get()


def is_sealed(tx: Transaction, version_ids: Collection[str]) -> bool:
    return tx.first(_SEALED, {"ids": sorted(version_ids)}) is not None


def refuse_sealed(tx: Transaction, version_ids: Sequence[str]) -> None:
    found = tx.first(_SEALED, {"ids": version_ids}) if version_ids else None
    if found is not None:
        names = ", ".join(map(repr, found.columns[:5]))
        raise Denied(
            f"This version of {found.dataset!r} holds plain values of {names}, encrypted since. "
            "Only someone who may decrypt them can read it or bring it back.",
            code="sealed",
        )


def encrypted(columns: Sequence[Sequence[Any]]) -> dict[str, Encryption]:
    """Of columns as they are kept beside a version."""
    return {each[0]: Encryption(*each[2]) for each in columns if each[2:]}


def exposure(tx: Transaction, name: str, columns: Collection[str]) -> Exposure:
    inputs, change = tables.inputs.c, tables.changes.c
    both = tables.inputs.join(tables.changes, change.after == inputs.version_id)
    made = sa.select(inputs.name).select_from(both).where(change.name == name)
    sources = sa.select(change.name).select_from(both).where(inputs.name == name)
    found = [*tx.rows(made.distinct()), *tx.rows(sources.distinct())]
    related = sorted({row.name for row in found} - {name})
    known = _versions(tx, name)
    return Exposure(len(_plain(known, columns)), tuple(related))


def follow(
    tx: Transaction,
    branch: str,
    changed: Mapping[Key, tuple[str | None, str | None]],
    now: datetime,
) -> None:
    """What a commit does to seals: sealed versions come back with permission only, encrypting on main seals."""
    moved = {name: pair for (kind, name), pair in changed.items() if kind == "dataset"}
    back = sorted({after for _, after in moved.values() if after})
    seals = tables.seals
    for start in range(0, len(back), 500):
        chunk = back[start : start + 500]
        if not is_sealed(tx, chunk):
            continue
        if not is_unsealed():
            refuse_sealed(tx, chunk)
        found = tx.rows(_SEALED, {"ids": chunk})
        lifted: sa.ColumnElement[bool] = seals.c.version_id.in_(chunk)
        if branch == MAIN:
            # The column is plain again where everybody works, so its history is, too.
            lifted |= seals.c.dataset.in_({row.dataset for row in found})
        tx.execute(sa.delete(seals).where(lifted))
    if branch != MAIN:
        return
    for name, (before, after) in moved.items():
        if before is not None and after is not None:
            _seal(tx, name, before, after, now)


def _seal(tx: Transaction, name: str, before: str, after: str, now: datetime) -> None:
    ends = _columns(tx, [before, after])
    if before not in ends:
        return
    newly = encrypted(ends[after]).keys() - encrypted(ends[before]).keys()
    newly &= {each[0] for each in ends[before]}
    if not newly:
        return
    rows = [
        {"version_id": each, "dataset": name, "columns": found, "created_at": now}
        for each, found in _plain(_versions(tx, name), newly).items()
    ]
    # What was sealed for another column before is sealed for both.
    for row in rows:
        same = (tables.seals.c.version_id == row["version_id"], tables.seals.c.dataset == name)
        tx.execute(sa.delete(tables.seals).where(*same))
    if rows:
        tx.execute(sa.insert(tables.seals), rows)


def _plain(known: Mapping[str, Any], columns: Collection[str]) -> dict[str, list[str]]:
    """Versions that hold some of the columns unencrypted, with their names."""
    found = {
        each: sorted({one[0] for one in listed if not one[2:]} & set(columns))
        for each, listed in known.items()
    }
    return {each: names for each, names in found.items() if names}


def _versions(tx: Transaction, name: str) -> dict[str, Any]:
    """All versions that a dataset ever had, with their columns."""
    change = tables.changes.c
    named = sa.select(change.before, change.after).where(
        change.kind == "dataset", change.name == name
    )
    return _columns(tx, {each for row in tx.rows(named.distinct()) for each in row if each})


def _columns(tx: Transaction, ids: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    listed, version = sorted(ids), tables.versions.c
    for start in range(0, len(listed), 500):
        chunk = version.id.in_(listed[start : start + 500])
        rows = tx.rows(sa.select(version.id, version.columns).where(chunk))
        found |= {row.id: row.columns for row in rows}
    return found
