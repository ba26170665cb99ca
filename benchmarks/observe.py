"""What watching costs: pages over a million spans, and a step with observing over one without.

The spans are facts and sums of runs as the projector writes them: of 40 flows, each with 3 of 12 agents, 2 of 6 models, 6
of 30 tools (ten of them of connections) and 5 of 20 people. Their journals are left out, because no page reads those. Half of the runs ended within
the last 24 hours, the others in the 30 days before.

    .venv/bin/python benchmarks/observe.py                        a million spans on SQLite, some minutes
    .venv/bin/python benchmarks/observe.py --postgres             and ten million on PostgreSQL, ten minutes more
    .venv/bin/python benchmarks/observe.py --postgres-only        PostgreSQL alone
    .venv/bin/python benchmarks/observe.py --quick                small sizes, for a smoke test

It stops by itself after 45 minutes, or as many as `--minutes` says. The last line is JSON. `overview_ms_1m` and `explore_ms_1m`: the median of nine reads of the overview of 24 hours and of
the costs of one day by flow. `overview_month_ms_1m`, `explore_month_ms_1m`: the same of 31 days. `overhead_per_step`: CPU
seconds per step of flows of ten tool calls that are watched, counted and shown on the overview after every 20 of them, over
those of the same flows without any of it. `agent_ms_1m`: the page of an agent, of 31 days.
`_10m_postgres` are the pages over ten million spans: 250,000 are written as
above, and the database copies them 39 times, each time to other hours of the same 24 hours or 30 days.
"""

import argparse
import json
import random
import resource
import shutil
import signal
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
from steward.observe._tables import facts, projected
from steward.observe.ended_hours import add_ended
from steward.observe.facts import Fact, added_up, hour_of, hourly_facts, minute_of
from steward.observe.projector import fact_rows
from steward.observe.rollups import ABOUT, SUMS
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


def multiplied(steward: Steward, copies: int) -> None:
    """Each run so many times, ended at other times; sums by the hour and the day are made again from the facts.

    Nothing reads minutes that are long past, so that those of the first runs are enough.
    """
    last = hour_of(steward.clock.now())
    given = {"copies": copies - 1, "day": last - 23, "month": last - 24 * 31}
    with steward.database.raw_writer() as connection:
        for statement in (*_copies(connection), *_added_up()):
            begun = time.perf_counter()
            used = {name: value for name, value in given.items() if f":{name}" in statement}
            connection.execute(sa.text(statement), used)
            connection.commit()
            say(f"{statement[:40]}: {time.perf_counter() - begun:.0f} s")
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(
            sa.text("VACUUM ANALYZE")
        )


def _copies(connection: sa.Connection) -> Iterator[str]:
    """Without keys while the rows come, which takes a fraction of the time."""
    yield "SET session_replication_role = replica"
    yield "SET work_mem = '256MB'"
    yield "SET maintenance_work_mem = '1GB'"
    # Copies are all alike: without this, each of ten million rows looks for what it is about.
    yield "SET enable_nestloop = off"
    # The same number of hours later, and from the beginning again where that is ahead of now.
    moved = (
        "(CASE WHEN {hour} >= :day THEN :day + ({hour} - :day + 7 * n) % 24 "
        "ELSE :month + ({hour} - :month + 17 * n) % 720 END)"
    )
    new_id = "substr({id}, 1, 20) || lpad(CAST(n AS text), 3, '0') || substr({id}, 24)"
    hour = moved.format(hour="(ended_at / 3600000000)")
    ended = f"{hour} * 3600000000 + ended_at % 3600000000"
    changed = {name: new_id.format(id=name) for name in ("id", "root_id")}
    changed |= dict.fromkeys(("created_at", "started_at", "ended_at"), ended)
    yield _copied(run_tables.runs, changed)
    found = sa.inspect(connection)
    key, indexes = found.get_pk_constraint(facts.name), found.get_indexes(facts.name)
    yield f"ALTER TABLE {facts.name} DROP CONSTRAINT {key['name']}"
    yield from (f"DROP INDEX {each['name']}" for each in indexes)
    yield _copied(facts, {"hour": moved.format(hour="hour"), "run_id": new_id.format(id="run_id")})
    columns = ", ".join(key["constrained_columns"])
    yield f"ALTER TABLE {facts.name} ADD CONSTRAINT {key['name']} PRIMARY KEY ({columns})"
    for each in indexes:
        columns = ", ".join(str(name) for name in each["column_names"])
        yield f"CREATE INDEX {each['name']} ON {facts.name} ({columns})"


def _copied(table: sa.Table, changed: dict[str, str]) -> str:
    columns = [each.name for each in table.c]
    values = ", ".join(changed.get(name, name) for name in columns)
    names = ", ".join(columns)
    copies = "generate_series(1, :copies) n"
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {table.name}, {copies}"


def _added_up() -> Iterator[str]:
    names = ", ".join(SUMS)
    sums = ", ".join(f"sum({name})" for name in SUMS)
    joined = " AND ".join(f"f.{name} = a.{name}" for name in ABOUT)
    failed = "max(CASE WHEN f.kind = 'run' AND f.errors > 0 THEN run_id ELSE '' END)"
    yield f"ANALYZE {facts.name}"
    yield "ANALYZE observed_abouts"
    yield "DELETE FROM observed_rollups WHERE grain > 1"
    for grain, at in ((60, "hour"), (1_440, "hour / 24")):
        yield (
            f"INSERT INTO observed_rollups (org_id, project_id, grain, at, about, {names}, last_failed) "
            f"SELECT f.org_id, f.project_id, {grain}, {at}, a.about, {sums}, {failed} "
            f"FROM observed_facts f JOIN observed_abouts a ON {joined} GROUP BY 1, 2, 4, 5"
        )
    yield "DELETE FROM observed_ended_hours"
    yield (
        "INSERT INTO observed_ended_hours SELECT f.org_id, f.project_id, r.ended_at / 3600000000, f.flow, "
        "sum(CASE WHEN f.kind = 'run' THEN f.times ELSE 0 END), "
        "sum(CASE WHEN f.kind = 'run' THEN f.errors ELSE 0 END), "
        "sum(CASE WHEN f.kind = 'run' THEN f.milliseconds ELSE 0 END), "
        "sum(f.nano_usd), sum(f.input_tokens + f.output_tokens) "
        "FROM observed_facts f JOIN runs r ON r.id = f.run_id GROUP BY 1, 2, 3, 4"
    )
    # Copies of runs of this hour may end a little later than now.
    yield "UPDATE observed_projects SET until = (SELECT max(ended_at) + 300000000 FROM runs)"
    yield "DELETE FROM observed_people"
    yield (
        f"INSERT INTO observed_people (org_id, project_id, at, person, flow, {names}) "
        f"SELECT org_id, project_id, hour / 24, person, flow, {sums} FROM observed_facts "
        "WHERE kind IN ('model', 'tool') GROUP BY 1, 2, 3, 4, 5"
    )


def filled(steward: Steward, scope: Scope, total: int) -> None:
    chance, now = random.Random(1), steward.clock.now()
    sums = steward.observations.projector.sums
    for at in range(0, total // SPANS_IN_A_RUN, CHUNK):
        runs, hourly, by_minute, ended_runs = [], [], [], []
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
            rows = fact_rows(hourly_facts(found), about, "hour")
            hourly += rows
            ended_runs.append((hour_of(ended), rows))
        with steward.database.write(scope) as tx:
            tx.execute(sa.insert(run_tables.runs), runs)
            tx.execute(sa.insert(facts), hourly)
            sums.add(tx, by_minute)
            add_ended(tx, ended_runs)
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


def milliseconds(read: Callable[[], object]) -> tuple[float, float]:
    """How long a read takes, and what of that is CPU time of this process."""
    read()
    took, used = [], []
    for _ in range(9):
        started, before = time.perf_counter(), _cpu()
        read()
        used.append((_cpu() - before) * 1000)
        took.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(took), 1), round(statistics.median(used), 1)


def pages(steward: Steward, scope: Scope, suffix: str, figures: dict[str, float]) -> None:
    seen, now = steward.observations, steward.clock.now()
    found: dict[str, tuple[float, float]] = {}
    for name, hours in (("overview_ms", 24), ("overview_month_ms", 24 * 31)):
        found[f"{name}_{suffix}"] = milliseconds(partial(seen.overview.figures, scope, now, hours))
    for name, days in (("explore_ms", 1), ("explore_month_ms", 31)):
        found[f"{name}_{suffix}"] = milliseconds(
            partial(seen.costs.report, scope, now, days, "flow")
        )
    found[f"agent_ms_{suffix}"] = milliseconds(
        partial(seen.agents.figures, scope, now, 31, AGENTS[0])
    )
    for name, (took, used) in found.items():
        say(f"{name}: {took} ms, {used} ms of it CPU time of this process")
        figures |= {name: took, name.replace("_ms_", "_cpu_ms_"): used}


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
    parser.add_argument("--postgres-only", action="store_true")
    parser.add_argument("--minutes", type=int, default=45, help="it stops by itself after so long")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.alarm(arguments.minutes * 60)
    try:
        measure(arguments, figures)
    except OutOfTime:
        say(f"Stopped after {arguments.minutes} minutes. The last line has what was measured.")
        print(json.dumps(figures))
        raise SystemExit(1) from None
    print(json.dumps(figures))


class OutOfTime(Exception):
    pass


def _out_of_time(*_: object) -> None:
    raise OutOfTime


def measure(arguments: argparse.Namespace, figures: dict[str, float]) -> None:
    if not arguments.postgres_only:
        figures["overhead_per_step"] = overhead(3 if arguments.quick else 25)
        say(f"overhead_per_step: {figures['overhead_per_step']}")
        with opened() as (steward, access):
            filled(steward, access.scope, 20_000 if arguments.quick else 1_000_000)
            pages(steward, access.scope, "1m", figures)
    if arguments.postgres or arguments.postgres_only:
        with (
            tempfile.TemporaryDirectory(prefix="steward-observe-pg-") as folder,
            PostgresServer.from_package(Path(folder)) as server,
            server.database(None) as url,
            opened(url) as (steward, access),
        ):
            filled(steward, access.scope, 5_000 if arguments.quick else 250_000)
            multiplied(steward, 4 if arguments.quick else 40)
            pages(steward, access.scope, "10m_postgres", figures)


if __name__ == "__main__":
    main()
