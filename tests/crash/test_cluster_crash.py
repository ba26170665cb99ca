"""Faults of a whole cluster at random under load: nothing acknowledged is lost, nothing happens twice.

Workers, a process that starts runs as servers do, PostgreSQL, NATS and the double of S3 are killed, stopped for a while
and cut off, and the clocks of the processes differ. `--seed` repeats a series of faults; it is printed at the beginning.
"""

import asyncio
import os
import random
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from steward.broker.approvals import State
from steward.core.errors import NotFound, Unavailable
from steward.runs import QUEUES
from steward.testing import NatsServer, PostgresServer
from tests.cli.terminal import until
from tests.crash.nursery import Nursery
from tests.crash.proxy import Proxy
from tests.crash.run_child import SERVING
from tests.crash.test_run_crash import Site, lively

LEASE = 2.0
TAKEN_UP_SECONDS = 30.0
SKEW_SECONDS = 1.5
KEY = "key-0123456789"


@dataclass
class Cluster:
    """Processes of one installation, each behind proxies of its own."""

    site: Site
    postgres: PostgresServer
    nats: NatsServer
    random: random.Random
    folder: Path
    proxies: dict[str, Proxy] = field(default_factory=dict)
    workers: list[int] = field(default_factory=list)
    starter: int = 0
    started: int = 0
    logs: list[Path] = field(default_factory=list)

    def _place(self) -> dict[str, Any]:
        address = make_url(self.site.steward.database.url).set(
            drivername="postgresql", host="127.0.0.1", port=self.proxies["database"].port, query={}
        )
        found = {
            "url": address.render_as_string(hide_password=False),
            "nats": f"nats://127.0.0.1:{self.proxies['nats'].port}",
            "s3": f"http://127.0.0.1:{self.proxies['s3'].port}",
        }
        return {**found, "skew": self.random.uniform(-SKEW_SECONDS, SKEW_SECONDS)}

    def add_worker(self) -> None:
        log = self._log("worker")
        # What is set aside in spite of faults that no run is to blame for counts as lost.
        self.workers.append(self.site.children.serve(log, LEASE, **self._place()))

    def add_starter(self) -> None:
        log = self._log("starter")
        access = self.site.access
        asked = {"user": access.user_id, "project": access.scope.project_id}
        self.starter = self.site.children.serve(
            log, LEASE, starts=str(self.acknowledged), **asked, **self._place()
        )

    @property
    def acknowledged(self) -> Path:
        return self.folder / "acknowledged"

    def run_ids(self) -> list[str]:
        text = self.acknowledged.read_text() if self.acknowledged.exists() else ""
        # The last line may be half of one.
        return text.split("\n")[:-1]

    def _log(self, name: str) -> Path:
        self.started += 1
        self.logs.append(self.folder / f"{name}-{self.started}.log")
        return self.logs[-1]

    def faults(self) -> list[Callable[[], None]]:
        return [
            self._kill_worker,
            self._stop_worker,
            self._kill_starter,
            self._kill_nats,
            self._stop_nats,
            self._crash_postgres,
            *(partial(self._cut, name) for name in self.proxies),
            *(partial(self._stall, name) for name in self.proxies),
        ]

    def _kill_worker(self) -> None:
        pid = self.workers.pop(self.random.randrange(len(self.workers)))
        self.site.children.send(pid, SIGKILL)
        self.add_worker()

    def _kill_starter(self) -> None:
        self.site.children.send(self.starter, SIGKILL)
        self.add_starter()

    def _stop_worker(self) -> None:
        pid = self.random.choice(self.workers)
        self.site.children.send(pid, SIGSTOP)
        self._work(self.random.uniform(0.2, 2 * LEASE))
        self.site.children.send(pid, SIGCONT)

    def _kill_nats(self) -> None:
        self.nats.kill()
        self._work(self.random.uniform(0.1, 1.0))
        self.nats.start()

    def _stop_nats(self) -> None:
        assert self.nats.pid is not None
        os.kill(self.nats.pid, SIGSTOP)
        self._work(self.random.uniform(0.2, LEASE))
        os.kill(self.nats.pid, SIGCONT)

    def _crash_postgres(self) -> None:
        self.postgres.crash()

    def _cut(self, name: str) -> None:
        self.proxies[name].cut()
        self._work(self.random.uniform(0.2, 2 * LEASE))
        self.proxies[name].mend()

    def _stall(self, name: str) -> None:
        self.proxies[name].stall()
        self._work(self.random.uniform(0.2, 2 * LEASE))
        self.proxies[name].mend()

    def _work(self, seconds: float) -> None:
        """People go on approving meanwhile, where they can."""
        deadline = time.monotonic() + seconds
        pause = threading.Event()
        while time.monotonic() < deadline:
            self.approve()
            pause.wait(0.05)

    def approve(self) -> None:
        try:
            self.site.approve_all()
        except (Unavailable, NotFound):
            return

    def is_over(self) -> bool:
        self.approve()
        try:
            scope, runs = self.site.access.scope, self.site.steward.runs
            return all(runs.get(scope, each).status.is_final for each in self.run_ids())
        except Unavailable:
            return False

    def is_taken_up(self) -> bool:
        """Whether nothing is due that nobody drives."""
        try:
            figures, _ = self.site.steward.runs.records.queue_figures(QUEUES)
        except Unavailable:
            return False
        return all(each.longest_wait.total_seconds() < 2 * LEASE for each in figures.values())

    def check(self) -> None:
        scope, runs = self.site.access.scope, self.site.steward.runs
        run_ids = self.run_ids()
        assert run_ids, "some runs were acknowledged"
        expected: Counter[tuple[str, int]] = Counter()
        for run_id in run_ids:
            outcome = runs.outcome(scope, run_id)
            number = runs.request(scope, run_id).inputs["n"]
            assert outcome is not None, run_id
            assert "output" in outcome, (run_id, outcome)
            assert (outcome["output"]["first"], outcome["output"]["second"]) == (204, 204)
            assert len(outcome["output"]["pad"]) > 16_000, "it lies in S3"
            assert runs.verify(scope, run_id).is_intact
            assert asyncio.run(runs.replay(scope, run_id)).is_same
            asked = self.site.steward.governing.approvals.listed(self.site.access, run_id=run_id)
            assert [each.status for each in asked] == [State.used, State.used]
            expected.update((f"crash.{name}", number) for name in ("first", "second"))
        heard = Counter(self.site.receiver.messages.values())
        assert max(heard.values()) == 1, "nothing happened twice"
        assert expected <= heard, "nothing acknowledged was lost"


@contextmanager
def s3_double() -> Iterator[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    try:
        yield server.get_host_and_port()[1]
    finally:
        server.stop()


@contextmanager
def cluster(
    nursery: Nursery, postgres: PostgresServer, url: str, folder: Path, seed: int
) -> Iterator[Cluster]:
    with ExitStack() as stack:
        port = stack.enter_context(s3_double())
        nats = stack.enter_context(NatsServer(folder / "nats"))
        blobs = {
            "url": "s3://crash/steward",
            "endpoint": f"http://127.0.0.1:{port}",
            "access_key_id": KEY,
            "secret_access_key": KEY,
            "create_bucket": True,
        }
        site = stack.enter_context(lively(nursery, url, folder, nats.url, blobs=blobs))
        address = make_url(url)
        host = str(address.query.get("host") or address.host)
        made = Cluster(site, postgres, nats, random.Random(seed), folder)
        if host.startswith("/"):
            behind = partial(
                asyncio.open_unix_connection, f"{host}/.s.PGSQL.{address.port or 5432}"
            )
        else:
            behind = partial(asyncio.open_connection, host, address.port)
        for name, opened in {
            "database": behind,
            "nats": partial(asyncio.open_connection, "127.0.0.1", nats.port),
            "s3": partial(asyncio.open_connection, "127.0.0.1", port),
        }.items():
            made.proxies[name] = Proxy(opened)
            stack.callback(made.proxies[name].close)
        made.add_worker()
        made.add_worker()
        made.add_starter()
        until(lambda: all(_serves(log) for log in made.logs), seconds=120, what="the processes")
        try:
            yield made
        finally:
            # Killed before the proxies close, and what is stopped wakes to be killed.
            site.children.close()
            site.children.forget()


def _serves(log: Path) -> bool:
    return log.exists() and log.read_text().startswith(SERVING)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_crash_of_any_part_of_a_cluster(
    nursery: Nursery,
    postgres: PostgresServer,
    postgres_template: str,
    tmp_path: Path,
    effort: Callable[[int, int], int],
    request: pytest.FixtureRequest,
) -> None:
    if not postgres.can_crash:
        pytest.skip("the PostgreSQL server is not ours to crash")
    seed = int(request.config.getoption("--seed") or random.SystemRandom().randrange(10**9))
    say = request.config.get_terminal_writer().line
    say(f"\nseed {seed}: repeat it with --seed={seed}")
    with (
        postgres.database(postgres_template) as url,
        cluster(nursery, postgres, url, tmp_path, seed) as made,
    ):
        rounds = effort(5, 200)
        longest = 0.0
        for _ in range(rounds):
            fault = made.random.choice(made.faults())
            say(f"  {getattr(fault, 'func', fault).__name__} {getattr(fault, 'args', '')}")
            fault()
            made._work(made.random.uniform(0.2, 1.0))
            began = time.monotonic()
            until(made.is_taken_up, seconds=TAKEN_UP_SECONDS, what="every run to be taken up")
            longest = max(longest, time.monotonic() - began)
        made.site.children.send(made.starter, SIGKILL)
        until(made.is_over, seconds=300, what="the end")
        made.check()
        say(f"{len(made.run_ids())} runs, taken up within {longest:.1f} s")
