"""How long untrusted code takes in the sandbox, beside plain Python, bubblewrap and Docker.

Two jobs: `print(1)`, and a small group-by with DuckDB and pandas over a Parquet file. Each peer runs
the same job as a program of its own. Peers that this machine does not have are reported as null.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import duckdb

from steward.core.settings import minimal_environment
from steward.sandbox import Column, Dataset, Request, Sandbox
from steward.sandbox.providers.embedded import Embedded

PRINT = "print(1)"
JOB = """
frame = con.execute("SELECT * FROM orders").df()
result_df = frame.groupby("g")["amount"].sum().reset_index()
print(len(result_df))
"""
PLAIN_JOB = """
import duckdb, pandas as pd
con = duckdb.connect(config={{"threads": 1}})
con.execute("CREATE VIEW orders AS SELECT * FROM read_parquet('{file}')")
"""

Figures = dict[str, float]


def measured(times: list[float]) -> Figures:
    ordered = sorted(times)
    return {
        "p50": statistics.median(ordered) * 1000,
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000,
    }


def program(command: list[str], code: str, rounds: int) -> Figures:
    """Runs a job as a program of its own."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        subprocess.run(
            [*command, code],
            check=True,
            stdout=subprocess.DEVNULL,
            env=minimal_environment(),
        )
        times.append(time.perf_counter() - started)
    return measured(times)


async def repeated(once: Callable[[], Awaitable[float]], rounds: int) -> Figures:
    return measured([await once() for _ in range(rounds)])


async def embedded(root: Path, dataset: Dataset, rounds: int) -> dict[str, dict[str, Figures]]:
    """Warm: a process is ready. Cold: the zygote has to start first."""
    found: dict[str, dict[str, Figures]] = {"embedded, warm": {}, "embedded, cold": {}}
    for name, code in (("print", PRINT), ("job", JOB)):
        request = Request(kind="python", code=code, datasets=[dataset] if name == "job" else [])
        sandbox = Sandbox(Embedded([root], ready=3))
        try:
            walls = await sandbox.walls()

            async def warm(sandbox: Sandbox = sandbox, request: Request = request) -> float:
                # A pause, so that what is measured is a request and not the making of processes.
                await asyncio.sleep(0.15)
                started = time.perf_counter()
                response = await sandbox.execute(request)
                took = time.perf_counter() - started
                assert response.status == "done", response.message
                return took

            await repeated(warm, 3)
            found["embedded, warm"][name] = await repeated(warm, rounds)
        finally:
            await sandbox.close()

        async def cold(request: Request = request) -> float:
            started = time.perf_counter()
            fresh = Sandbox(Embedded([root], ready=1))
            try:
                assert (await fresh.execute(request)).status == "done"
                return time.perf_counter() - started
            finally:
                await fresh.close()

        found["embedded, cold"][name] = await repeated(cold, max(rounds // 10, 1))
    print(f"tier {walls.tier}: {', '.join(walls.stood)}", flush=True)
    return found


def bubblewrap() -> list[str] | None:
    found = shutil.which("bwrap")
    if found is None:
        return None
    return [
        found,
        "--ro-bind",
        "/",
        "/",
        "--unshare-all",
        "--die-with-parent",
        sys.executable,
        "-c",
    ]


def docker() -> list[str] | None:
    """A running engine with the image `steward-runner`, which holds the same libraries."""
    found = shutil.which("docker")
    if found is None:
        return None
    asked = subprocess.run(
        [found, "image", "inspect", "steward-runner"], capture_output=True, check=False
    )
    if asked.returncode:
        return None
    limits = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--log-driver", "none"]
    return [found, "run", "--rm", *limits, "steward-runner", "python", "-c"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Fewer rounds.")
    rounds = 10 if parser.parse_args().quick else 60
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        file = root / "orders.parquet"
        duckdb.sql(
            "SELECT i AS id, i % 7 AS g, i * 1.5::DOUBLE AS amount FROM range(20000) r(i)"
        ).write_parquet(str(file))
        dataset = Dataset(
            name="orders",
            source=f"read_parquet(['{file}'])",
            files=[str(file)],
            columns=[Column(name=name, type="") for name in ("id", "g", "amount")],
        )
        figures: dict[str, dict[str, Figures] | None] = {}
        figures |= asyncio.run(embedded(root, dataset, rounds))
        plain = PLAIN_JOB.format(file=file) + JOB
        peers = {
            "plain python -c": [sys.executable, "-c"],
            "bubblewrap": bubblewrap(),
            "docker run": docker(),
        }
        for name, command in peers.items():
            figures[name] = None
            if command is not None:
                figures[name] = {
                    "print": program(command, PRINT, rounds),
                    "job": program(command, plain, max(rounds // 3, 3)),
                }
    report(figures)


def report(figures: dict[str, dict[str, Figures] | None]) -> None:
    print(f"{'ms':20}{'print p50':>12}{'p95':>9}{'job p50':>12}{'p95':>9}")
    for name, one in figures.items():
        if one is None:
            print(f"{name:20}{'–':>12}{'–':>9}{'–':>12}{'–':>9}")
            continue
        shown = [one["print"]["p50"], one["print"]["p95"], one["job"]["p50"], one["job"]["p95"]]
        print(f"{name:20}{shown[0]:12.1f}{shown[1]:9.1f}{shown[2]:12.1f}{shown[3]:9.1f}")
    warm = figures["embedded, warm"]
    assert warm is not None

    def times_faster(peer: str, job: str) -> float | None:
        other = figures[peer]
        return None if other is None else round(other[job]["p50"] / warm[job]["p50"], 2)

    print(
        json.dumps(
            {
                "warm_p50_ms": round(warm["job"]["p50"], 2),
                "warm_print_p50_ms": round(warm["print"]["p50"], 2),
                "speedup_vs_python": times_faster("plain python -c", "job"),
                "speedup_print_vs_python": times_faster("plain python -c", "print"),
                "speedup_vs_bwrap": times_faster("bubblewrap", "job"),
                "speedup_vs_docker": times_faster("docker run", "job"),
            }
        )
    )


if __name__ == "__main__":
    main()
