"""Profiles one table with Steward, with DuckDB's SUMMARIZE and with fg-data-profiling.

Each profiler reads the same Parquet file in a process of its own. CPU seconds count every thread
from the start of the process, imports included; memory is the process's peak. fg-data-profiling
runs in minimal mode and only computes (no report is rendered, which would take longer still).

    .venv/bin/python benchmarks/profile.py            1M × 20, then 10M rows for memory
    .venv/bin/python benchmarks/profile.py --quick    small sizes, for a smoke test

The last line is JSON: `cpu_ratio_vs_fg` and `cpu_ratio_vs_summarize` are the other's CPU seconds
divided by Steward's, `peak_mb_10m` is Steward's peak memory on the large table.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

FG_LIMIT_SECONDS = 300


def hashed(salt: int, modulus: int) -> str:
    return f"(hash(i * 31 + {salt}) % {modulus})::BIGINT"


def pick(salt: int, *words: str) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"[{listed}][1 + {hashed(salt, len(words))}]"


COLUMNS = {
    "id": "i",
    "customer_id": hashed(1, 200_000),
    "email": f"CASE WHEN {hashed(2, 20)} > 0 THEN 'user' || {hashed(3, 900_000)} || '@' || "
    f"{pick(4, 'example.com', 'mail.org', 'acme.co.uk', 'web.de')} END",
    "full_name": pick(5, "Anna", "John", "Marie", "Peter", "Olga", "José", "Li", "Fatima", "Sven")
    + " || ' ' || "
    + pick(6, "Smith", "Müller", "Garcia", "Rossi", "Novak", "Lee", "Brown", "Jensen"),
    "country": pick(7, "DE", "FR", "GB", "US", "IT", "ES", "NL", "PL"),
    "city": f"'City ' || {hashed(8, 500)}",
    "phone": f"'+44 7' || lpad({hashed(9, 10**9)}::VARCHAR, 9, '0')",
    "postcode": f"lpad({hashed(10, 100_000)}::VARCHAR, 5, '0')",
    "signup": f"DATE '2020-01-01' + {hashed(11, 1_500)}::INTEGER",
    "last_seen": f"TIMESTAMP '2022-01-01' + to_seconds({hashed(12, 90_000_000)})",
    "amount": f"exp({hashed(13, 10_000)} / 1500.0)",
    "price": f"({hashed(14, 100_000)} / 100.0)::DECIMAL(12, 2)",
    "quantity": f"{hashed(15, 50)}::INTEGER",
    "score": f"CASE WHEN {hashed(16, 10)} > 0 THEN "
    f"({hashed(17, 1000)} + {hashed(18, 1000)} + {hashed(19, 1000)} - 1500) / 300.0 END",
    "active": f"{hashed(20, 3)} = 0",
    "segment": pick(21, "gold", "silver", "bronze", "", "none"),
    "comment": f"'note ' || {hashed(22, 1000)} || ' about order ' || {hashed(23, 100_000)}",
    "ip": " || '.' || ".join(hashed(salt, 256) for salt in range(24, 28)),
    "currency": "'EUR'",
    "ratio": f"{hashed(28, 1_000_000)} / 7.0",
}


def generate(path: Path, rows: int) -> None:
    listed = ", ".join(f"{expression} AS {name}" for name, expression in COLUMNS.items())
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(
            f"COPY (SELECT {listed} FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
        )


Counts = dict[str, tuple[int, int]]
"""Column → rows that are null, distinct values."""


def child_steward(path: str) -> Counts:
    from steward.analysis.profile import profile
    from steward.tables.engine import session
    from steward.tables.table import parquet_table

    with session() as connection:
        result = profile(connection, parquet_table(connection, "bench", [path]))
    return {
        column.name: (column.nulls, column.distinct if column.distinct_exact else -1)
        for column in result.columns
    }


def child_summarize(path: str) -> Counts:
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(f"SUMMARIZE SELECT * FROM read_parquet('{path}')").fetchall()
    return {}


def child_fg(path: str) -> Counts:
    import pandas as pd
    from data_profiling import ProfileReport

    report = ProfileReport(pd.read_parquet(path), minimal=True, progress_bar=False)
    variables = report.get_description().variables
    return {
        name: (int(found["n_missing"]), int(found["n_distinct"]))
        for name, found in variables.items()
    }


CHILDREN = {"steward": child_steward, "summarize": child_summarize, "fg": child_fg}


def measure(name: str, path: Path, limit: float | None = None) -> dict[str, Any]:
    """Runs a profiler in a process of its own; one stopped at the limit has only used CPU time."""
    print(f"  {name} …", flush=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--child", name, str(path)],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"  {name:10} stopped after {limit:.0f} s and {used:.2f} CPU s")
        return {"cpu": used, "mb": None, "counts": None}
    answer: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    print(f"  {name:10} {answer['cpu']:8.2f} CPU s {answer['mb']:8.0f} MB", flush=True)
    return answer


def run_child(name: str, path: str) -> None:
    counts = CHILDREN[name](path)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    print(json.dumps({"cpu": usage.ru_utime + usage.ru_stime, "mb": peak, "counts": counts}))


def compare_counts(ours: dict[str, Any], theirs: dict[str, Any]) -> int:
    """Columns whose nulls and distinct values differ; each is printed."""
    differing = 0
    for name, counted in ours["counts"].items():
        if counted != theirs["counts"][name]:
            differing += 1
            print(f"  {name}: {counted} here, {theirs['counts'][name]} there")
    return differing


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", nargs=2, metavar=("NAME", "PATH"))
    options = parser.parse_args()
    if options.child:
        run_child(*options.child)
        return
    rows, many = (20_000, 100_000) if options.quick else (1_000_000, 10_000_000)
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        path = Path(folder) / "table.parquet"
        print(f"{rows:,} rows × {len(COLUMNS)} columns")
        generate(path, rows)
        summarize = measure("summarize", path)
        ours = measure("steward", path)
        fg = measure("fg", path, FG_LIMIT_SECONDS)
        finished = fg["counts"] is not None
        differing = compare_counts(ours, fg) if finished else None
        if differing == 0:
            print(
                f"  exact counts of nulls and distinct values equal in all {len(COLUMNS)} columns"
            )
        print(f"{many:,} rows × {len(COLUMNS)} columns")
        generate(path, many)
        large = measure("steward", path)
    print(
        json.dumps(
            {
                "cpu_ratio_vs_fg": round(fg["cpu"] / ours["cpu"], 2),
                "cpu_ratio_vs_fg_is_lower_bound": not finished,
                "cpu_ratio_vs_summarize": round(summarize["cpu"] / ours["cpu"], 2),
                "peak_mb_10m": round(large["mb"]),
                "rows": rows,
                "rows_large": many,
                "columns_with_differing_counts": differing,
                "cpu_s": round(ours["cpu"], 2),
                "cpu_s_fg": round(fg["cpu"], 2),
                "cpu_s_summarize": round(summarize["cpu"], 2),
                "cpu_s_large": round(large["cpu"], 2),
                "peak_mb": round(ours["mb"]),
                "peak_mb_fg": round(fg["mb"]) if finished else None,
            }
        )
    )


if __name__ == "__main__":
    main()
