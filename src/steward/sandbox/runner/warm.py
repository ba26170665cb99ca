"""Loads the libraries that code may use, and tries them, so that no execution pays for it again."""

import contextlib
import importlib
import os
from pathlib import Path
from typing import Final

# The order matters little; what is not installed is left out and cannot be imported by code either.
LIBRARIES: Final = ("numpy", "pandas", "pyarrow", "pyarrow.parquet", "polars", "duckdb", "altair")
_BESIDE: Final = (
    "pytz",
    "zoneinfo",
    "statistics",
    "decimal",
    "fractions",
    "sqlglot.dialects.duckdb",
    "sqlglot.optimizer.scope",
    "steward.sandbox.guard_sql",
    "steward.sandbox.guard_python",
    "steward.sandbox.runner.run_python",
    "steward.sandbox.runner.run_sql",
)


def load(folder: str) -> dict[str, str]:
    """Imports what is installed and gives the versions; leaves no thread behind."""
    found: dict[str, str] = {}
    for name in LIBRARIES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        found[name] = str(getattr(module, "__version__", ""))
    _one_thread()
    for name in _BESIDE:
        importlib.import_module(name)
    _stand_ins()
    _try(Path(folder))
    return {name: version for name, version in found.items() if version}


def _stand_ins() -> None:
    """What code gets when it imports; what is not installed is left out here, too."""
    from steward.sandbox.python_modules import MODULES, available

    for name in sorted(MODULES):
        with contextlib.suppress(ModuleNotFoundError):
            available(name)


def _one_thread() -> None:
    """DuckDB opens a connection of its own when it is imported, with a thread per processor."""
    import duckdb

    from steward.sandbox.runner import engine

    duckdb.default_connection().execute("SET threads = 1")
    duckdb.set_default_connection(engine.connection())


def _try(folder: Path) -> None:
    """A small job through every layer: the first use of each costs far more than the later ones."""
    import pandas as pd

    from steward.sandbox import guard_python, guard_sql
    from steward.sandbox.runner import engine

    file = folder / f"warm-{os.getpid()}.parquet"
    connection = engine.connection()
    connection.execute(
        f"COPY (SELECT i, i % 3 AS g, CAST(i AS VARCHAR) AS t, CAST(i AS DECIMAL(9,2)) AS d, "
        f"DATE '2026-01-01' + CAST(i AS INTEGER) AS day FROM range(100) r(i)) TO '{file}' (FORMAT parquet)"
    )
    connection.execute(f"SELECT g, sum(d), min(t), max(day) FROM '{file}' GROUP BY g").fetchall()
    frame = connection.execute(f"SELECT * FROM '{file}'").df()
    frame.groupby("g")["i"].agg(["sum", "mean"]).reset_index().merge(frame, on="g")
    pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}).to_string()
    connection.register("warm", frame)
    connection.execute("SELECT count(*) FROM warm").fetchall()
    connection.unregister("warm")
    guard_sql.check("SELECT g, sum(i) FROM t GROUP BY g", {"t": ["g", "i"]})
    guard_python.check("import pandas as pd\nresult = [x for x in range(3)]")
    file.unlink()
