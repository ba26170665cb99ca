"""The answer to "what is different?": counts first, then rows, page by page."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from steward.tables import Column
from steward.versions.results import EntryChange, Role

Method = Literal["key", "row", "content"]


@dataclass(frozen=True)
class ColumnChange:
    name: str
    kind: Literal["added", "removed", "retyped", "moved"]
    before: str | None
    after: str | None
    """Types before and after; for a moved column, its positions."""


@dataclass(frozen=True)
class VersionDiff:
    """How rows were matched: by `key`, by `row` identity, or by whole `content` (then nothing is "changed")."""

    method: Method
    key: tuple[str, ...]
    columns: tuple[ColumnChange, ...]
    rows_before: int
    rows_after: int
    added: int
    removed: int
    changed: int
    changed_cells: dict[str, int]
    """Per column present on both sides, how many of the changed rows differ in it."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class DiffRow:
    """One differing row, every value as text or null, in the order of its side's columns."""

    kind: Role
    row: int | None
    before: tuple[str | None, ...] | None
    after: tuple[str | None, ...] | None
    changed: tuple[str, ...]


@dataclass(frozen=True)
class DiffPage:
    before_columns: tuple[Column, ...]
    after_columns: tuple[Column, ...]
    rows: tuple[DiffRow, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class CommitDiff:
    """The entries in which two commits differ."""

    before: str
    after: str
    entries: tuple[EntryChange, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
