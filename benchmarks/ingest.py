"""Loading 1 GB of CSV, types found and every record accounted for, beside DuckDB's bare `read_csv`.

A generated file with twelve columns (numbers, codes with leading zeros, decimals, dates, moments, quoted texts)
is loaded by Steward, isolation included, and by `COPY (FROM read_csv(…)) TO … (FORMAT parquet)` with the same
threads and memory. Each load is a process of its own; the two take turns. The same is done once with a few values
that do not fit, and once with line ends inside quotes, which the bare reader gets wrong in parallel.

    .venv/bin/python benchmarks/ingest.py            1 GB, some minutes
    .venv/bin/python benchmarks/ingest.py --quick    small sizes, for a smoke test

The last line is JSON: `ratio_vs_duckdb` is the ratio of the best wall-clock times, `cpu_ratio_vs_duckdb` that of the
CPU seconds (the steadier one on a busy machine), `peak_mb` the most memory that any process of Steward's load used.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from steward.ingest import Limits, isolation

ROWS_PER_GB = 7_050_000
LIMITS = Limits(memory_mb=2048, threads=2)
COLUMNS = """
    i AS id, printf('%06d', i % 99991) AS code, 'Customer ' || (hash(i) % 100000) AS name,
    'Line ' || i || ', said "ok", ' || (hash(i + 1) % 1000) AS note,
    ((hash(i + 2) % 1000000)::BIGINT / 100)::DECIMAL(12, 2) AS amount,
    (hash(i + 3) % 10000)::BIGINT / 1000.0 AS score, DATE '2020-01-01' + (hash(i + 4) % 1500)::INTEGER AS day,
    TIMESTAMP '2020-01-01' + to_seconds((hash(i + 5) % 100000000)::BIGINT) AS moment,
    hash(i + 6) % 2 = 0 AS active, ['red', 'green', 'blue', 'black'][1 + (hash(i + 7) % 4)::INTEGER] AS colour,
    CASE WHEN hash(i + 8) % 10 > 0 THEN hash(i + 8) % 5000 END AS quantity,
    'u' || (hash(i + 9) % 1000000) || '@example.org' AS email
"""
VARIANTS = {
    "regular": COLUMNS,
    "misfits": COLUMNS.replace(
        "hash(i + 8) % 5000 END",
        "CASE WHEN i % 100000 = 77777 THEN 'oops' ELSE (hash(i + 8) % 5000)::VARCHAR END END",
    ),
    "line ends": COLUMNS.replace("', said", "chr(10) || 'said"),
}


@dataclass(frozen=True)
class Run:
    wall: float
    cpu: float
    peak_mb: float
    rows: int
    rejected: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, for a smoke test")
    parser.add_argument("--one", nargs=3, metavar=("HOW", "FILE", "OUT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(*arguments.one)
        return
    rows = ROWS_PER_GB // 10 if arguments.quick else ROWS_PER_GB
    with tempfile.TemporaryDirectory(prefix="bench-ingest-") as name:
        compare(Path(name), rows, repeats=2 if arguments.quick else 3)


def compare(folder: Path, rows: int, repeats: int) -> None:
    print(f"{'':12}{'':10}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}{'rows':>12}{'rejected':>10}")
    result: dict[str, float] = {}
    for variant, columns in VARIANTS.items():
        path = folder / "input.csv"
        write(path, columns, rows)
        times = repeats if variant == "regular" else 1
        bare, ours = [], []
        for _ in range(times):
            bare.append(measured("bare", path, folder))
            show(variant, "bare", bare[-1])
            ours.append(measured("steward", path, folder))
            show(variant, "steward", ours[-1])
        wall, cpu = ratio(ours, bare, "wall"), ratio(ours, bare, "cpu")
        print(f"{variant:12}ratio: wall {wall:.2f}, CPU {cpu:.2f}\n", flush=True)
        check(variant, ours, rows)
        if variant == "regular":
            result = {"ratio_vs_duckdb": round(wall, 3), "cpu_ratio_vs_duckdb": round(cpu, 3)}
            result["input_mb"] = round(path.stat().st_size / 1e6)
        else:
            result[f"cpu_ratio_{variant.replace(' ', '_')}"] = round(cpu, 3)
        result["peak_mb"] = max(result.get("peak_mb", 0), *(round(run.peak_mb) for run in ours))
        path.unlink()
    print(json.dumps(result))


def write(path: Path, columns: str, rows: int) -> None:
    started = time.perf_counter()
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(
        f"COPY (SELECT {columns} FROM range({rows}) t(i)) TO '{path}' (HEADER, DELIMITER ',')"
    )
    megabytes = path.stat().st_size / 1e6
    print(f"wrote {megabytes:,.0f} MB in {time.perf_counter() - started:.0f} s", flush=True)


def measured(how: str, path: Path, folder: Path) -> Run:
    """Runs one load in a fresh process and asks the system what it used, children included."""
    out = folder / "out"
    out.mkdir()
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, "--one", how, str(path), str(out)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the {how} load failed")
    shutil.rmtree(out)
    counts = json.loads(said.splitlines()[-1])
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / scale, *counts)


def one(how: str, file: str, out: str) -> None:
    """One load, in this process; prints rows and rejected."""
    if how == "steward":
        loaded = isolation.load(Path(file), None, Path(out), LIMITS)
        # What it and its forks used counts only once it has ended.
        isolation.stem.close()
        print(json.dumps([loaded.rows, loaded.rejected]))
        return
    connection = duckdb.connect(config={"threads": LIMITS.threads, "memory_limit": "1GB"})
    target = Path(out) / "bare.parquet"
    done = connection.execute(
        f"COPY (FROM read_csv('{file}', ignore_errors = true)) TO '{target}' (FORMAT parquet)"
    ).fetchone()
    print(json.dumps([done[0] if done else 0, 0]))


def ratio(ours: Sequence[Run], bare: Sequence[Run], what: str) -> float:
    best: float = min(getattr(run, what) for run in ours) / min(getattr(run, what) for run in bare)
    return best


def show(variant: str, how: str, run: Run) -> None:
    print(
        f"{variant:12}{how:10}{run.wall:8.1f}{run.cpu:8.1f}{run.peak_mb:9.0f}{run.rows:12,}{run.rejected:10,}",
        flush=True,
    )


def check(variant: str, ours: Sequence[Run], rows: int) -> None:
    """The benchmark counts only if nothing was lost."""
    misfits = sum(1 for i in range(77_777, rows, 100_000)) if variant == "misfits" else 0
    for run in ours:
        if run.rows + run.rejected != rows or run.rejected > misfits:
            raise SystemExit(
                f"{variant}: {run.rows} rows and {run.rejected} rejects of {rows} records"
            )


if __name__ == "__main__":
    main()
