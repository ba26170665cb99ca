"""Two workers on PostgreSQL load uploaded files, and either may be killed at any time: each file is loaded once."""

import asyncio
import random
import threading
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL

import pytest

from steward.flows.direct_calls import DirectCall
from steward.runs import Status
from tests.cli.terminal import until
from tests.crash.nursery import Nursery
from tests.crash.test_run_crash import Site, lively, postgres_url

__all__ = ["postgres_url"]

ROWS = 60_000
CSV = b"id,name,amount\n" + b"".join(b"%d,Customer %d,%d.25\n" % (n, n, n) for n in range(ROWS))
LEASE = 1.0


def begun(made: Site, number: int) -> str:
    """A file that arrives in two parts, and the run that loads it."""
    bringing, scope = made.steward.workbench.bringing, made.access.scope
    upload = bringing.start(scope, f"file{number}.csv", len(CSV))
    half = len(CSV) // 2
    bringing.append(scope, upload.id, 0, [CSV[:half]])
    bringing.append(scope, upload.id, half, [CSV[half:]])
    arguments = {"dataset": f"file{number}", "upload": upload.id}
    calls = made.steward.governing.direct_calls
    return calls.start(made.access, DirectCall("ingest", arguments, seen=True)).id


@pytest.mark.timeout(600)
def test_either_of_two_workers_dies_during_loads(
    nursery: Nursery,
    postgres_url: str,
    tmp_path: Path,
    effort: Callable[[int, int], int],
) -> None:
    with lively(nursery, postgres_url, tmp_path) as made:
        runs, scope = made.steward.runs, made.access.scope
        loads = {f"file{number}": begun(made, number) for number in range(effort(3, 12))}

        def serve(number: int) -> int:
            # No load is to blame for these deaths, however often it is hit.
            return made.children.serve(tmp_path / f"{number}.log", LEASE, most_lost=1000)

        workers, pause = [serve(0), serve(1)], threading.Event()
        for turn in range(effort(3, 40)):
            pause.wait(random.uniform(0.3, 2))
            made.children.send(workers.pop(turn % 2), SIGKILL)
            workers.append(serve(turn + 2))
        until(
            lambda: all(runs.get(scope, each).status.is_final for each in loads.values()),
            seconds=300,
            what="the end of all loads",
        )
        place = made.steward.workbench.datasets.workspace(scope, made.access.user_id)
        for name, run_id in loads.items():
            assert runs.get(scope, run_id).status is Status.done, runs.outcome(scope, run_id)
            value = runs.outcome(scope, run_id)["output"]["value"]
            assert (value["rows"], value["rejected"]) == (ROWS, 0)
            (commit,) = place.history(name)
            assert commit.id == value["commit"]
            assert place.dataset(name).rows == ROWS
            assert runs.verify(scope, run_id).is_intact
            assert asyncio.run(runs.replay(scope, run_id)).is_same
        assert sum(each.operation == "ingest" for each in place.log("main")) == len(loads)
