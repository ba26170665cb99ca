"""Versions of data: branches of commits that name datasets by immutable versions and files by blobs.

A version is a list of Parquet parts named by their hash. Undo, restore, branch and merge move pointers; an edit writes
what changed. Operations on data take the `Table` of a version and know nothing of all this.
"""

from steward.versions._branches import MAIN
from steward.versions._manifest import Layout, Stays
from steward.versions._names import checked_dataset_name
from steward.versions._record import Draft, calls_only, on_ticket
from steward.versions._seals import unsealed
from steward.versions._versions import Versions
from steward.versions._workspace import Workspace
from steward.versions.diffs import (
    DiffPage,
    VersionDiff,
)
from steward.versions.results import (
    Branch,
    Commit,
    Dataset,
    Dependant,
    EntryChange,
    FileEntry,
    Touched,
    UndoPlan,
    Version,
    VersionConflict,
)

__all__ = [
    "MAIN",
    "Branch",
    "Commit",
    "Dataset",
    "Dependant",
    "DiffPage",
    "Draft",
    "EntryChange",
    "FileEntry",
    "Layout",
    "Stays",
    "Touched",
    "UndoPlan",
    "Version",
    "VersionConflict",
    "VersionDiff",
    "Versions",
    "Workspace",
    "calls_only",
    "checked_dataset_name",
    "on_ticket",
    "unsealed",
]
