"""The process from which readers are forked, with what any reading may need loaded: `python -m` this module."""

from typing import Final

from steward.ingest.reader import serve
from steward.isolation import serve_forks

_LOADED: Final = (
    *("duckdb", "numpy", "pandas", "pyarrow.parquet"),
    *(
        f"steward.ingest.{name}"
        for name in (
            *("databases", "delimited", "excel", "json_lines", "parquet", "querying"),
            *("reading", "servers", "sqlite", "writing"),
        )
    ),
)

if __name__ == "__main__":
    serve_forks(_LOADED, serve)
