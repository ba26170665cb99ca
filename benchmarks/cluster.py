"""Many workers on PostgreSQL, NATS and S3: what a run costs with one, two and four of them, and what waits and ended costs.

PostgreSQL and NATS come from packages of PyPI and write to this machine's disk, S3 is the double that the tests use.
Workers are processes of their own, as `steward worker` starts them, sixteen runs at a time each. A run has ten steps
that do nothing; the last one returns 20 KB, which go to S3. CPU seconds are those of workers, PostgreSQL and NATS
together; the double of S3 is written in Python and costs more than a real one, so its CPU is left out.

    .venv/bin/python benchmarks/cluster.py            about ten minutes
    .venv/bin/python benchmarks/cluster.py --quick    small sizes, for a smoke test

It stops by itself after 40 minutes, or as many as `--minutes` says. The last line is JSON:

- `runs_per_s_1`, `_2`, `_4`: runs that end per second and worker. This machine's cores are shared by workers and servers,
  so with more workers than cores it falls; `cpu_per_run_4_over_1` does not depend on the number of cores: CPU seconds for
  each run with four workers over those with one.
- `bytes_per_run`: what a run takes in PostgreSQL, indexes included.
- `waiting_10k_cost`: CPU seconds per second of two idle workers and their servers beside 10,000 runs that wait for a
  person, over those without; `waiting_10k_queries`: the same in transactions of PostgreSQL per second. The runs that wait
  are real ones, driven to where they wait; at the end some of them are answered and end.
- `finished_1m_ratio`: CPU seconds for each run beside a million runs that are over, over those before;
  `finished_1m_latency`: the same for the seconds from the start of a single run to its end, and `finished_1m_idle` for an
  idle cluster. PostgreSQL makes the million runs, with two entries, a signed head and two events each, and is then
  vacuumed, as its autovacuum does in time.
- `dbos_…` and `temporal_…`: the same runs with DBOS's queues on the same PostgreSQL, and with Temporal's development server
  (its own SQLite, in memory) and local activities. The 20 KB stay in their databases.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from steward.app import Steward, open_steward
from steward.core import Settings
from steward.runs import Execution, Json, Run, RunRequest, _tables
from steward.store import EVERYWHERE, Scope
from steward.testing.servers import NatsServer, PostgresServer

SCOPE = Scope("org_bench", "prj_bench")
STEPS = 10
PAYLOAD = 20_000
ROOM = 16
KEY = "key-0123456789"
LONGEST_SECONDS = 600.0
SERVING = "serving"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def say(text: str) -> None:
    print(text, flush=True)


# What runs


async def ten_steps(execution: Execution) -> Json:
    async def nothing(n: int) -> Json:
        return n

    async def large() -> Json:
        return f"{execution.run.id} ".ljust(PAYLOAD, "x")

    for n in range(STEPS - 1):
        await execution.step(f"step/{n}", {"n": n}, partial(nothing, n))
    return len(await execution.step("step/last", {}, large))


async def waits(execution: Execution) -> Json:
    return await execution.wait("decision", {"kind": "question"}, reason="a decision")


def settings_of(place: dict[str, str]) -> Settings:
    return Settings.model_validate(
        {
            "home": place["home"],
            "demo": False,
            "database": {"url": place["database"]},
            "blobs": {
                "url": "s3://bench/steward",
                "endpoint": place["s3"],
                "access_key_id": KEY,
                "secret_access_key": KEY,
                "create_bucket": True,
            },
            "runs": {"nats_url": place["nats"]},
            "log": {"level": "error", "format": "json"},
        }
    )


def opened(place: dict[str, str]) -> Steward:
    steward = open_steward(settings_of(place))
    steward.runs.programs |= {"ten": ten_steps, "waits": waits}
    return steward


def work(place: dict[str, str]) -> None:
    """A worker, until it is stopped."""
    with closing(opened(place)) as steward:
        worker = steward.runs.worker(concurrency=ROOM)

        async def serve() -> None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
            say(SERVING)
            await worker.serve()

        asyncio.run(serve())


# Processes and what they cost


@dataclass
class Child:
    process: subprocess.Popen[str]

    @classmethod
    def started(cls, *arguments: str) -> "Child":
        process = subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        return cls(process)

    def await_line(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if line != SERVING:
            raise SystemExit(f"a worker did not start: {line!r}")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def children(arguments: Sequence[str], number: int) -> Iterator[list[int]]:
    found: list[Child] = []
    try:
        found = [Child.started(*arguments) for _ in range(number)]
        for child in found:
            child.await_line()
        yield [child.process.pid for child in found]
    finally:
        for child in found:
            child.stop()


def cpu(pid: int) -> float:
    """Of a process and all it started, those that ended included."""
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    total = 0.0
    for each in family:
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


@dataclass
class Meter:
    pids: list[int]
    servers: dict[str, int]
    _before: dict[str, float] = field(default_factory=dict)

    def _now(self) -> dict[str, float]:
        of_servers = {name: cpu(pid) for name, pid in self.servers.items()}
        return {"workers": sum(cpu(pid) for pid in self.pids), **of_servers}

    def start(self) -> None:
        self._before = self._now()

    def spent(self) -> dict[str, float]:
        return {name: value - self._before[name] for name, value in self._now().items()}


@dataclass(frozen=True)
class Pace:
    runs: int
    wall: float
    cpu: dict[str, float]

    @property
    def cpu_per_run(self) -> float:
        return sum(self.cpu.values()) / self.runs

    @property
    def per_second(self) -> float:
        return self.runs / self.wall

    def __str__(self) -> str:
        parts = ", ".join(f"{n} {v / self.runs * 1e3:.1f}" for n, v in self.cpu.items())
        return f"{self.per_second:7.1f} runs/s  {self.cpu_per_run * 1e3:6.2f} ms CPU/run ({parts})"


def cheapest(paces: list[Pace]) -> Pace:
    """Of several: other work on the machine only ever adds."""
    return min(paces, key=lambda pace: pace.cpu_per_run)


# Steward


@dataclass
class Cluster:
    steward: Steward
    place: dict[str, str]
    servers: dict[str, int]

    def workers(self, number: int) -> Any:
        return children([__file__, "--worker", json.dumps(self.place)], number)

    def meter(self, pids: list[int]) -> Meter:
        return Meter(pids, self.servers)

    def start(self, number: int, program: str = "ten") -> list[Run]:
        request = RunRequest("A run of steps", program, {}, {})
        with ThreadPoolExecutor(40) as requests:
            starting = partial(self.steward.runs.start, SCOPE, "usr_bench", request)
            return [each.result() for each in [requests.submit(starting) for _ in range(number)]]

    def left(self, runs: Sequence[Run], *, ended: bool = True) -> int:
        """How many of them are not over yet, or do not wait yet."""
        columns = _tables.runs.c
        open_ = columns.ended_at.is_(None) if ended else columns.waits.is_(None)
        first, last = min(run.id for run in runs), max(run.id for run in runs)
        statement = sa.select(sa.func.count().label("left")).where(
            columns.id >= first, columns.id <= last, open_
        )
        with self.steward.database.read(EVERYWHERE) as tx:
            return int(tx.execute(statement).one().left)

    def until_over(self, runs: Sequence[Run], *, ended: bool = True) -> None:
        deadline = time.monotonic() + LONGEST_SECONDS
        while self.left(runs, ended=ended):
            if time.monotonic() > deadline:
                raise SystemExit("the runs did not end in time")
            time.sleep(0.05)

    def paced(self, number: int, pids: list[int]) -> Pace:
        """The runs wait before the clock starts: every worker is full from the beginning, however many there are."""
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        runs = self.start(number)
        meter = self.meter(pids)
        meter.start()
        began = time.perf_counter()
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        self.until_over(runs)
        return Pace(number, time.perf_counter() - began, meter.spent())

    def latency(self, number: int) -> float:
        """Seconds from asking for a run to its end being known here, one after the other: the median."""
        found = []
        request = RunRequest("A run of steps", "ten", {}, {})
        for _ in range(number):
            began = time.perf_counter()
            run = self.steward.runs.start(SCOPE, "usr_bench", request)
            ended = threading.Event()
            with self.steward.runs.listening(run.id, ended.set):
                while not self.steward.runs.get(SCOPE, run.id).status.is_final:
                    ended.wait(1.0)
                    ended.clear()
            found.append(time.perf_counter() - began)
        return statistics.median(found)

    def idle(self, pids: list[int], seconds: float) -> tuple[float, float]:
        """CPU seconds and transactions per second of a cluster with nothing to do."""
        meter = self.meter(pids)
        time.sleep(2)
        queries = self._transactions()
        meter.start()
        began = time.perf_counter()
        time.sleep(seconds)
        wall = time.perf_counter() - began
        spent = sum(meter.spent().values())
        # PostgreSQL's sessions report with a delay of a second at most, the same at both ends.
        return spent / wall, (self._transactions() - queries) / wall

    def size(self) -> int:
        """Bytes of the database, with its indexes."""
        with self.steward.database.read(EVERYWHERE) as tx:
            found = tx.execute(sa.text("SELECT pg_database_size(current_database()) AS n")).one()
        return int(found.n)

    def _transactions(self) -> int:
        statement = sa.text(
            "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database"
            " WHERE datname = current_database()"
        )
        with self.steward.database.read(EVERYWHERE) as tx:
            return int(tx.execute(statement).one().n)


@contextmanager
def s3_double(log: Path) -> Iterator[str]:
    """moto's server in a process of its own."""
    program = (
        "from moto.server import ThreadedMotoServer\n"
        "import signal\n"
        "server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)\n"
        "server.start()\n"
        "print(*server.get_host_and_port(), flush=True)\n"
        "signal.pause()\n"
    )
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            assert process.stdout is not None
            host, port = process.stdout.readline().split()
            yield f"http://{host}:{port}"
        finally:
            process.kill()
            process.wait()


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[PostgresServer, int]]:
    with PostgresServer.from_package(folder) as server:
        yield server, int((folder / "postmaster.pid").read_text().splitlines()[0])


def throughput(cluster: Cluster, *, quick: bool) -> dict[str, float]:
    found: dict[int, list[Pace]] = {1: [], 2: [], 4: []}
    size, ended = cluster.size(), 0
    for _ in range(1 if quick else 2):
        for number, paces in found.items():
            with cluster.workers(number) as pids:
                cluster.paced(20 * number, pids)
                paces.append(cluster.paced(60 if quick else 400, pids))
                ended += 20 * number + paces[-1].runs
            say(f"  Steward, {number} worker{'s' if number > 1 else ''}: {paces[-1]}")
    least = {number: cheapest(paces) for number, paces in found.items()}
    fastest = {number: max(each.per_second for each in paces) for number, paces in found.items()}
    figures = {f"runs_per_s_{n}": round(value / n, 1) for n, value in fastest.items()}
    figures |= {f"cpu_ms_per_run_{n}": round(p.cpu_per_run * 1e3, 2) for n, p in least.items()}
    ratio = least[4].cpu_per_run / least[1].cpu_per_run
    figures["bytes_per_run"] = round((cluster.size() - size) / ended)
    return {**figures, "cpu_per_run_4_over_1": round(ratio, 3)}


def waiting(cluster: Cluster, *, quick: bool) -> dict[str, float]:
    number, seconds = (200, 5.0) if quick else (10_000, 20.0)
    with cluster.workers(2) as pids:
        cluster.paced(40, pids)
        before = cluster.idle(pids, seconds)
        began = time.perf_counter()
        runs = cluster.start(number, "waits")
        cluster.until_over(runs, ended=False)
        say(
            f"  {number:,} runs were driven to where they wait in {time.perf_counter() - began:.0f} s"
        )
        after = cluster.idle(pids, seconds)
        some = runs[:: max(1, number // 50)]
        for run in some:
            cluster.steward.runs.records.signal(SCOPE, run.id, "decision", {"yes": True})
        deadline = time.monotonic() + LONGEST_SECONDS
        while not all(cluster.steward.runs.get(SCOPE, each.id).status.is_final for each in some):
            if time.monotonic() > deadline:
                raise SystemExit("answered runs did not end")
            time.sleep(0.05)
    for name, (spent, queries) in {"without": before, "with": after}.items():
        say(f"  idle {name} them: {spent * 1e3:6.1f} ms CPU/s, {queries:5.1f} transactions/s")
    return {
        "idle_cpu_ms_per_s": round(before[0] * 1e3, 1),
        "waiting_10k_cost": round(after[0] / before[0], 2),
        "waiting_10k_queries": round(after[1] / before[1], 2),
    }


FILL_RUNS = """
INSERT INTO runs (id, org_id, project_id, title, program, status, queue, priority, created_by, created_at,
                  started_at, ended_at, root_id, epoch, head_seq, head_hash, lost)
SELECT 'run_0' || lpad(n::text, 25, '0'), :org, :project, 'A run that is over', 'ten', 'done', 'cpu', 0,
       'usr_' || n % 100, t, t, t, 'run_0' || lpad(n::text, 25, '0'), 1, 2, md5(n::text) || md5(n::text), 0
FROM (SELECT n, now() - n * interval '2 seconds' AS t FROM generate_series(:first ::bigint, :last ::bigint) n) made
"""
FILL_JOURNAL = """
INSERT INTO journal (run_id, seq, org_id, project_id, kind, key, body, hash)
SELECT 'run_0' || lpad(n::text, 25, '0'), seq, :org, :project, CASE seq WHEN 1 THEN 'created' ELSE 'done' END,
       'run', '{"data":{},"n":"' || repeat(md5(n::text), 8) || '"}', md5(n::text) || md5(seq::text)
FROM generate_series(:first ::bigint, :last ::bigint) n, generate_series(1, 2) seq
"""
FILL_HEADS = """
INSERT INTO run_heads (org_id, project_id, position, run_id, seq, body, hash, signature)
SELECT :org, 'prj_full', n, 'run_0' || lpad(n::text, 25, '0'), 2, '{"n":"' || repeat(md5(n::text), 12) || '"}',
       md5(n::text) || md5(n::text), repeat(md5(n::text), 3)
FROM generate_series(:first ::bigint, :last ::bigint) n
"""
FILL_EVENTS = """
INSERT INTO events (id, org_id, project_id, type, source, subject, time, data)
SELECT 'evt_0' || lpad((2 * n + which)::text, 25, '0'), :org, :project, 'run.' || which, '/projects/x',
       'run_0' || lpad(n::text, 25, '0'), now() - n * interval '2 seconds', '{"title": "A run that is over"}'
FROM generate_series(:first ::bigint, :last ::bigint) n, generate_series(0, 1) which
"""


def fill(cluster: Cluster, number: int) -> None:
    """Ended runs, written by the database itself, in the project that the others are in."""
    batch = min(number, 50_000)
    for first in range(1, number, batch):
        values = {
            "first": first,
            "last": first + batch - 1,
            "org": SCOPE.org_id,
            "project": SCOPE.project_id,
        }
        with cluster.steward.database.write(EVERYWHERE) as tx:
            for text in (FILL_RUNS, FILL_JOURNAL, FILL_HEADS, FILL_EVENTS):
                used = {name: value for name, value in values.items() if f":{name}" in text}
                tx.execute(sa.text(text), used)
    url = cluster.steward.database.url
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text("VACUUM ANALYZE"))
        size = connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar()
    engine.dispose()
    say(f"  {number:,} runs that are over take {int(size or 0) / 1e9:.1f} GB")


def finished(cluster: Cluster, *, quick: bool) -> dict[str, float]:
    number, rounds, each = (20_000, 1, 60) if quick else (1_000_000, 2, 300)
    samples = 10 if quick else 50

    def measured() -> tuple[Pace, float, float]:
        with cluster.workers(2) as pids:
            cluster.paced(40, pids)
            pace = cheapest([cluster.paced(each, pids) for _ in range(rounds)])
            return pace, cluster.latency(samples), cluster.idle(pids, 5 if quick else 20)[0]

    before = measured()
    began = time.perf_counter()
    fill(cluster, number)
    say(f"  … and were written in {time.perf_counter() - began:.0f} s")
    after = measured()
    for name, (pace, seconds, idle) in {"without": before, "with": after}.items():
        say(f"  {name} them: {pace}, {seconds * 1e3:.1f} ms alone, idle {idle * 1e3:.1f} ms CPU/s")
    return {
        "finished_1m_ratio": round(after[0].cpu_per_run / before[0].cpu_per_run, 2),
        "finished_1m_latency": round(after[1] / before[1], 2),
        "finished_1m_idle": round(after[2] / before[2], 2),
        "latency_ms": round(before[1] * 1e3, 1),
    }


# Peers: their workers are processes of this file, too


def peers(pg: PostgresServer, pg_pid: int, *, quick: bool) -> dict[str, float]:
    from benchmarks import cluster_peers

    figures: dict[str, float] = {}
    for name, measure in (
        ("dbos", partial(cluster_peers.dbos_paces, pg, pg_pid)),
        ("temporal", cluster_peers.temporal_paces),
    ):
        found = measure(quick=quick)
        if found is None:
            say(f"  {name} is not installed here: no figures of it")
            continue
        for number, pace in found.items():
            say(f"  {name}, {number} worker{'s' if number > 1 else ''}: {pace}")
            figures[f"{name}_runs_per_s_{number}"] = round(pace.per_second / number, 1)
            figures[f"{name}_cpu_ms_per_run_{number}"] = round(pace.cpu_per_run * 1e3, 1)
        ratio = found[4].cpu_per_run / found[1].cpu_per_run
        figures[f"{name}_cpu_per_run_4_over_1"] = round(ratio, 3)
    return figures


def measured(folder: Path, *, quick: bool, only: str | None) -> dict[str, float]:
    figures: dict[str, float] = {}
    with ExitStack() as stack:
        warnings.simplefilter("ignore")
        pg, pg_pid = stack.enter_context(postgres(folder / "postgres"))
        nats = stack.enter_context(NatsServer(folder / "nats"))
        assert nats.pid is not None
        s3 = stack.enter_context(s3_double(folder / "s3.log"))
        url = stack.enter_context(pg.database(None))
        home = str(folder / "home")
        place = {"home": home, "database": url, "nats": nats.url, "s3": s3}
        steward = stack.enter_context(closing(opened(place)))
        cluster = Cluster(steward, place, {"PostgreSQL": pg_pid, "NATS": nats.pid})
        parts: dict[str, Callable[[], dict[str, float]]] = {
            "throughput": lambda: throughput(cluster, quick=quick),
            "waiting": lambda: waiting(cluster, quick=quick),
            "peers": lambda: peers(pg, pg_pid, quick=quick),
            "finished": lambda: finished(cluster, quick=quick),
        }
        for name, part in parts.items():
            if only in (None, name):
                say(f"{name.capitalize()}:")
                figures |= part()
    return figures


def main() -> None:
    # As a program it finds the file of the peers beside it.
    sys.path.insert(0, ENVIRONMENT["PYTHONPATH"])
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--only", choices=["throughput", "waiting", "peers", "finished"])
    parser.add_argument("--worker", metavar="PLACE")
    arguments = parser.parse_args()
    if arguments.worker:
        work(json.loads(arguments.worker))
        return
    # Whoever waits for a server that does not answer is ended, too.
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("stopped: it took too long"))
    signal.alarm(int(arguments.minutes * 60))
    folder = Path(tempfile.mkdtemp(prefix="cluster-"))
    try:
        found = measured(folder, quick=arguments.quick, only=arguments.only)
        say(json.dumps({"cores": os.cpu_count(), **found}))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
