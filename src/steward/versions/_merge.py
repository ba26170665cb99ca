"""Merging branches: three-way by entry, and by row where both sides changed different rows of one dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from steward.store import Scope
from steward.versions._content import Content
from steward.versions._history import History, Row
from steward.versions._record import as_kind
from steward.versions._rows import Clash
from steward.versions._tree import Key
from steward.versions.results import EntryConflict

Side = Literal["ours", "theirs"]


@dataclass(frozen=True)
class Contested:
    """An entry that both sides changed, to different ends."""

    key: Key
    base: str | None
    ours: str | None
    theirs: str | None
    commits: tuple[str, ...] = ()


@dataclass(frozen=True)
class MergePlan:
    base: Row
    ours: Row
    theirs: Row
    wanted: Mapping[Key, str | None]
    contested: tuple[Contested, ...]

    @property
    def keys(self) -> set[Key]:
        return {*self.wanted, *(item.key for item in self.contested)}


def plan_merge(history: History, ours: Row, theirs: Row) -> MergePlan | None:
    """None when ours has everything of theirs already."""
    base = history.merge_base(ours, theirs)
    if base.id == theirs.id:
        return None
    wanted: dict[Key, str | None] = {}
    contested: list[Contested] = []
    for key, before, after in history.tree.diff(base.tree_id, theirs.tree_id):
        now = history.tree.get(ours.tree_id, key)
        if now == before:
            wanted[key] = after
        elif now != after:
            contested.append(Contested(key, before, now, after))
    if contested:
        contested = _with_commits(history, base, (ours, theirs), contested)
    return MergePlan(base, ours, theirs, wanted, tuple(contested))


@dataclass(frozen=True)
class Settled:
    wanted: Mapping[Key, str | None]
    merged_rows: tuple[str, ...]
    conflicts: tuple[EntryConflict, ...]


def settle(
    content: Content,
    scope: Scope,
    contested: Sequence[Contested],
    resolutions: Mapping[str, Side],
    *,
    by_rows: bool = True,
) -> Settled:
    """Decides contested entries: as told, by rows, or not at all."""
    wanted: dict[Key, str | None] = {}
    merged: list[str] = []
    conflicts: list[EntryConflict] = []
    for item in contested:
        kind, name = item.key
        if name in resolutions:
            wanted[item.key] = item.ours if resolutions[name] == "ours" else item.theirs
            continue
        outcome = _by_rows(content, scope, item) if by_rows else Clash("both sides changed it")
        if isinstance(outcome, Clash):
            conflicts.append(
                EntryConflict(
                    as_kind(kind), name, outcome.reason, item.commits, outcome.rows, outcome.row_ids
                )
            )
        else:
            wanted[item.key] = outcome
            merged.append(name)
    return Settled(wanted, tuple(merged), tuple(conflicts))


def _by_rows(content: Content, scope: Scope, item: Contested) -> str | Clash:
    if item.ours is None or item.theirs is None:
        return Clash("one side removed it, the other changed it")
    if item.key[0] != "dataset":
        return Clash("both sides changed the file")
    if item.base is None:
        return Clash("both sides created it")
    merged = content.merge_rows(scope, item.base, item.ours, item.theirs)
    return merged if isinstance(merged, Clash) else merged.id


def _with_commits(
    history: History, base: Row, sides: Sequence[Row], contested: Sequence[Contested]
) -> list[Contested]:
    later = [row for side in sides for row in history.later(base, side)]
    changes = history.changes([row.id for row in later])
    found = []
    for item in contested:
        names = [
            row.id for row in later if any((c.kind, c.name) == item.key for c in changes[row.id])
        ]
        found.append(
            Contested(item.key, item.base, item.ours, item.theirs, tuple(dict.fromkeys(names)))
        )
    return found
