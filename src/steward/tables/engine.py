"""DuckDB sessions for Steward's own SQL: bounded, deterministic, never online.

SQL written by people or agents does not run here; it runs in a sandboxed process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from steward.core import work


@dataclass(frozen=True)
class Limits:
    memory_mb: int = 1024
    threads: int = 2
    temp_mb: int = 20_000


DEFAULT_LIMITS = Limits()


@contextmanager
def session(
    limits: Limits = DEFAULT_LIMITS, scratch: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A fresh in-memory DuckDB that spills to a private folder, which is removed afterwards.

    When the work that is being done here is stopped, its query ends.
    """
    with TemporaryDirectory(prefix="steward-duckdb-", dir=scratch) as temporary:
        connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{limits.memory_mb}MB",
                "threads": limits.threads,
                "temp_directory": temporary,
                "max_temp_directory_size": f"{limits.temp_mb}MB",
                # Nothing is ever downloaded at run time: extensions come from installed packages.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "preserve_insertion_order": True,
            },
        )
        try:
            # Moments with a zone read the same on every machine.
            connection.execute("SET TimeZone = 'UTC'")
            # Work is told by those who start it, and never drawn over their terminal.
            connection.execute("SET enable_progress_bar = false")
            with work.current().ended_by(connection.interrupt):
                yield connection
        finally:
            connection.close()
