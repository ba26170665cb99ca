"""Durable steps per second: Steward's journal beside DBOS, LangGraph's SQLite checkpointer and the bare append.

Runs of ten steps that do nothing, one at a time and a hundred at once, in one process, from their start to their end.
The peers do the same in processes of their own, a moment later, on the same disk: DBOS as it comes and with WAL and
`synchronous=NORMAL`, which loses steps in a power cut where Steward loses none; its better figure counts. LangGraph
checkpoints with `durability="sync"`. The bare append writes the rows of such runs into the same table, in the order in
which a hundred runs at once produce them, with the plain driver and a hundred entries per disk sync.

    .venv/bin/python benchmarks/steps.py            some minutes
    .venv/bin/python benchmarks/steps.py --quick    small sizes, for a smoke test

The last line is JSON. `ratio_vs_dbos_c100` and `ratio_vs_langgraph_c100`: steps per second of Steward on SQLite over
theirs, a hundred runs at once. `cost_vs_floor`: seconds per step over those of the bare append, in runs of a hundred
steps; `cost_vs_floor_short_runs`: in runs of ten, where starting, claiming and ending a run weighs. `resume_100k_s`: to
read and take up a run of 100,000 entries. `growth_1m_over_1k`: seconds per step with a million entries in the table
over those with a thousand.
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from steward.core import Ids, SystemClock
from steward.runs import Execution, HeadLog, Json, Kind, RunRequest, Runs, _tables
from steward.runs.entries import Link, made
from steward.store import Bus, Database, EventLog, FileBlobs, PostgresBus, Scope, Signer, migrate
from steward.testing.servers import PostgresServer

SCOPE = Scope("org_bench", "prj_bench")
STEPS = 10
LASTING = 100
BATCH = 100


def say(text: str) -> None:
    print(text, flush=True)


@dataclass(frozen=True)
class Pace:
    """What a number of steps took."""

    steps: int
    wall: float
    cpu: float

    @property
    def per_second(self) -> float:
        return self.steps / self.wall

    def __str__(self) -> str:
        return f"{self.per_second:8,.0f} steps/s  {self.cpu / self.steps * 1e6:6.0f} µs CPU/step"


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def clocked(steps: int, work: Any) -> Pace:
    cpu, started = _cpu(), time.perf_counter()
    await work
    return Pace(steps, time.perf_counter() - started, _cpu() - cpu)


def best(paces: list[Pace]) -> Pace:
    """The fastest of several: other work on the machine only ever slows down."""
    return max(paces, key=lambda pace: pace.per_second)


# Steward


RETURNED: set[str] = set()
"""Runs whose program has returned; the next ring says that its end is durable."""


async def ten_steps(execution: Execution) -> Json:
    async def nothing(n: int) -> Json:
        return n

    total = 0
    for n in range(execution.request.inputs["steps"]):
        total += await execution.step(f"step/{n}", {"n": n}, partial(nothing, n))
    RETURNED.add(execution.run.id)
    return total


@contextmanager
def opened(folder: Path, url: str | None = None) -> Iterator[tuple[Runs, Database]]:
    database = Database(url or f"sqlite:///{folder / 'steward.db'}")
    migrate(database)
    clock = SystemClock()
    ids = Ids(clock)
    bus = Bus() if database.is_sqlite else PostgresBus(database)
    events = EventLog(database, bus, clock, ids)
    heads = HeadLog(Signer([bytes(32)]))
    runs = Runs(database, FileBlobs(folder / "blobs"), bus, events, clock, ids, heads)
    runs.programs["ten"] = ten_steps
    try:
        yield runs, database
    finally:
        runs.close()
        bus.close()
        database.close()


async def steward(runs: Runs, count: int, together: int, steps: int = STEPS) -> Pace:
    """Starts runs, as many as may be under way at once, and follows them to their end."""
    worker = runs.worker(concurrency=together)
    serving = asyncio.create_task(worker.serve())
    loop = asyncio.get_running_loop()
    # As many threads as the server has for requests; those of the loop belong to the worker.
    requests = ThreadPoolExecutor(40)

    async def one() -> None:
        request = RunRequest("A run of steps", "ten", {}, {"steps": steps})
        run = await loop.run_in_executor(requests, runs.start, SCOPE, "usr_bench", request)
        ended = asyncio.Event()

        def rung() -> None:
            if run.id in RETURNED:
                loop.call_soon_threadsafe(ended.set)

        with runs.listening(run.id, rung):
            if run.id in RETURNED and runs.get(SCOPE, run.id).status.is_final:
                return
            await ended.wait()

    async def lane(share: int) -> None:
        for _ in range(share):
            await one()

    lanes = [lane(count // together) for _ in range(together)]
    pace = await clocked(count * steps, asyncio.gather(*lanes))
    worker.stop()
    await serving
    requests.shutdown()
    return pace


# The floor


def rows(run: int, steps: int) -> list[tuple[Any, ...]]:
    """What a run leaves in the journal: its start, its steps, its end."""
    run_id = f"run_{run:026d}"
    at, link, found = SystemClock().now(), Link(), []
    asked = dict(vars(RunRequest("A run of steps", "ten", {}, {"steps": steps})))
    said: list[tuple[Kind, str, Json]] = [
        (Kind.created, "run", {"request": asked, "author": "usr_bench"}),
        *((Kind.step, f"step/{n}", {"request": {"n": n}, "result": n}) for n in range(steps)),
        (Kind.done, "run", {"output": steps}),
    ]
    for kind, key, data in said:
        entry = made(run_id, link, kind, key, at, data)
        link = Link(entry.seq, entry.hash)
        place = (run_id, entry.seq, SCOPE.org_id, SCOPE.project_id)
        found.append((*place, entry.kind, entry.key, entry.body, entry.hash))
    return found


INSERT = (
    "INSERT INTO journal (run_id, seq, org_id, project_id, kind, key, body, hash)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


def floor(folder: Path, rounds: int, steps: int) -> Pace:
    """The bare append: entries spelt, chained and inserted, a hundred runs per sync, and nothing else."""
    with opened(folder):
        pass
    connection = sqlite3.connect(folder / "steward.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    cpu, started = _cpu(), time.perf_counter()
    for number in range(rounds):
        for batch in zip(*(rows(number * BATCH + n, steps) for n in range(BATCH)), strict=True):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT, batch)
            connection.execute("COMMIT")
    pace = Pace(rounds * BATCH * steps, time.perf_counter() - started, _cpu() - cpu)
    connection.close()
    return pace


# Peers, each in a process of its own


def dbos(folder: Path, *, wal: bool, count: int) -> dict[str, float]:
    from dbos import DBOS
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    path = folder / "dbos.sqlite"
    if wal:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()

        @event.listens_for(Engine, "connect")
        def _less_durable(connection: Any, _: Any) -> None:
            connection.execute("PRAGMA synchronous = NORMAL")

    DBOS(
        config={
            "name": "steps",
            "system_database_url": f"sqlite:///{path}",
            "log_level": "CRITICAL",
        }
    )

    @DBOS.step()
    async def nothing(n: int) -> int:
        return n

    @DBOS.workflow()
    async def ten() -> int:
        return sum([await nothing(n) for n in range(STEPS)])

    DBOS.launch()

    async def measured() -> dict[str, float]:
        await ten()
        return await _paced(ten, count)

    found = asyncio.run(measured())
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    # Its threads outlive the loop; nothing more is wanted of them.
    os._exit(0)


def langgraph(folder: Path, *, count: int) -> dict[str, float]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph

    async def nothing(state: dict[str, int]) -> dict[str, int]:
        return {"total": state["total"] + 1}

    class State(dict[str, int]):
        total: int

    State.__annotations__ = {"total": int}
    graph: Any = StateGraph(State)
    names = [f"step_{n}" for n in range(STEPS)]
    for before, name in zip([START, *names], names, strict=False):
        graph.add_node(name, nothing)
        graph.add_edge(before, name)
    graph.add_edge(names[-1], END)

    async def measured() -> dict[str, float]:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "graph.sqlite")) as saver:
            ready = graph.compile(checkpointer=saver)
            numbers = iter(range(1_000_000))

            async def ten() -> None:
                thread = {"configurable": {"thread_id": str(next(numbers))}}
                await ready.ainvoke({"total": 0}, thread, durability="sync")

            await ten()
            return await _paced(ten, count)

    return asyncio.run(measured())


async def _paced(ten: Callable[[], Any], count: int) -> dict[str, float]:
    async def one_by_one() -> None:
        for _ in range(max(count // 10, 1)):
            await ten()

    async def at_once() -> None:
        await asyncio.gather(*(ten() for _ in range(count)))

    single = await clocked(max(count // 10, 1) * STEPS, one_by_one())
    many = best([await clocked(count * STEPS, at_once()) for _ in range(2)])
    return {"c1": single.per_second, "c100": many.per_second}


PEERS: dict[str, Callable[..., dict[str, float]]] = {
    "dbos": partial(dbos, wal=False),
    "dbos-wal": partial(dbos, wal=True),
    "langgraph": langgraph,
}


def peer(name: str, folder: Path, count: int) -> dict[str, float]:
    place = Path(tempfile.mkdtemp(prefix=name, dir=folder))
    command = [sys.executable, __file__, "--peer", name, str(place), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    say(f"  {name:22} c1 {found['c1']:8,.0f} steps/s   c100 {found['c100']:8,.0f} steps/s")
    return found


# Resume and growth


def fill(runs: Runs, database: Database, count: int) -> str:
    """A run with so many steps behind it that has just been woken."""
    request = RunRequest("A long run", "long", {}, {"n": count}, max_steps=count + 10)
    run = runs.start(SCOPE, "usr_bench", request)
    link = Link(run.head_seq, run.head_hash)
    at = SystemClock().now()
    for first in range(0, count, 20_000):
        with database.write(SCOPE) as tx:
            batch = []
            for n in range(first, min(first + 20_000, count)):
                data = {"request": {"n": n}, "result": {"rows": n, "name": f"part {n}"}}
                entry = made(run.id, link, Kind.step, f"step/{n}", at, data)
                link = Link(entry.seq, entry.hash)
                row = {"run_id": run.id, "seq": entry.seq, "kind": entry.kind, "key": entry.key}
                batch.append({**row, "body": entry.body, "hash": entry.hash})
            tx.execute(sa.insert(_tables.journal), batch)
            tx.execute(
                sa.update(_tables.runs)
                .where(_tables.runs.c.id == run.id)
                .values(head_seq=link.seq, head_hash=link.hash)
            )
    return run.id


async def long(execution: Execution) -> Json:
    async def never() -> Json:
        raise AssertionError("every step was done before")

    for n in range(execution.request.inputs["n"]):
        await execution.step(f"step/{n}", {"n": n}, never)
    return execution.request.inputs["n"]


def resume(folder: Path, count: int, repeats: int) -> float:
    folder.mkdir()
    took = []
    with opened(folder) as (runs, database):
        runs.programs["long"] = long
        for _ in range(repeats):
            run_id = fill(runs, database, count)
            started = time.perf_counter()
            runs.drive_until_idle()
            took.append(time.perf_counter() - started)
            assert runs.get(SCOPE, run_id).status.value == "done"
    return min(took)


def growth(folder: Path, sizes: list[int], rounds: int, count: int) -> dict[int, float]:
    """Seconds per step beside so many entries; measured in turns, so that a busy moment hits all alike."""
    found: dict[int, list[float]] = {size: [] for size in sizes}
    folder.mkdir()
    for size in sizes:
        place = folder / str(size)
        place.mkdir()
        with opened(place) as (runs, database):
            for first in range(0, size, 100_000):
                fill(runs, database, min(100_000, size - first))
            with database.write(SCOPE) as tx:
                tx.execute(sa.update(_tables.runs).values(status="done", wake_at=None))
            asyncio.run(steward(runs, 100, 100))
    for _ in range(rounds):
        for size in sizes:
            with opened(folder / str(size)) as (runs, _):
                pace = asyncio.run(steward(runs, count, 100))
            found[size].append(pace.wall / pace.steps)
    return {size: statistics.median(values) for size, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peer", nargs=3, metavar=("NAME", "FOLDER", "COUNT"))
    arguments = parser.parse_args()
    if arguments.peer:
        name, place, count = arguments.peer
        say(json.dumps(PEERS[name](Path(place), count=int(count))))
        return
    folder = Path(tempfile.mkdtemp(prefix="steps-"))
    try:
        say(json.dumps(measured(folder, quick=arguments.quick)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ours(folder: Path, title: str, url: str | None, *, quick: bool) -> tuple[Pace, Pace]:
    folder.mkdir(exist_ok=True)
    with opened(folder, url) as (runs, _):
        asyncio.run(steward(runs, 100, 100))
        one = asyncio.run(steward(runs, 10 if quick else 60, 1))
        count = 200 if quick else 1000
        many = best([asyncio.run(steward(runs, count, 100)) for _ in range(2)])
    say(f"  {title:22} c1 {one}\n{'':25}c100 {many}")
    return one, many


def measured(folder: Path, *, quick: bool) -> dict[str, float]:
    say("In turns, so that a busy moment hits all alike; the best of each counts")
    single: list[Pace] = []
    hundred: list[Pace] = []
    bare: list[Pace] = []
    lasting: list[Pace] = []
    bare_lasting: list[Pace] = []
    peers: dict[str, list[dict[str, float]]] = {name: [] for name in PEERS}
    for number in range(1 if quick else 2):
        for name in PEERS:
            # As it comes, DBOS is always the slower one, and takes the longest to say so.
            if name != "dbos" or number == 0:
                peers[name].append(peer(name, folder, 30 if quick or name == "dbos" else 100))
        for steps, found, rounds in ((STEPS, bare, 20), (LASTING, bare_lasting, 3)):
            place = folder / f"floor-{number}-{steps}"
            place.mkdir()
            found.append(floor(place, 1 if quick else rounds, steps))
            say(f"  {f'bare append, {steps} steps':25} c100 {found[-1]}")
        one, many = ours(folder / "sqlite", "Steward on SQLite", None, quick=quick)
        single.append(one)
        hundred.append(many)
        with opened(folder / "sqlite") as (runs, _):
            lasting.append(asyncio.run(steward(runs, 100 if quick else 300, 100, LASTING)))
        say(f"  {f'Steward, {LASTING} steps':25} c100 {lasting[-1]}")
    (folder / "postgres").mkdir()
    with (
        PostgresServer.from_package(folder / "postgres") as server,
        server.database(None) as url,
    ):
        pg_one, pg_many = ours(folder / "pg", "Steward on PostgreSQL", url, quick=quick)
    resumed = resume(folder / "resume", 10_000 if quick else 100_000, 1 if quick else 3)
    say(f"A run of {10_000 if quick else 100_000:,} entries is taken up in {resumed:.2f} s")
    sizes = [1_000, 20_000] if quick else [1_000, 100_000, 1_000_000]
    costs = growth(folder / "growth", sizes, 2 if quick else 5, 200 if quick else 300)
    for size, seconds in costs.items():
        say(f"  beside {size:9,} entries {seconds * 1e6:6.0f} µs/step")
    fastest = best(hundred)
    other = {name: max(each["c100"] for each in found) for name, found in peers.items()}
    dbos_best = max(other["dbos"], other["dbos-wal"])
    return {
        "ratio_vs_dbos_c100": round(fastest.per_second / dbos_best, 1),
        "ratio_vs_langgraph_c100": round(fastest.per_second / other["langgraph"], 1),
        "cost_vs_floor": round(best(bare_lasting).per_second / best(lasting).per_second, 2),
        "cost_vs_floor_short_runs": round(best(bare).per_second / fastest.per_second, 2),
        "resume_100k_s": round(resumed, 2),
        "growth_1m_over_1k": round(costs[sizes[-1]] / costs[sizes[0]], 2),
        "steps_per_s_c1": round(best(single).per_second),
        "steps_per_s_c100": round(fastest.per_second),
        "postgres_steps_per_s_c1": round(pg_one.per_second),
        "postgres_steps_per_s_c100": round(pg_many.per_second),
        "cpu_us_per_step_c100": round(fastest.cpu / fastest.steps * 1e6),
        "floor_steps_per_s": round(best(bare).per_second),
        "dbos_steps_per_s_c100": round(dbos_best),
        "langgraph_steps_per_s_c100": round(other["langgraph"]),
    }


if __name__ == "__main__":
    main()
