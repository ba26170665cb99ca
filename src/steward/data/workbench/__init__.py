"""The data room at work for one installation: what doors and tools call, by project and author."""

from collections.abc import Callable
from pathlib import Path

from steward.core.clock import Clock
from steward.core.ids import Ids
from steward.data.versions import Versions
from steward.data.workbench.bringing import Bringing
from steward.data.workbench.datasets import DatasetCard, Datasets
from steward.data.workbench.insights import Insights
from steward.data.workbench.operations import OperationInfo, Operations, Planned
from steward.data.workbench.outputs import Outputs
from steward.data.workbench.reporting import Reporting
from steward.data.workbench.resolving import Resolving
from steward.data.workbench.rows import Filter, RowPage, Sort
from steward.data.workbench.tasks import Task, Tasks
from steward.store import BlobStore, Database, EventLog, Scope

__all__ = [
    "DatasetCard",
    "Filter",
    "OperationInfo",
    "Planned",
    "RowPage",
    "Sort",
    "Task",
    "Workbench",
]


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
    ) -> None:
        """`hashing_key` gives the key that a project's redactions hash with."""
        scratch = folder / "scratch"
        self.versions = Versions(database, blobs, clock, ids, scratch, events=events)
        self.tasks = Tasks(database, events, clock, ids)
        self.datasets = Datasets(self.versions)
        self.bringing = Bringing(self.versions, self.tasks, clock, folder)
        self.insights = Insights(database, self.versions, self.tasks, clock)
        self.operations = Operations(self.versions, hashing_key)
        self.resolving = Resolving(self.versions, self.tasks, folder / "resolving")
        self.reporting = Reporting(self.versions, self.insights, self.tasks, clock)
        self.outputs = Outputs(self.versions, clock, scratch)

    def close(self) -> None:
        self.tasks.close()
