"""Bringing data in: uploads, inspection with evidence, and the load that becomes one commit."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from steward.core.clock import Clock
from steward.data.ingest import Inspection, Limits, Loaded, Options, isolation
from steward.data.ingest.address import parse_address
from steward.data.ingest.uploads import Upload, UploadLimits, Uploads
from steward.data.tables import parquet_source
from steward.data.versions import MAIN, Commit, Draft, Versions
from steward.data.workbench.tasks import Report, Task, Tasks
from steward.store import Scope

if TYPE_CHECKING:
    from steward.data.ingest.querying import Asked

ORIGINALS = "originals"
REJECTS = " (rejects)"
_CHUNK = 1 << 20
_QUERY_SECONDS = 60


class Bringing:
    def __init__(
        self,
        versions: Versions,
        tasks: Tasks,
        clock: Clock,
        folder: Path,
        *,
        upload_limits: UploadLimits | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._versions = versions
        self._tasks = tasks
        self._clock = clock
        self._folder = folder
        self._upload_limits = upload_limits or UploadLimits()
        self._limits = limits or Limits()

    def start(self, scope: Scope, name: str, size: int | None) -> Upload:
        return self._uploads(scope).start(name, size)

    def get(self, scope: Scope, upload_id: str) -> Upload:
        return self._uploads(scope).get(upload_id)

    def append(self, scope: Scope, upload_id: str, offset: int, chunks: Iterable[bytes]) -> Upload:
        return self._uploads(scope).append(upload_id, offset, chunks)

    def abandon(self, scope: Scope, upload_id: str) -> None:
        self._uploads(scope).abandon(upload_id)

    def inspect(self, scope: Scope, upload_id: str, options: Options | None = None) -> Inspection:
        """What the file seems to be, with the evidence; read in a process of its own."""
        upload, path = self._arrived(scope, upload_id)
        scratch = self._scratch()
        return isolation.inspect(path, upload.name, options, limits=self._limits, scratch=scratch)

    def ingest(
        self,
        scope: Scope,
        author: str,
        upload_id: str,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
    ) -> Task:
        """Loads an upload as a dataset (a new version of it, where it exists); the upload ends with it."""
        upload, path = self._arrived(scope, upload_id)

        def work(report: Report) -> dict[str, Any]:
            loaded, commit = self.load(
                scope, author, path, upload.name, dataset, options, branch, report=report
            )
            self.abandon(scope, upload_id)
            return _told(dataset, loaded, commit)

        return self._tasks.start(scope, author, "ingest", f"Load {upload.name}", work)

    def load_text(self, scope: Scope, author: str, name: str, text: str, dataset: str) -> None:
        """Loads what a file of this name would hold."""
        with TemporaryDirectory(dir=self._scratch()) as folder:
            path = Path(folder) / "given"
            path.write_text(text)
            self.load(scope, author, path, name, dataset)

    def load(
        self,
        scope: Scope,
        author: str,
        path: Path,
        name: str,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
        *,
        report: Report = lambda _doing, _done, _total: None,
    ) -> tuple[Loaded, Commit]:
        """Reads a file apart, then commits its rows, its rejects and the file itself together."""
        scratch = self._scratch()
        with TemporaryDirectory(dir=scratch) as out:
            report("Reading the file", 0, None)
            loaded = isolation.load(
                path,
                options,
                Path(out),
                self._limits,
                name=name,
                scratch=scratch,
                progress=report,
            )
            datasets = self._stored(scope, Path(out), dataset, loaded, report)
        original = self._versions.put_file(scope, f"{ORIGINALS}/{name}", _chunks(path))
        report("Committing", 0, None)
        draft = Draft(
            message=f"Load {dataset} from {name}",
            operation="ingest",
            arguments={"file": name, "sha256": original.digest, **_counts(loaded)},
            datasets=datasets,
            files={original.path: original.digest},
            lineage={dataset: {"operation": "ingest", "file": original.path}},
        )
        return loaded, self._versions.workspace(scope, author).commit(draft, branch)

    def inspect_server(
        self, url: str, options: Options | None = None, *, private: bool
    ) -> Inspection:
        """The tables of a database server, and how one of them would be read.

        The URL may hold a password: it is passed to the reading process and kept nowhere. `private` says
        whether the caller may reach servers on private addresses.
        """
        return isolation.inspect_server(
            url, options, private=private, limits=self._limits, scratch=self._scratch()
        )

    def ingest_server(
        self,
        scope: Scope,
        author: str,
        url: str,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
        *,
        private: bool,
    ) -> Task:
        """Loads a table of a database server as a dataset."""
        address = parse_address(url)

        def work(report: Report) -> dict[str, Any]:
            loaded, commit = self.load_server(
                scope, author, url, dataset, options, branch, private=private, report=report
            )
            return _told(dataset, loaded, commit)

        return self._tasks.start(scope, author, "ingest", f"Load from {address.shown()}", work)

    def load_server(
        self,
        scope: Scope,
        author: str,
        url: str,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
        *,
        private: bool,
        report: Report = lambda _doing, _done, _total: None,
    ) -> tuple[Loaded, Commit]:
        """Reads a table apart, then commits its rows and its rejects together; the record says from where."""
        source = parse_address(url).shown()
        scratch = self._scratch()
        with TemporaryDirectory(dir=scratch) as out:
            report("Reading from the server", 0, None)
            loaded = isolation.load_server(
                url,
                options,
                Path(out),
                self._limits,
                private=private,
                scratch=scratch,
                progress=report,
            )
            datasets = self._stored(scope, Path(out), dataset, loaded, report)
        report("Committing", 0, None)
        draft = Draft(
            message=f"Load {dataset} from {loaded.table} of {source}",
            operation="ingest",
            arguments={"source": source, **_counts(loaded)},
            datasets=datasets,
            lineage={
                dataset: {"operation": "ingest", "source": source, "table": loaded.table or ""}
            },
        )
        return loaded, self._versions.workspace(scope, author).commit(draft, branch)

    def query_source(
        self,
        source: Path | str,
        name: str,
        sql: str | None,
        most: int = 1,
        *,
        private: bool = False,
    ) -> "Asked":
        """A few rows of a database server or file, read-only; without SQL: what the database says it is.

        A URL may hold a password: it is passed to the reading process and kept nowhere.
        """
        limits = replace(self._limits, wall_seconds=_QUERY_SECONDS, cpu_seconds=_QUERY_SECONDS)
        return isolation.query(
            source, name, sql, most, private=private, limits=limits, scratch=self._scratch()
        )

    def _stored(
        self, scope: Scope, out: Path, dataset: str, loaded: Loaded, report: Report
    ) -> dict[str, str | None]:
        """The versions of a load's rows, and of its rejects if there are any."""
        report("Storing the rows", 0, None)
        data = self._versions.write(scope, _all_of(out / loaded.data))
        datasets: dict[str, str | None] = {dataset: data.id}
        if loaded.rejected:
            rejects = self._versions.write(scope, _all_of(out / loaded.rejects))
            datasets[dataset + REJECTS] = rejects.id
        return datasets

    def path_of(self, scope: Scope, upload_id: str) -> Path:
        """Where the bytes of an upload that has arrived are, until it is abandoned."""
        return self._arrived(scope, upload_id)[1]

    def _arrived(self, scope: Scope, upload_id: str) -> tuple[Upload, Path]:
        uploads = self._uploads(scope)
        return uploads.get(upload_id), uploads.finish(upload_id)

    def _uploads(self, scope: Scope) -> Uploads:
        return Uploads(
            self._folder / "uploads" / scope.project_id, self._clock, self._upload_limits
        )

    def _scratch(self) -> Path:
        folder = self._folder / "scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _told(dataset: str, loaded: Loaded, commit: Commit) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "commit": commit.id,
        "records": loaded.records,
        "rows": loaded.rows,
        "rejected": loaded.rejected,
        "rejects_dataset": dataset + REJECTS if loaded.rejected else None,
        "warnings": [asdict(note) for note in loaded.warnings],
    }


def _counts(loaded: Loaded) -> dict[str, Any]:
    return {
        "format": loaded.format,
        "table": loaded.table,
        "records": loaded.records,
        "rejected": loaded.rejected,
    }


def _all_of(path: Path) -> str:
    return f"SELECT * FROM {parquet_source([path])}"


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
