"""What watching costs: pages over a million spans, and a step with observing over one without.

The spans are facts and sums of runs as the projector writes them: of 40 flows, each with 3 of 12 agents, 2 of 6 models, 6
of 30 tools (ten of them of connections) and 5 of 20 people. Their journals are left out, because no page reads those. Half of the runs ended within
the last 24 hours, the others in the 30 days before.

    .venv/bin/python benchmarks/observe.py                        a million spans on SQLite, some minutes
    .venv/bin/python benchmarks/observe.py --postgres             and ten million on PostgreSQL, much longer
    .venv/bin/python benchmarks/observe.py --quick                small sizes, for a smoke test

The last line is JSON. `overview_ms_1m` and `explore_ms_1m`: the median of nine reads of the overview of 24 hours and of
the costs of one day by flow. `overview_month_ms_1m`, `explore_month_ms_1m`: the same of 31 days. `overhead_per_step`: CPU
seconds per step of flows of ten tool calls that are watched, counted and shown on the overview after every 20 of them, over
those of the same flows without any of it. `_10m_postgres` are the pages over ten million spans.
"""

import argparse
import json
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from steward.app import Steward, open_steward
from steward.core.settings import DatabaseSettings, Settings
from steward.flows.launch import Start
from steward.identity import Access, Principal, Via
from steward.observe import Fact
from steward.observe._tables import facts, projected
from steward.observe.facts import added_up, hourly_facts, minute_of
from steward.observe.projector import fact_rows
from steward.runs import _tables as run_tables
from steward.store import Scope
from steward.testing.servers import PostgresServer

SPANS_IN_A_RUN = 10
CHUNK = 1_000
BATCH = 20
TOOLS = [f"tool_{n}" for n in range(20)] + [f"api.service{n % 5}.call_{n}" for n in range(10)]
MODELS = [f"model-{n}" for n in range(6)]
AGENTS = [f"agent-{n}" for n in range(12)]
FLOWS = [f"playbook:pbk_{n:02}" for n in range(40)]
PEOPLE = [f"usr_{n:02}" for n in range(20)]
CODES = ["", "", "", "", "", "", "", "", "", "http-503", "timeout"]


def say(text: str) -> None:
    print(text, flush=True)


@contextmanager
def opened(url: str | None = None) -> Iterator[tuple[Steward, Access]]:
    home = Path(tempfile.mkdtemp(prefix="steward-observe-"))
    database = DatabaseSettings() if url is None else DatabaseSettings(url=url)
    try:
        with closing(open_steward(Settings(home=home, demo=False, database=database))) as steward:
            user = steward.identity.users.create("b@example.com", "Bench", "long enough for this")
            organisation = steward.identity.projects.create_organisation("Bench", user.id)
            project = steward.identity.projects.create(organisation.id, "Bench", user.id)
            principal = Principal(user.id, user.email, user.name, Via.session)
            yield steward, steward.identity.projects.enter(principal, project)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def some(names: list[str], flow: int, count: int) -> list[str]:
    """Those of the names that a flow uses."""
    return random.Random(flow).sample(names, count)


def spans(chance: random.Random, flow: int, ended: datetime) -> list[Fact]:
    """Of one run: two agents with their requests and calls, and how it ended."""
    minute = minute_of(ended)
    agents = chance.sample(some(AGENTS, flow, 3), 2)
    found = [Fact(minute, "agent", agent, times=1) for agent in agents]
    for n in range(SPANS_IN_A_RUN - 3):
        code = chance.choice(CODES)
        took = chance.randrange(5_000)
        name = chance.choice(some(TOOLS, flow, 6) if n % 2 else some(MODELS, flow, 2))
        fact = Fact(
            minute,
            "tool" if n % 2 else "model",
            name,
            found[n % 2].name,
            code,
            times=1,
            errors=int(code != ""),
            milliseconds=took,
        )
        asked = replace(fact, input_tokens=900, output_tokens=90, nano_usd=took * 1_000)
        found.append(fact if n % 2 else asked)
    failed = chance.random() < 0.1
    status, code = ("failed", "http-503") if failed else ("done", "")
    took = chance.randrange(60_000)
    found.append(
        Fact(minute, "run", status, "", code, times=1, errors=int(failed), milliseconds=took)
    )
    return added_up(found)


def filled(steward: Steward, scope: Scope, total: int) -> None:
    chance, now = random.Random(1), steward.clock.now()
    sums = steward.observations.projector.sums
    for at in range(0, total // SPANS_IN_A_RUN, CHUNK):
        runs, hourly, by_minute = [], [], []
        for number in range(at, min(at + CHUNK, total // SPANS_IN_A_RUN)):
            back = chance.random() * (1 if number % 2 else 30) + (0 if number % 2 else 1)
            ended, flow = now - timedelta(days=back), chance.randrange(len(FLOWS))
            run_id = f"run_{number:026}"
            runs.append(_run(run_id, FLOWS[flow], ended))
            about = {
                "run_id": run_id,
                "flow": FLOWS[flow],
                "revision": 1 + int(back < 7),
                "person": chance.choice(some(PEOPLE, flow, 5)),
                "is_root": True,
            }
            found = spans(chance, flow, ended)
            by_minute += fact_rows(found, about, "minute")
            hourly += fact_rows(hourly_facts(found), about, "hour")
        with steward.database.write(scope) as tx:
            tx.execute(sa.insert(run_tables.runs), runs)
            tx.execute(sa.insert(facts), hourly)
            sums.add(tx, by_minute)
    with steward.database.write(scope) as tx:
        tx.execute(sa.insert(projected).values(until=now))
    with steward.database.raw_writer() as connection:
        connection.execute(sa.text("ANALYZE"))
        connection.commit()


def _run(run_id: str, flow: str, ended: datetime) -> dict[str, Any]:
    return {
        "id": run_id,
        "title": "Bench",
        "program": "flow",
        "subject": flow,
        "status": "done",
        "queue": "default",
        "priority": 0,
        "created_by": "usr_00",
        "created_at": ended,
        "started_at": ended,
        "ended_at": ended,
        "root_id": run_id,
        "epoch": 1,
        "head_seq": 1,
        "head_hash": "",
        "lost": 0,
    }


def milliseconds(read: Callable[[], object]) -> float:
    read()
    took = []
    for _ in range(9):
        started = time.perf_counter()
        read()
        took.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(took), 1)


def pages(steward: Steward, scope: Scope, suffix: str) -> dict[str, float]:
    seen, now = steward.observations, steward.clock.now()
    found = {}
    for name, hours in (("overview_ms", 24), ("overview_month_ms", 24 * 31)):
        found[f"{name}_{suffix}"] = milliseconds(partial(seen.overview.figures, scope, now, hours))
    for name, days in (("explore_ms", 1), ("explore_month_ms", 31)):
        found[f"{name}_{suffix}"] = milliseconds(
            partial(seen.costs.report, scope, now, days, "flow")
        )
    for name, value in found.items():
        say(f"{name}: {value} ms")
    return found


FLOW = {
    "format": 1,
    "id": "ten",
    "nodes": [
        {"id": f"look_{n}", "type": "tool", "tool": "list_datasets", "arguments": {}}
        | ({"needs": [f"look_{n - 1}"]} if n else {})
        for n in range(SPANS_IN_A_RUN)
    ],
}


def overhead(batches: int) -> float:
    """CPU seconds per step with observing over those without, batch by batch in turns."""
    spent: dict[bool, list[float]] = {True: [], False: []}
    with opened() as (steward, access):
        hooks = list(steward.runs.parts.on_end)
        for number in range(batches * 2):
            watched = bool(number % 2)
            steward.runs.parts.on_end[:] = hooks if watched else []
            before = _cpu()
            for _ in range(BATCH):
                steward.governing.launcher.start(access, Start(FLOW))
            steward.runs.drive_until_idle()
            if watched:
                steward.observations.overview.figures(access.scope, steward.clock.now(), 24)
            spent[watched].append(_cpu() - before)
            if not watched:
                # Counted apart: the next look has only its own runs to count.
                steward.observations.projector.catch_up(access.scope)
    return round(statistics.median(spent[True]) / statistics.median(spent[False]), 3)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--postgres", action="store_true")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"overhead_per_step": overhead(3 if arguments.quick else 25)}
    say(f"overhead_per_step: {figures['overhead_per_step']}")
    with opened() as (steward, access):
        filled(steward, access.scope, 20_000 if arguments.quick else 1_000_000)
        figures |= pages(steward, access.scope, "1m")
    if arguments.postgres:
        folder = Path(tempfile.mkdtemp(prefix="steward-observe-pg-"))
        with (
            PostgresServer.from_package(folder) as server,
            server.database(None) as url,
            opened(url) as (steward, access),
        ):
            filled(steward, access.scope, 20_000 if arguments.quick else 10_000_000)
            figures |= pages(steward, access.scope, "10m_postgres")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
