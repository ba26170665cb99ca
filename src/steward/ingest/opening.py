"""Opens a database server for reading: PostgreSQL through DuckDB's scanner, MySQL by its own protocol."""

import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from steward.core import Misconfigured, Unavailable
from steward.ingest.address import Address, driver_text
from steward.ingest.job import Job
from steward.ingest.mysql import VERIFIED, Mysql, mysql_session
from steward.ingest.stage import LINE, column_of
from steward.ingest.writing import copy
from steward.tables import engine, literal


def extension() -> Path:
    """The file of the scanner for PostgreSQL, which comes with a package and is never downloaded."""
    package = "duckdb_extension_postgres_scanner"
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    for place in places:
        files = sorted(Path(place).rglob(f"v{duckdb.__version__}/*.duckdb_extension"))
        if files:
            return files[0]
    wanted = f"{package.replace('_', '-')}=={duckdb.__version__}"
    raise Misconfigured(
        f"Reading from PostgreSQL needs the package {wanted}, which comes with Steward on Linux and macOS; install it."
    )


@dataclass(frozen=True)
class Server:
    """An open server, and beside it a DuckDB session in which its values are typed."""

    kind: str
    session: duckdb.DuckDBPyConnection
    mysql: Mysql | None = None

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Runs a query on the server and brings its rows."""
        if self.mysql is not None:
            return self.mysql.ask(sql)
        return self.session.execute(f"SELECT * FROM {remote(sql)}").fetchall()

    def fetch(self, job: Job, sql: str, width: int, path: Path) -> None:
        """Writes rows of text to a Parquet file, numbered in their order."""
        if self.mysql is not None:
            self.mysql.fetch(
                sql, width, path, lambda done: job.progress("fetching rows", done, None)
            )
            return
        cells = ", ".join(f"{column_of(i)}::VARCHAR AS {column_of(i)}" for i in range(width))
        rows = f"SELECT row_number() OVER () AS {LINE}, {cells} FROM {remote(sql)}"
        copy(self.session, rows, path)


@contextmanager
def connected(job: Job, address: Address) -> Iterator[Server]:
    limits = engine.Limits(job.limits.engine_memory_mb, job.limits.threads, job.limits.output_mb)
    with ExitStack() as stack:
        session = stack.enter_context(engine.session(limits, job.scratch))
        if address.kind == "mysql":
            line = stack.enter_context(mysql_session(address, job.limits.wall_seconds))
            yield Server(address.kind, session, line)
            return
        session.execute(f"LOAD {literal(str(extension()))}")
        given = driver_text(address, _root(job, address))
        try:
            session.execute(f"ATTACH {literal(given)} AS source (TYPE postgres, READ_ONLY)")
            yield Server(address.kind, session)
        except duckdb.Error as problem:
            # What the server said is behind the statement, which may be long.
            said = str(problem).partition("\n")[0].rpartition('": ERROR:')[2].strip()
            for secret in (given, address.password):
                said = said.replace(secret, "…") if secret else said
            raise Unavailable(
                f"{address.shown()} could not be read: {said[:200]}", code="source-unavailable"
            ) from None


def _root(job: Job, address: Address) -> Path | None:
    """The file of the certificates to trust: those given, else those of the user or of this machine."""
    if address.root:
        file = job.scratch / "root.crt"
        file.write_text(address.root)
        return file
    if address.tls not in VERIFIED or (Path.home() / ".postgresql/root.crt").exists():
        return None
    found = ssl.get_default_verify_paths().cafile
    return Path(found) if found else None


def remote(sql: str) -> str:
    """A query that PostgreSQL runs, as a table of the session."""
    return f"postgres_query('source', {literal(sql)})"
