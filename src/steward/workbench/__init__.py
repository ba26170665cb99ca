"""The data room at work for one installation: what doors and tools call, by project and author."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from steward.analysis import Cipher
from steward.core import Clock, FairThreads, Ids, NetworkLevel
from steward.store import BlobStore, Database, EventLog, Scope
from steward.tables import Scratch
from steward.versions import Versions
from steward.workbench.dataset_loads import ORIGINALS, DatasetLoads
from steward.workbench.dataset_reports import DatasetReports
from steward.workbench.datasets import DatasetCard, Datasets
from steward.workbench.entity_resolution import EntityResolution
from steward.workbench.insights import Insights, Kind
from steward.workbench.operations import Operations, Planned
from steward.workbench.outputs import Exported, Format, Outputs
from steward.workbench.rows import Filter, Operator, RowPage, Sort
from steward.workbench.sandbox_results import land
from steward.workbench.saved_queries import SavedQueries, SavedQuery
from steward.workbench.uploads import Upload, UploadLimits, Uploads

__all__ = [
    "ORIGINALS",
    "DatasetCard",
    "Datasets",
    "Exported",
    "Filter",
    "Format",
    "Kind",
    "Operator",
    "Planned",
    "RowPage",
    "SavedQuery",
    "Sort",
    "Upload",
    "Workbench",
    "land",
]

_HEAVY: Final = 2
"""Loads, resolutions and the like that run at once; as many again for people who have none running."""


class Workbench:
    """One attribute per noun."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        clock: Clock,
        ids: Ids,
        events: EventLog,
        folder: Path,
        hashing_key: Callable[[Scope], bytes],
        upload_limits: UploadLimits | None = None,
        scrub: Callable[[Scope, str], str] = lambda _scope, name: name,
        network: Callable[[], Sequence[NetworkLevel]] = tuple,
        column_keys: Callable[[Scope, bool], Mapping[str, bytes]] = lambda _scope, _new: {},
    ) -> None:
        """`hashing_key` gives the key that a project's redactions hash with; `scrub` takes out secrets.

        `column_keys`: those that a project's columns are encrypted with, oldest first, by their ids.

        `network`: the policies in force where a server is read.
        """
        # Each may hold a gigabyte, and the machine has other work.
        self.pool = FairThreads(_HEAVY, _HEAVY, "steward-heavy")
        self._scratch = Scratch(folder / "scratch")
        self._scratch.clear_left_behind()
        self.versions = Versions(database, blobs, clock, ids, self._scratch.root, events=events)

        def cipher(scope: Scope, new: bool = False) -> Cipher:
            return Cipher(scope.project_id, column_keys(scope, new))

        self.datasets = Datasets(self.versions, cipher)
        uploads = Uploads(database, self.versions, clock, ids, upload_limits, scrub)
        self.bringing = DatasetLoads(self.versions, uploads, self._scratch, network=network)
        self.insights = Insights(database, self.versions, clock)
        self.operations = Operations(self.versions, hashing_key, cipher)
        self.resolving = EntityResolution(self.versions, folder / "resolving")
        self.reporting = DatasetReports(self.versions, self.insights, clock)
        self.outputs = Outputs(self.versions, clock, self._scratch)
        self.saved_queries = SavedQueries(database, clock, ids)

    def tidy(self) -> None:
        """Forgets uploads that rested too long, and removes stored data that nothing refers to any more."""
        self.bringing.expire_uploads()
        self.versions.sweep()

    def close(self) -> None:
        self.pool.shutdown(wait=False)
        self._scratch.close()
