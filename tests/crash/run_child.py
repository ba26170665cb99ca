"""Worker processes that die where they are told to: one process that forks a child per job.

Run as `python -m tests.crash.run_child`; jobs come as JSON lines on standard input, answers go out the same way: how a
job ended, or the process id of one that serves until it is killed. Forking keeps the cost of imports out of every
crash; the parent itself starts no thread.
"""

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import closing, suppress
from datetime import datetime, timedelta
from importlib import import_module
from itertools import count
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from steward.app import Steward, open_steward
from steward.core import Clock, MovableClock, SystemClock, Unavailable, load_settings
from steward.core.faults import install
from steward.flows.direct_calls import DirectCall
from steward.flows.launch import Start
from steward.identity import Principal, Via
from steward.runs import Execution, Program
from steward.runs.driver import Drive
from steward.runs.worker import LEASE, QUEUES, Worker
from steward.store import EVERYWHERE
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.kits.loaded import load_everything, stay_loaded

SHORT_WINDOW = timedelta(milliseconds=200)
"""For messages that people could take back; nobody does here."""
SERVING = "serving"
"""The first line of a worker's log, once it has found its database."""


class Skewed(SystemClock):
    """Of a machine whose clock is wrong."""

    def __init__(self, by: timedelta) -> None:
        self._by = by

    def now(self) -> datetime:
        return super().now() + self._by


def s3_settings(endpoint: str) -> dict[str, Any]:
    key = "key-0123456789"
    return {
        "url": "s3://crash/steward",
        "endpoint": endpoint,
        "access_key_id": key,
        "secret_access_key": key,
    }


def opened(job: dict[str, Any]) -> Steward:
    clock: Clock = SystemClock()
    if "at" in job:
        clock = MovableClock(datetime.fromisoformat(job["at"]))
    if "skew" in job:
        clock = Skewed(timedelta(seconds=job["skew"]))
    blobs = {"blobs": s3_settings(job["s3"])} if "s3" in job else {}
    settings = load_settings(
        **blobs,
        home=Path(job["home"]),
        database={"url": job["url"]},
        network={"allow_private": ["127.0.0.1"]},
        runs={"nats_url": job.get("nats"), "most_lost": job.get("most_lost", 3)},
        log={"level": "info", "format": "json"},
    )
    models = ScriptedLineup() if "model" in job else None
    if models is not None:
        # Every process numbers its calls; a name of its own keeps them apart.
        name = f"process-{os.getpid()}"
        models.play(ScriptedModel([resolve_name(job["model"])] * 1000, name=name))
    return open_steward(settings, clock=clock, models=models)


def drive(job: dict[str, Any]) -> None:
    """Drives one run, or all that are due, in this process: listing the fault points it meets, or dying at one."""
    met: list[str] = []

    def hook(name: str) -> None:
        met.append(name)
        if name == job.get("point") and met.count(name) == job["occurrence"]:
            os.kill(os.getpid(), signal.SIGKILL)

    # Where tools of plug-ins write.
    os.chdir(job.get("folder", "."))
    with closing(opened(job)) as steward:
        install(hook)
        if "call" in job:
            asyncio.run(_call(steward, job["call"]))
        elif "run" in job:
            asyncio.run(_drive_one(steward, job["run"]))
        else:
            steward.runs.drive_until_idle(holder=f"process {os.getpid()}")
    if "listing" in job:
        Path(job["listing"]).write_text(json.dumps(met))


async def _drive_one(steward: Steward, run_id: str) -> None:
    holder = f"process {os.getpid()}"
    with steward.database.write(EVERYWHERE) as tx:
        [run], _ = steward.runs.records.claim_called(tx, holder, QUEUES, [run_id], LEASE)
    await Drive(steward.runs.parts, run, steward.runs.programs[run.program]).go()


async def _call(steward: Steward, call: dict[str, Any]) -> None:
    """What a person does by hand, in this process."""
    user = steward.identity.users.get(call["user"])
    principal = Principal(user.id, user.email, user.name, Via.session)
    access = steward.identity.projects.enter(principal, call["project"])
    await steward.governing.direct_calls.run(access, DirectCall(call["tool"], call["arguments"]))


def serve(job: dict[str, Any]) -> None:
    """A worker that serves until it is killed."""
    with Path(job["log"]).open("w") as log, closing(opened(job)) as steward:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        log.write(f"{SERVING}\n")
        log.flush()
        steward.governing.broker._people._window = SHORT_WINDOW
        if "starts" in job:
            start_until_killed(steward, job)
        steward.runs.programs["gated"] = gated(Path(job["home"]), job.get("name", ""))
        worker = steward.runs.worker(lease=timedelta(seconds=job["lease"]), concurrency=8)
        if job.get("deaf"):
            Worker._keep_leases = _never  # type: ignore[method-assign]
        asyncio.run(worker.serve())


def cluster_flow() -> dict[str, Any]:
    """Two messages, each approved by a person, and an output that is too large for the journal."""

    def send(name: str, **more: Any) -> dict[str, Any]:
        arguments = {"endpoint": "world", "type": f"crash.{name}", "data": {"n": "${inputs.n}"}}
        return {"id": name, "type": "tool", "tool": "send_webhook", "arguments": arguments, **more}

    told = {"first": "${nodes.first.output.status}", "second": "${nodes.second.output.status}"}
    told |= {"pad": "${inputs.pad}"}
    names = {"n": {"type": "integer"}, "pad": {"type": "string"}}
    return {
        "format": 1,
        "id": "two_messages",
        "inputs": {"type": "object", "properties": names, "required": [*names]},
        "nodes": [
            send("first"),
            send("second", needs=["first"]),
            {"id": "told", "type": "output", "value": told, "needs": ["first", "second"]},
        ],
    }


def start_until_killed(steward: Steward, job: dict[str, Any]) -> None:
    """Starts runs as a server does; what was acknowledged stands in a file."""
    user = steward.identity.users.get(job["user"])
    principal = Principal(user.id, user.email, user.name, Via.session)
    access = steward.identity.projects.enter(principal, job["project"])
    numbers = count(time.time_ns())
    with Path(job["starts"]).open("ab", buffering=0) as acknowledged:
        while True:
            number = next(numbers)
            inputs = {"n": number, "pad": f"{number} ".ljust(20_000, "x")}
            with suppress(Unavailable):
                run = steward.governing.launcher.start(access, Start(cluster_flow(), inputs))
                acknowledged.write(f"{run.id}\n".encode())
            time.sleep(0.5)


async def _never(self: Worker) -> None:
    await asyncio.Event().wait()


def gated(folder: Path, name: str) -> Program:
    """A program that goes as far as its worker's own gate, and on when that is open."""

    async def program(execution: Execution) -> Any:
        async def first() -> Any:
            return 1

        async def pass_gate() -> Any:
            (folder / f"reached-{name}").touch()
            # A file is all that two processes share here.
            while not (folder / f"gate-{name}").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            return {"by": name}

        await execution.step("first", {}, first)
        passed = await execution.step("gate", {}, pass_gate)
        return {"passed": passed, "last": await execution.step("last", {}, first)}

    return program


def _forked(work: Any, job: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(job)
            code = 0
        finally:
            os._exit(code)
    return child


def main() -> None:
    load_everything()
    answers = os.dup(sys.stdout.fileno())
    for line in sys.stdin:
        job = json.loads(line)
        for name in job.get("modules", ()):
            import_module(name)
        stay_loaded()
        match job["do"]:
            case "drive":
                _, status = os.waitpid(_forked(drive, job), 0)
                answer = os.waitstatus_to_exitcode(status)
            case "serve":
                answer = _forked(serve, job)
            case _:
                _, status = os.waitpid(job["pid"], 0)
                answer = os.waitstatus_to_exitcode(status)
        os.write(answers, f"{answer}\n".encode())


if __name__ == "__main__":
    main()
