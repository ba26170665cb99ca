"""One reading of one file: what is read, with which options, limits and scratch space."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from steward.core import TooLarge
from steward.ingest.findings import Note, TableListing
from steward.ingest.options import Limits, Options
from steward.tables import engine, literal

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how far it is, and how far it goes when that is known."""


def no_progress(_doing: str, _done: int, _total: int | None) -> None:
    """For callers who do not watch."""


@dataclass(frozen=True)
class Job:
    path: Path
    name: str
    options: Options
    limits: Limits
    scratch: Path
    progress: Progress = no_progress
    wrappers: tuple[str, ...] = ()
    members: tuple[TableListing, ...] = ()
    """Files in the archive this file came from, when there are several."""
    member: str | None = None
    notes: tuple[Note, ...] = field(default=())

    def with_notes(self, *notes: Note) -> "Job":
        return replace(self, notes=(*self.notes, *notes))

    def listed(self, inner: tuple[TableListing, ...] = ()) -> tuple[TableListing, ...]:
        """Every table that can be asked for: those of this file, and the other files beside it."""
        if len(self.members) < 2:
            return inner
        own = tuple(replace(table, name=f"{self.member}#{table.name}") for table in inner)
        return tuple(
            table
            for member in self.members
            for table in (own if own and member.name == self.member else (member,))
        )

    def table_name(self, inner: str | None) -> str | None:
        """What a table inside this file is called in `Options.table`."""
        if self.member is None or len(self.members) < 2:
            return inner
        return self.member if inner is None else f"{self.member}#{inner}"


@contextmanager
def locked_session(job: Job, *writable: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB session that can read this file and write these folders, and touch nothing else."""
    limits = engine.Limits(
        memory_mb=job.limits.engine_memory_mb,
        threads=job.limits.threads,
        temp_mb=job.limits.output_mb,
    )
    with engine.session(limits, job.scratch) as connection:
        folders = ", ".join(literal(str(folder)) for folder in (job.scratch, *writable))
        connection.execute(f"SET allowed_directories = [{folders}]")
        connection.execute(f"SET allowed_paths = [{literal(str(job.path))}]")
        connection.execute("SET enable_external_access = false")
        yield connection


def check_width(width: int, limits: Limits) -> None:
    if width > limits.columns:
        raise TooLarge(
            f"The file has {width:,} columns; at most {limits.columns:,} can be read. "
            "If it has fewer, declare its delimiter.",
            code="too-many-columns",
        )
