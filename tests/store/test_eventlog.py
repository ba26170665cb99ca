"""The event log: in order, scoped, and complete for a reader that follows while others write."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from steward.app import Steward, open_steward
from steward.core.errors import Bug
from steward.store import EVERYWHERE, Bus, PostgresBus, Scope
from steward.store.eventlog import topic
from steward.testing import Installation, fast_passwords

pytestmark = pytest.mark.every_database

SCOPE, OTHER = Scope("org_1", "prj_1"), Scope("org_1", "prj_2")


def _append(steward: Steward, scope: Scope, subject: str) -> None:
    with steward.database.write(scope) as tx:
        steward.events.append(tx, "thing.happened", subject, {"n": subject})


def _subjects(steward: Steward, scope: Scope, after: int = 0) -> list[str]:
    return [event.subject for event in steward.events.after(scope, after)]


def test_events_come_in_order_with_a_cursor(installation: Installation) -> None:
    steward = installation.steward
    assert steward.events.latest(SCOPE) == 0
    for subject in ("a", "b", "c"):
        _append(steward, SCOPE, subject)
    events = steward.events.after(SCOPE, 0)
    assert [event.subject for event in events] == ["a", "b", "c"]
    cursors = [event.cursor or 0 for event in events]
    assert cursors == sorted(set(cursors))
    assert steward.events.latest(SCOPE) == cursors[-1]
    assert _subjects(steward, SCOPE, cursors[0]) == ["b", "c"]
    assert [e.subject for e in steward.events.after(SCOPE, 0, limit=2)] == ["a", "b"]
    assert [e.subject for e in steward.events.before(SCOPE, None, 2)] == ["c", "b"]
    assert [e.subject for e in steward.events.before(SCOPE, cursors[1], 2)] == ["a"]
    first = events[0]
    assert (first.type, first.source) == ("org.steward.thing.happened", "/projects/prj_1")
    assert first.time == installation.clock.now()
    assert first.data == {"n": "a"}


def test_a_project_reads_its_own_events(installation: Installation) -> None:
    steward = installation.steward
    for scope, subject in ((SCOPE, "mine"), (OTHER, "theirs"), (SCOPE, "mine too")):
        _append(steward, scope, subject)
    assert _subjects(steward, SCOPE) == ["mine", "mine too"]
    assert _subjects(steward, OTHER) == ["theirs"]


def test_an_event_shares_the_fate_of_its_change(installation: Installation) -> None:
    steward = installation.steward

    def fail() -> None:
        with steward.database.write(SCOPE) as tx:
            steward.events.append(tx, "thing.happened", "undone")
            _ = 1 // 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert _subjects(steward, SCOPE) == []
    with pytest.raises(Bug), steward.database.write(EVERYWHERE) as tx:
        steward.events.append(tx, "thing.happened", "of no project")


class _Reader:
    """Follows a project's events as a stream does: waits for the bell, reads on from its cursor."""

    def __init__(self, steward: Steward, scope: Scope) -> None:
        self._steward = steward
        self._scope = scope
        self._rung = threading.Event()
        self.seen: list[str] = []

    def follow(self, count: int) -> list[str]:
        cursor = 0
        with self._steward.bus.listening(topic(self._scope), self._rung.set):
            while len(self.seen) < count:
                self._rung.clear()
                events = self._steward.events.after(self._scope, cursor, limit=7)
                for event in events:
                    cursor = event.cursor or cursor
                    self.seen.append(event.subject)
                if not events and not self._rung.wait(20):
                    break
        return self.seen


@pytest.mark.soak
def test_a_reader_that_follows_misses_nothing(
    installation: Installation, effort: Callable[[int, int], int]
) -> None:
    """The soak: writers of two projects at once, transactions of different length, one reader each."""
    steward, rounds, writers = installation.steward, effort(12, 400), 5

    def write(number: int) -> None:
        for step in range(rounds):
            with steward.database.write(SCOPE) as tx:
                steward.events.append(tx, "thing.happened", f"{number}-{step}-first")
                tx.execute(sa.select(sa.func.count()))
                steward.events.append(tx, "thing.happened", f"{number}-{step}-second")
            _append(steward, OTHER, f"{number}-{step}")

    readers = [_Reader(steward, SCOPE), _Reader(steward, SCOPE), _Reader(steward, OTHER)]
    with ThreadPoolExecutor(writers + len(readers)) as threads:
        totals = (2 * writers * rounds, 2 * writers * rounds, writers * rounds)
        following = [threads.submit(r.follow, n) for r, n in zip(readers, totals, strict=True)]
        list(threads.map(write, range(writers)))
        seen = [reader.result() for reader in following]
    for subjects, total in zip(seen, totals, strict=True):
        assert len(subjects) == len(set(subjects)) == total
    for number in range(writers):
        own = [s for s in seen[0] if s.startswith(f"{number}-")]
        expected = [f"{number}-{n}-{part}" for n in range(rounds) for part in ("first", "second")]
        assert own == expected


def test_a_late_commit_is_not_stepped_over(installation: Installation) -> None:
    """A transaction that took its place first but commits last holds the others back."""
    steward = installation.steward
    appended, finish = threading.Event(), threading.Event()

    def linger(_: list[None]) -> None:
        appended.set()
        assert finish.wait(30)

    def slow() -> None:
        with steward.database.write(SCOPE) as tx:
            steward.events.append(tx, "thing.happened", "slow")
            tx.at_end(linger, None)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(slow)
        assert appended.wait(30)
        second = threads.submit(_append, steward, SCOPE, "fast")
        assert _subjects(steward, SCOPE) == []
        assert not second.done()
        finish.set()
        first.result(30)
        second.result(30)
    assert _subjects(steward, SCOPE) == ["slow", "fast"]


def test_a_transaction_with_an_event_holds_up_no_other_before_its_end(
    installation: Installation,
) -> None:
    """Otherwise two that also lock something else wait for each other, the one for the log and the other for that."""
    steward = installation.steward
    if steward.database.is_sqlite:
        pytest.skip("SQLite writes one transaction after the other")

    def locks_first() -> None:
        with steward.database.write(SCOPE) as tx:
            tx.wait_for_turn("something else")
            steward.events.append(tx, "thing.happened", "second")

    with ThreadPoolExecutor(1) as threads, steward.database.write(SCOPE) as tx:
        steward.events.append(tx, "thing.happened", "first")
        threads.submit(locks_first).result(20)
        tx.wait_for_turn("something else")
    assert _subjects(steward, SCOPE) == ["second", "first"]


@pytest.fixture
def second(installation: Installation) -> Iterator[Steward]:
    """Another process' view of the same installation."""
    opened = open_steward(
        installation.steward.settings, clock=installation.clock, passwords=fast_passwords()
    )
    yield opened
    opened.close()


def _ring_until_heard(steward: Steward, heard: threading.Event) -> None:
    for number in range(200):
        _append(steward, SCOPE, str(number))
        if heard.wait(0.1):
            return
    raise AssertionError("nobody heard the bell")


def test_the_bell_rings_across_processes(installation: Installation, second: Steward) -> None:
    if not isinstance(second.bus, PostgresBus):
        pytest.skip("SQLite serves one process; its bell is the process' own")
    heard, unheard = threading.Event(), threading.Event()
    with (
        second.bus.listening(topic(SCOPE), heard.set),
        second.bus.listening(topic(OTHER), unheard.set),
    ):
        # Starting to listen wakes everyone once: let that pass first.
        _ring_until_heard(installation.steward, heard)
        heard.clear()
        unheard.clear()
        _append(installation.steward, SCOPE, "rung")
        assert heard.wait(20)
        assert not unheard.is_set()


def test_the_bell_comes_back_after_a_lost_connection(
    installation: Installation, second: Steward
) -> None:
    if not isinstance(second.bus, PostgresBus):
        pytest.skip("SQLite has no connection to lose")
    heard = threading.Event()
    with second.bus.listening(topic(SCOPE), heard.set):
        _ring_until_heard(installation.steward, heard)
        with installation.steward.database.write(EVERYWHERE) as tx:
            ended = tx.rows(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                )
            )
        assert len(ended) == 2
        heard.clear()
        # Reconnecting wakes every listener: rings may have been missed meanwhile.
        assert heard.wait(30)
        heard.clear()
        _ring_until_heard(installation.steward, heard)


def test_a_listener_hears_until_it_leaves() -> None:
    # One that no connection of its own wakes as well.
    bus = Bus()
    heard: list[str] = []
    with bus.listening("a", lambda: heard.append("one")):
        with bus.listening("a", lambda: heard.append("two")):
            bus.wake("a")
            bus.wake("b")
        bus.wake_all()
    bus.wake("a")
    assert heard == ["one", "two", "one"]


def test_a_ring_of_a_change_that_was_undone_is_not_heard(installation: Installation) -> None:
    steward = installation.steward
    heard = threading.Event()

    def fail() -> None:
        with steward.database.write(SCOPE) as tx:
            steward.bus.ring(tx, topic(SCOPE))
            _ = 1 // 0

    with steward.bus.listening(topic(OTHER), heard.set):
        _append(steward, OTHER, "x")
        assert heard.wait(20)
    quiet = threading.Event()
    with steward.bus.listening(topic(SCOPE), quiet.set), steward.bus.listening("after", heard.set):
        quiet.clear()
        heard.clear()
        with pytest.raises(ZeroDivisionError):
            fail()
        with steward.database.write(SCOPE) as tx:
            steward.bus.ring(tx, "after")
        assert heard.wait(20)
        assert not quiet.is_set()
