"""The DuckDB connection that a child inherits: one thread, no extensions, locked before code runs."""

from functools import cache

import duckdb

from steward.sandbox.contract import Request


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """Opened by the zygote; it has started no thread, so it survives the fork."""
    opened = duckdb.connect(
        ":memory:",
        config={
            "threads": 1,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": True,
            "allow_community_extensions": False,
        },
    )
    opened.execute("SET TimeZone = 'UTC'")
    return opened


def prepare(request: Request, scratch: str) -> duckdb.DuckDBPyConnection:
    """The datasets as views, then the locks: settings are a fence, the walls stand behind them."""
    opened = connection()
    megabytes = max(request.limits.memory_bytes * 6 // 10 >> 20, 32)
    opened.execute(f"SET memory_limit = '{megabytes}MB'")
    opened.execute(f"SET temp_directory = {literal(scratch + '/.spill')}")
    opened.execute(f"SET max_temp_directory_size = '{request.limits.scratch_bytes >> 20}MB'")
    files = sorted({file for dataset in request.datasets for file in dataset.files})
    opened.execute(f"SET allowed_paths = [{', '.join(literal(f) for f in files)}]")
    opened.execute(f"SET allowed_directories = [{literal(scratch + '/')}]")
    opened.execute("SET enable_external_access = false")
    for dataset in request.datasets:
        opened.execute(f"CREATE VIEW {quote(dataset.name)} AS SELECT * FROM {dataset.source}")
    opened.execute("SET lock_configuration = true")
    return opened


def quote(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
