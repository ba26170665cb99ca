"""The database: opened safely, one writer at a time, honest when it is busy, away or broken."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from steward.core.errors import Misconfigured, Unavailable
from steward.identity._tables import organisations, sessions
from steward.store import EVERYWHERE, Database, Scope, migrate
from steward.store import database as module
from steward.store.tables import Moment
from steward.testing import Installation, PostgresServer

pytestmark = pytest.mark.every_database

PASSWORD = "hunter2-hunter2"


@pytest.fixture
def lite(tmp_path: Path, home_template: Path) -> Iterator[Database]:
    """A migrated SQLite database."""
    (tmp_path / "steward.db").write_bytes((home_template / "steward.db").read_bytes())
    opened = Database(f"sqlite:///{tmp_path / 'steward.db'}")
    yield opened
    opened.close()


def _add(database: Database, name: str) -> None:
    with database.write(EVERYWHERE) as tx:
        tx.execute(
            sa.text(
                f"INSERT INTO organisations (id, name, created_at) VALUES ('{name}', '{name}', 0)"
            )
        )


def _names(database: Database) -> set[str]:
    with database.read(EVERYWHERE) as tx:
        return {row.id for row in tx.rows(sa.select(organisations.c.id))}


def test_sqlite_is_opened_safely(lite: Database) -> None:
    for opened, query_only in ((lite.write, 0), (lite.read, 1)):
        expected = {
            "journal_mode": "wal",
            "synchronous": 2,
            "foreign_keys": 1,
            "busy_timeout": module.BUSY_TIMEOUT_MS,
            "trusted_schema": 0,
            "query_only": query_only,
        }
        with opened(EVERYWHERE) as tx:
            found = {n: tx.execute(sa.text(f"PRAGMA {n}")).scalar_one() for n in expected}
        assert found == expected


def test_a_writer_takes_the_lock_at_once_and_readers_do_not_wait(lite: Database) -> None:
    _add(lite, "before")
    with lite.write(EVERYWHERE) as tx, closing(sqlite3.connect(str(lite.url.database))) as other:
        other.execute("PRAGMA busy_timeout = 0")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        tx.execute(
            sa.text(
                "INSERT INTO organisations (id, name, created_at) VALUES ('during', 'during', 0)"
            )
        )
        assert _names(lite) == {"before"}
    assert _names(lite) == {"before", "during"}


def test_readers_cannot_write(lite: Database) -> None:
    with pytest.raises(Unavailable, match="readonly"), lite.read(EVERYWHERE) as tx:
        tx.execute(sa.text("INSERT INTO organisations (id, name, created_at) VALUES ('x', 'x', 0)"))
    assert _names(lite) == set()


def test_writers_take_turns_and_lose_nothing(
    lite: Database, effort: Callable[[int, int], int]
) -> None:
    _add(lite, "0")
    rounds = effort(15, 300)

    def count(_: int) -> None:
        for _ in range(rounds):
            with lite.write(EVERYWHERE) as tx:
                [row] = tx.rows(sa.select(organisations.c.name))
                tx.execute(sa.update(organisations).values(name=str(int(row.name) + 1)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(8)))
    with lite.read(EVERYWHERE) as tx:
        assert tx.execute(sa.select(organisations.c.name)).scalar_one() == str(8 * rounds)


def test_a_lock_held_by_another_process_is_reported_as_busy(
    lite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_TIMEOUT_MS", 20)
    impatient = Database(lite.url.render_as_string())
    with closing(sqlite3.connect(str(lite.url.database), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="database is locked"):
            _add(impatient, "x")
        other.execute("ROLLBACK")
    _add(impatient, "x")
    impatient.close()


def test_a_writer_that_waits_too_long_is_told_so(
    lite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WRITER_WAIT_S", 0.02)
    impatient = Database(lite.url.render_as_string())
    with ThreadPoolExecutor(1) as other:
        with impatient.write(EVERYWHERE):
            waiting = other.submit(_add, impatient, "x")
            with pytest.raises(Unavailable, match="busy"):
                waiting.result()
        other.submit(_add, impatient, "y").result()
    assert _names(impatient) == {"y"}
    impatient.close()


def test_a_file_that_is_no_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "steward.db").write_bytes(b"something else entirely " * 100)
    database = Database(f"sqlite:///{tmp_path / 'steward.db'}")
    with pytest.raises(Misconfigured, match="damaged"):
        migrate(database)
    database.close()


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://steward:{PASSWORD}@host/db",
        f"postgresql://steward:{PASSWORD}@host:port/db",
        f"steward:{PASSWORD}",
        "",
    ],
)
def test_a_wrong_address_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        Database(url)
    assert PASSWORD not in str(caught.value)


def test_a_server_that_is_away_is_unavailable() -> None:
    database = Database(f"postgres://steward:{PASSWORD}@127.0.0.1:1/db")
    with pytest.raises(Unavailable, match="Connection refused") as caught:
        migrate(database)
    assert PASSWORD not in str(caught.value)
    database.close()


def test_a_lost_connection_is_unavailable_and_then_replaced(
    postgres: PostgresServer, postgres_template: str
) -> None:
    with postgres.database(postgres_template) as url:
        database, killer = Database(url, pool_size=1), Database(url)
        with database.read(EVERYWHERE) as tx:
            pid = tx.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        with killer.write(EVERYWHERE) as tx:
            tx.execute(sa.text(f"SELECT pg_terminate_backend({pid}, 10000)"))
        with pytest.raises(Unavailable):
            _names(database)
        assert _names(database) == set()
        database.close()
        killer.close()


def test_a_block_that_raises_leaves_nothing(installation: Installation) -> None:
    database = installation.steward.database
    rung: list[str] = []

    def fail() -> None:
        with database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.text("INSERT INTO organisations (id, name, created_at) VALUES ('x', 'x', 0)")
            )
            tx.after_commit(lambda: rung.append("rolled back"))
            _ = 1 // 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert _names(database) == set()
    with database.write(EVERYWHERE) as tx:
        tx.execute(sa.text("INSERT INTO organisations (id, name, created_at) VALUES ('y', 'y', 0)"))
        tx.after_commit(lambda: rung.append("committed" if _names(database) else "too early"))
        tx.narrowed(Scope("o", "p")).after_commit(lambda: rung.append("narrowed"))
    assert rung == ["committed", "narrowed"]


def test_references_are_checked(installation: Installation) -> None:
    now = installation.clock.now()
    row = {"id": "ses_1", "token_hash": "x", "user_id": "nobody", "csrf_token": "x"}
    database = installation.steward.database
    with pytest.raises(IntegrityError) as caught, database.write(EVERYWHERE) as tx:
        tx.execute(sa.insert(sessions).values(**row, created_at=now, expires_at=now))
    assert "[SQL parameters hidden" in str(caught.value), "an error that is logged shows no values"


def test_moments_come_back_as_they_went_in(installation: Installation) -> None:
    database = installation.steward.database
    moment = installation.clock.advance(microseconds=123_457)
    with database.write(EVERYWHERE) as tx:
        tx.execute(sa.insert(organisations).values(id="o", name="o", created_at=moment))
        assert tx.execute(sa.select(organisations.c.created_at)).scalar_one() == moment
    naive = moment.replace(tzinfo=None)
    with pytest.raises(sa.exc.StatementError, match="time zone"), database.write(EVERYWHERE) as tx:
        tx.execute(sa.insert(organisations).values(id="p", name="p", created_at=naive))


@pytest.mark.parametrize("written", ["'yesterday'", str(2**62)])
def test_a_moment_that_somebody_spoilt_is_told_in_words(lite: Database, written: str) -> None:
    moment = sa.literal_column(written, Moment())
    with lite.read(EVERYWHERE) as tx, pytest.raises(Misconfigured, match="Restore a backup"):
        tx.rows(sa.select(moment))


def test_threads_share_a_database(installation: Installation) -> None:
    database = installation.steward.database
    together = threading.Barrier(6)

    def work(number: int) -> None:
        together.wait(30)
        _add(database, f"org-{number}")
        assert f"org-{number}" in _names(database)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    assert len(_names(database)) == 6


def test_a_connection_in_use_while_the_database_closes_is_closed_when_given_back(
    postgres: PostgresServer,
) -> None:
    with postgres.database(None) as url:
        database = Database(url)
        with database.raw_writer() as connection:
            driver = connection.connection.driver_connection
            database.close()
            assert connection.scalar(sa.text("SELECT 1")) == 1
        assert driver is not None
        assert driver.closed
        # Somebody who comes later gets an answer, and leaves nothing open either.
        with database.raw_writer() as late:
            after = late.connection.driver_connection
        assert after is not None
        assert after.closed
