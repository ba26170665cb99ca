"""Bringing data in: uploads, inspection with evidence, and the load that becomes one commit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from steward.core import Invalid, NetworkLevel, report
from steward.ingest import Inspection, Limits, Loaded, Options, isolation, parse_address
from steward.store import Scope
from steward.tables import Column, Scratch, parquet_source, quote
from steward.versions import MAIN, Commit, Draft, FileEntry, Stays, Versions
from steward.workbench.uploads import Upload, Uploads

if TYPE_CHECKING:
    from steward.ingest import Asked

ORIGINALS = "originals"
REJECTS = " (rejects)"
_LOADING = "loading-"
_CHUNK = 1 << 20
_QUERY_SECONDS = 60
_OFFERED = 20
"""How many other readings a commit tells of."""


class DatasetLoads:
    def __init__(
        self,
        versions: Versions,
        uploads: Uploads,
        scratch: Scratch,
        *,
        limits: Limits | None = None,
        network: Callable[[], Sequence[NetworkLevel]] = tuple,
    ) -> None:
        """`network`: the policies in force where a server is read; without any, all may be reached."""
        self._versions = versions
        self._uploads = uploads
        self._scratch = scratch
        self._limits = limits or Limits()
        self._network = network

    def start(self, scope: Scope, name: str, size: int | None) -> Upload:
        return self._uploads.start(scope, name, size)

    def get(self, scope: Scope, upload_id: str) -> Upload:
        return self._uploads.get(scope, upload_id)

    def append(self, scope: Scope, upload_id: str, offset: int, chunks: Iterable[bytes]) -> Upload:
        return self._uploads.append(scope, upload_id, offset, chunks)

    def take(
        self, scope: Scope, name: str, chunks: Iterable[bytes], *, reserve: float = 0.0
    ) -> Upload:
        """A whole file at once, as an upload; `reserve` is the share of open uploads left to others."""
        return self._uploads.take(scope, name, chunks, reserve=reserve)

    def abandon(self, scope: Scope, upload_id: str) -> None:
        self._uploads.abandon(scope, upload_id)

    def expire_uploads(self) -> int:
        return self._uploads.expire()

    def inspect(self, scope: Scope, upload_id: str, options: Options | None = None) -> Inspection:
        """What the file seems to be, with the evidence; read in a process of its own."""
        file = self._uploads.file(scope, upload_id)
        path = self._versions.local_file(file.digest)
        scratch = self._scratch.folder()
        return isolation.inspect(
            path, file.path, options, limits=self._limits, scratch=scratch, progress=report
        )

    def load_upload(
        self,
        scope: Scope,
        author: str,
        upload_id: str,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
    ) -> tuple[Loaded, Commit]:
        """Loads an upload as a dataset (a new version of it, where it exists); the upload ends with it."""
        file = self._uploads.file(scope, upload_id)
        done = self.load_file(scope, author, file, dataset, options, branch)
        self.abandon(scope, upload_id)
        return done

    def load_text(self, scope: Scope, author: str, name: str, text: str, dataset: str) -> None:
        """Loads what a file of this name would hold."""
        file = self._versions.put_file(scope, name, [text.encode()])
        self.load_file(scope, author, file, dataset)

    def load(
        self,
        scope: Scope,
        author: str,
        path: Path,
        name: str,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
    ) -> tuple[Loaded, Commit]:
        """Loads a file of this machine, which is stored first."""
        file = self._versions.put_file(scope, name, _chunks(path))
        return self.load_file(scope, author, file, dataset, options, branch)

    def load_file(
        self,
        scope: Scope,
        author: str,
        file: FileEntry,
        dataset: str,
        options: Options | None = None,
        branch: str = MAIN,
    ) -> tuple[Loaded, Commit]:
        """Reads a stored file apart, then commits its rows, its rejects and the file itself together."""
        self._versions.workspace(scope, author).refuse_lookalike(dataset, branch)
        scratch, name = self._scratch.folder(), file.path
        with TemporaryDirectory(prefix=_LOADING, dir=scratch) as out:
            report("Reading the file")
            loaded = isolation.load(
                self._versions.local_file(file.digest),
                options,
                Path(out),
                self._limits,
                name=name,
                scratch=scratch,
                progress=report,
            )
            require_few_rejects(loaded, options)
            datasets = self._stored(scope, Path(out), dataset, loaded)
        report("Committing")
        original = f"{ORIGINALS}/{name}"
        draft = Draft(
            message=f"Load {dataset} from {name}",
            operation="ingest",
            arguments={"file": name, "sha256": file.digest, **_facts(dataset, loaded)},
            datasets=datasets,
            files={original: file.digest},
            lineage={dataset: {"operation": "ingest", "file": original}},
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
            url,
            options,
            private=private,
            levels=self._network(),
            limits=self._limits,
            scratch=self._scratch.folder(),
            progress=report,
        )

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
    ) -> tuple[Loaded, Commit]:
        """Reads a table apart, then commits its rows and its rejects together; the record says from where."""
        self._versions.workspace(scope, author).refuse_lookalike(dataset, branch)
        source = parse_address(url).shown()
        scratch = self._scratch.folder()
        with TemporaryDirectory(prefix=_LOADING, dir=scratch) as out:
            report("Reading from the server")
            loaded = isolation.load_server(
                url,
                options,
                Path(out),
                self._limits,
                private=private,
                levels=self._network(),
                scratch=scratch,
                progress=report,
            )
            require_few_rejects(loaded, options)
            datasets = self._stored(scope, Path(out), dataset, loaded)
        report("Committing")
        draft = Draft(
            message=f"Load {dataset} from {loaded.table} of {source}",
            operation="ingest",
            arguments={"source": source, **_facts(dataset, loaded)},
            datasets=datasets,
            lineage={
                dataset: {"operation": "ingest", "source": source, "table": loaded.table or ""}
            },
        )
        return loaded, self._versions.workspace(scope, author).commit(draft, branch)

    def register(
        self,
        scope: Scope,
        author: str,
        url: str,
        connection: str,
        dataset: str,
        options: Options,
        branch: str = MAIN,
    ) -> Commit:
        """Makes a table of a PostgreSQL server a dataset without copying it: only its columns are kept."""
        self._versions.workspace(scope, author).refuse_lookalike(dataset, branch)
        if options.table is None:
            raise Invalid("Say which table stays where it is.", code="which-table")
        report("Looking at the table")
        seen = self.inspect_server(url, options, private=True)
        schema, _, table = (seen.table or "").rpartition(".")
        count = f"SELECT count(*) FROM {quote(schema or 'public')}.{quote(table)}"
        counted = self.query_source(url, connection, count, private=True)
        rows = int(counted.rows[0][0])
        columns = [Column(each.name, each.type) for each in seen.columns]
        names = tuple(each.original_name or each.name for each in seen.columns)
        stays = Stays(connection, schema or "public", table, rows, names)
        version = self._versions.register(scope, columns, stays)
        source = parse_address(url).shown()
        draft = Draft(
            message=f"Register {dataset}: stays at {connection}",
            operation="register",
            arguments={
                "source": source,
                "dataset": dataset,
                "table": seen.table,
                "records": rows,
                "rejected": 0,
            },
            datasets={dataset: version.id},
            lineage={dataset: {"operation": "register", "source": source, "table": table}},
        )
        return self._versions.workspace(scope, author).commit(draft, branch)

    def query_source(
        self,
        source: Path | str,
        name: str,
        sql: str | None,
        most: int = 1,
        *,
        private: bool = False,
        seconds: int = _QUERY_SECONDS,
    ) -> "Asked":
        """A few rows of a database server or file, read-only; without SQL: what the database says it is.

        A URL may hold a password: it is passed to the reading process and kept nowhere.
        """
        limits = replace(self._limits, wall_seconds=seconds, cpu_seconds=seconds)
        return isolation.query(
            source,
            name,
            sql,
            most,
            private=private,
            # A file is read without any network.
            levels=() if isinstance(source, Path) else self._network(),
            limits=limits,
            scratch=self._scratch.folder(),
        )

    def _stored(
        self, scope: Scope, out: Path, dataset: str, loaded: Loaded
    ) -> dict[str, str | None]:
        """The versions of a load's rows, and of its rejects if there are any."""
        report("Storing the rows")
        data = self._versions.write(scope, _all_of(out / loaded.data))
        datasets: dict[str, str | None] = {dataset: data.id}
        if loaded.rejected:
            rejects = self._versions.write(scope, _all_of(out / loaded.rejects))
            datasets[dataset + REJECTS] = rejects.id
        return datasets


def require_few_rejects(loaded: Loaded, options: Options | None) -> None:
    """Refuses a load that would leave out more records than allowed: somebody has to say that this is meant."""
    allowed = (options or Options()).rejects_allowed
    if loaded.rejected <= allowed * loaded.records:
        return
    reasons = "; ".join(loaded.reject_reasons)
    others = [other for other in loaded.alternatives if other.column is None]
    offered = f" You could read it otherwise: {others[0].says.lower()}." if others else ""
    raise Invalid(
        f"{loaded.rejected:,} of {loaded.records:,} records of {loaded.name!r} do not fit and would be left "
        f"out: {reasons}. Nothing was loaded.{offered} To load the others all the same, set rejects_allowed "
        "to 1.",
        code="many-rejects",
    )


def _facts(dataset: str, loaded: Loaded) -> dict[str, Any]:
    """What the commit says about a load."""
    return {
        "dataset": dataset,
        "format": loaded.format,
        "table": loaded.table,
        "records": loaded.records,
        "rejected": loaded.rejected,
        "rejects_dataset": dataset + REJECTS if loaded.rejected else None,
        "warnings": [asdict(note) for note in loaded.warnings],
        "alternatives": [asdict(other) for other in loaded.alternatives[:_OFFERED]],
    }


def _all_of(path: Path) -> str:
    return f"SELECT * FROM {parquet_source([path])}"


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
