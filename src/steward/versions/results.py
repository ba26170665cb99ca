"""What the versions room answers: plain, frozen, ready for JSON."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from steward.core import Conflict
from steward.tables import Column
from steward.versions._manifest import Layout, Stays

Kind = Literal["dataset", "file"]
Role = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class Version:
    """One state of one dataset; equal content written alike has an equal id."""

    id: str
    rows: int
    bytes: int
    columns: tuple[Column, ...]
    layout: Layout
    family: str
    parts: int
    patched_rows: int


@dataclass(frozen=True)
class Branch:
    id: str
    workspace_id: str
    name: str
    head: str
    protected: bool
    created_at: datetime
    created_by: str


@dataclass(frozen=True)
class Tag:
    name: str
    commit: str
    message: str
    created_at: datetime
    created_by: str


@dataclass(frozen=True)
class EntryChange:
    """One entry that differs: a version id or blob digest before and after, None where there is none."""

    kind: Kind
    name: str
    before: str | None
    after: str | None
    lineage: dict[str, Any] = field(default_factory=dict)

    @property
    def role(self) -> Role:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


@dataclass(frozen=True)
class Commit:
    id: str
    parent: str | None
    merged: str | None
    author: str
    message: str
    operation: str
    arguments: dict[str, Any]
    created_at: datetime
    run_id: str | None
    undoes: str | None
    redoes: str | None
    expired: bool
    """Its place in history is kept, its data may be gone by retention."""
    changes: tuple[EntryChange, ...] = ()


@dataclass(frozen=True)
class Dataset:
    name: str
    version: str
    rows: int
    bytes: int
    columns: tuple[Column, ...]
    stays: Stays | None = None
    """Where its rows are, if they were not copied."""


@dataclass(frozen=True)
class Touched:
    """The last change of something."""

    at: datetime
    by: str
    operation: str


@dataclass(frozen=True)
class FileEntry:
    path: str
    digest: str
    bytes: int


@dataclass(frozen=True)
class Dependant:
    """A later commit that an undo would touch or leave without its source."""

    commit: str
    message: str
    author: str
    created_at: datetime
    kind: Kind
    name: str
    reason: Literal["changed it again", "made from it"]


@dataclass(frozen=True)
class UndoPlan:
    """What undoing a commit would do, before it is done."""

    commit: Commit
    entries: tuple[EntryChange, ...]
    """From the state now to the state after the undo."""
    dependants: tuple[Dependant, ...]
    blocked: tuple[str, ...]
    """Entries that later commits changed again; they stop the undo unless rows can be told apart."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class EntryConflict:
    kind: Kind
    name: str
    reason: str
    commits: tuple[str, ...]
    """Who changed it meanwhile, oldest first."""
    rows: int = 0
    """Rows changed on both sides, where that is what stands in the way."""
    row_ids: tuple[int, ...] = ()


class VersionConflict(Conflict):
    """The branch holds something else by now; `entries` says what, and who changed it."""

    code = "version-conflict"

    def __init__(self, message: str, entries: tuple[EntryConflict, ...] = ()) -> None:
        super().__init__(message)
        self.entries = entries


@dataclass(frozen=True)
class Merge:
    """The outcome of a merge; no `commit` when there was nothing to merge."""

    commit: Commit | None
    base: str
    merged_rows: tuple[str, ...]
    """Datasets that both sides had changed, in different rows."""


@dataclass(frozen=True)
class SweepReport:
    versions: int
    doomed: int
    """Blobs found unused, to be removed by a later sweep unless somebody uses them again."""
    blobs: int
    bytes: int
    nodes: int
    scratch: int
