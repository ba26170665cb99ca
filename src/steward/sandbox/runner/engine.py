"""The DuckDB connections that a child inherits: one thread, no extensions, locked before code runs."""

from collections import Counter
from functools import cache
from typing import Final

import duckdb

from steward.sandbox.contract import Limits, Request


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """Opened by the zygote; it has started no thread, so it survives the fork."""
    return _open()


@cache
def _bare() -> duckdb.DuckDBPyConnection:
    """For code that reads no dataset: locked before there is a request, which then need not wait."""
    return _open()


def _open() -> duckdb.DuckDBPyConnection:
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


_CLOSED: Final = "SET enable_external_access = false;"
_LOCKED: Final = "SET lock_configuration = true"
_settled: list[tuple[str, Limits]] = []


def settle(scratch: str, limits: Limits) -> None:
    """Everything that does not depend on the request, done before there is one.

    Where every child calls its scratch by the same name, the zygote does it for all of them.
    """
    if _settled == [(scratch, limits)]:
        return
    _settled[:] = [(scratch, limits)]
    settings = (
        f"SET temp_directory = {literal(scratch + '/.spill')};"
        f"SET allowed_directories = [{literal(scratch + '/')}];" + _sizes(limits)
    )
    connection().execute(settings)
    _bare().execute(f"{settings}{_CLOSED}{_LOCKED}")
    duckdb.set_default_connection(_bare())


def _sizes(limits: Limits) -> str:
    megabytes = max(limits.memory_bytes * 6 // 10 >> 20, 32)
    return (
        f"SET memory_limit = '{megabytes}MB';"
        f"SET max_temp_directory_size = '{limits.scratch_bytes >> 20}MB';"
    )


def prepare(request: Request) -> duckdb.DuckDBPyConnection:
    """The datasets as views, then the locks: settings are a fence, the walls stand behind them."""
    usual = [limits for _, limits in _settled] == [request.limits]
    if usual and not request.datasets:
        return _bare()
    opened = connection()
    duckdb.set_default_connection(opened)
    steps = [] if usual else [_sizes(request.limits)]
    files = sorted({file for dataset in request.datasets for file in dataset.files})
    if files:
        steps.append(f"SET allowed_paths = [{', '.join(literal(f) for f in files)}];")
    steps.append(_CLOSED)
    # Names that differ only in case are one name to a query: rather none of them than the wrong one.
    shared = Counter(dataset.name.lower() for dataset in request.datasets)
    steps += [
        f"CREATE VIEW {quote(dataset.name)} AS SELECT * FROM {dataset.source};"
        for dataset in request.datasets
        if shared[dataset.name.lower()] == 1
    ]
    steps.append(_LOCKED)
    opened.execute("".join(steps))
    return opened


def quote(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
