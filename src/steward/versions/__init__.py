"""Versions of data: branches of commits that name datasets by immutable versions and files by blobs.

A version is a list of Parquet parts named by their hash. Undo, restore, branch and merge move pointers; an edit writes
what changed. Operations on data take the `Table` of a version and know nothing of all this.
"""

from steward.versions._branches import MAIN
from steward.versions._edit import Counts
from steward.versions._manifest import Layout, Stays
from steward.versions._names import checked_dataset_name
from steward.versions._record import Draft, calls_only, on_ticket
from steward.versions._versions import Versions
from steward.versions._workspace import Workspace
from steward.versions._write import Sizes
from steward.versions.diffs import (
    DiffPage,
    VersionDiff,
)
from steward.versions.edits import (
    CellValue,
    Delete,
    DeleteRows,
    Edit,
    Insert,
    InsertRows,
    SetCells,
    Update,
    Upsert,
)
from steward.versions.results import (
    Branch,
    Commit,
    Dataset,
    Dependant,
    EntryChange,
    FileEntry,
    Merge,
    Touched,
    UndoPlan,
    Version,
    VersionConflict,
)

__all__ = [
    "MAIN",
    "Branch",
    "CellValue",
    "Commit",
    "Counts",
    "Dataset",
    "Delete",
    "DeleteRows",
    "Dependant",
    "DiffPage",
    "Draft",
    "Edit",
    "EntryChange",
    "FileEntry",
    "Insert",
    "InsertRows",
    "Layout",
    "Merge",
    "SetCells",
    "Sizes",
    "Stays",
    "Touched",
    "UndoPlan",
    "Update",
    "Upsert",
    "Version",
    "VersionConflict",
    "VersionDiff",
    "Versions",
    "Workspace",
    "calls_only",
    "checked_dataset_name",
    "on_ticket",
]
