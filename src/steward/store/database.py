"""SQL for every room: one writer apart from the readers, and transactions that know whose data they touch.

A transaction is opened for a `Scope` (one project) or, explicitly, for `EVERYWHERE`. In a scoped one,
statements on project tables are filtered and filled by construction: a forgotten WHERE cannot leak.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, CursorResult, Engine, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    OperationalError,
    StatementError,
)
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.sql.base import Executable

from steward.core import Bug, Misconfigured, StewardError, Unavailable
from steward.store.confine import Parameters, Prepared, Scope, confine
from steward.store.guarded import concealing
from steward.store.holds import Hold, deletes, hold_of, open_holds, refused, sparing

BUSY_TIMEOUT_MS: Final = 30_000
_WRITER_WAIT_S: Final = 60


class _Everywhere(Enum):
    EVERYWHERE = "everywhere"


EVERYWHERE: Final = _Everywhere.EVERYWHERE
"""For the few places that work across projects: sign-in, backup, sweeping. Tests list them by name."""

AnyScope = Scope | Literal[_Everywhere.EVERYWHERE]


T = TypeVar("T")
_TURN: Final = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


class Transaction:
    """One database transaction; commits when its block ends, rolls back when it raises."""

    def __init__(
        self, connection: Connection, scope: AnyScope, conceal: Callable[[Scope, Any], Any]
    ) -> None:
        self._connection = connection
        self.scope = scope
        self._conceal = conceal
        self._after_commit: list[Callable[[], None]] = []
        self._at_end: dict[Callable[[list[Any]], None], list[Any]] = {}

    @property
    def dialect(self) -> str:
        return self._connection.dialect.name

    @property
    def project(self) -> Scope:
        """The scope, where only a scoped transaction makes sense."""
        if not isinstance(self.scope, Scope):
            raise Bug("This operation needs a transaction of one project.")
        return self.scope

    def execute(
        self,
        statement: Executable | Prepared,
        parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> CursorResult[Any]:
        if isinstance(statement, Prepared):
            if statement.deletes is None:
                statement.deletes = deletes(statement.statement)
            if statement.deletes:
                self._refuse_held()
            if not isinstance(self.scope, Scope):
                return self._run(statement.statement, parameters)
            statement, parameters = statement.within(self.scope, parameters)
        elif isinstance(self.scope, Scope) and deletes(statement, parameters):
            self._refuse_held()
            statement, parameters = confine(statement, parameters, self.scope)
        elif isinstance(self.scope, Scope):
            statement, parameters = confine(statement, parameters, self.scope)
        if isinstance(self.scope, Scope) and isinstance(statement, sa.Insert | sa.Update):
            return self._written(statement, parameters, self.scope)
        return self._run(statement, parameters)

    def _written(
        self, statement: Executable, parameters: Parameters, scope: Scope
    ) -> CursorResult[Any]:
        """What people typed and others reported is searched for the project's secrets on its way."""
        try:
            with concealing(lambda value: self._conceal(scope, value)):
                return self._connection.execute(statement, parameters)
        except StatementError as error:
            if isinstance(error.orig, StewardError):
                raise error.orig from None
            raise

    def execute_as_written(
        self, statement: Executable, parameters: Parameters = None
    ) -> CursorResult[Any]:
        """For statements that name their scope themselves: outer joins, locks. Tests list the callers."""
        return self._run(statement, parameters)

    def _run(self, statement: Executable, parameters: Parameters) -> CursorResult[Any]:
        if deletes(statement, parameters):
            statement = sparing(statement)
        return self._connection.execute(statement, parameters)

    def purge(self, statement: sa.Delete) -> int:
        """Deletes what is past its time and returns how much; a legal hold keeps it, and nothing fails."""
        if isinstance(self.scope, Scope) and self.hold() is not None:
            return 0
        return self.execute(statement).rowcount

    def hold(self) -> Hold | None:
        """The legal hold that stops deletions in this project, if there is one; the oldest of several."""
        row = self._connection.execute(open_holds(self.project.project_id).limit(1)).first()
        return None if row is None else hold_of(row)

    def _refuse_held(self) -> None:
        if isinstance(self.scope, Scope) and (hold := self.hold()) is not None:
            raise refused(hold)

    def execute_raw(
        self, statement: str, parameters: Sequence[Any] | list[tuple[Any, ...]] = ()
    ) -> CursorResult[Any]:
        """Fixed text with `?` for values, for the hot paths of the journal alone. Tests list the callers."""
        if self.dialect == "postgresql":
            statement = statement.replace("?", "%s")
        given: Any = parameters if isinstance(parameters, list) else tuple(parameters)
        return self._connection.exec_driver_sql(statement, given)

    def rows(
        self, statement: Executable | Prepared, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[sa.Row[Any]]:
        return self.execute(statement, parameters).all()

    def first(
        self, statement: Executable | Prepared, parameters: Mapping[str, Any] | None = None
    ) -> sa.Row[Any] | None:
        return self.execute(statement, parameters).first()

    def wait_for_turn(self, name: str) -> None:
        """Waits for the other transactions that gave the same name; SQLite lets one write at a time anyway."""
        if self.dialect == "postgresql":
            self._connection.execute(_TURN, {"name": name})

    def narrowed(self, scope: Scope) -> "Transaction":
        """The same transaction seen from one project; for work that starts before the project is known."""
        inside = Transaction(self._connection, scope, self._conceal)
        inside._after_commit = self._after_commit
        inside._at_end = self._at_end
        return inside

    def at_end(self, finish: Callable[[list[T]], None], item: T) -> None:
        """Gathers what `finish` writes as the last of the transaction: under a lock that all others wait for, too.

        Taken last and in one go, such a lock closes no ring, and is held no longer than the commit takes.
        """
        self._at_end.setdefault(finish, []).append(item)

    def after_commit(self, action: Callable[[], None]) -> None:
        """Runs once the data is durable, never when the transaction rolls back."""
        self._after_commit.append(action)

    def _end(self) -> None:
        for finish, items in self._at_end.items():
            finish(items)

    def _committed(self) -> None:
        for action in self._after_commit:
            action()


class Database:
    def __init__(self, url: str, *, pool_size: int = 10) -> None:
        self.url: URL = _address(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._closed = False
        self.conceal: Callable[[Scope, Any], Any] = lambda _scope, value: value
        """Takes a project's secrets out of a value; whoever opens the secrets of a database sets it."""
        try:
            self._writer, self._reader = self._engines(pool_size)
        except ModuleNotFoundError as error:
            raise Misconfigured(
                f"The database driver is not installed ({error}). For PostgreSQL install Steward "
                "with its 'postgres' extra."
            ) from None
        # A transaction of SQLite sees one moment by itself.
        self._steady = (
            self._reader
            if self.is_sqlite
            else self._reader.execution_options(isolation_level="REPEATABLE READ")
        )
        for engine in {self._writer, self._reader}:
            event.listen(engine, "checkin", self._given_back)

    def read(self, scope: AnyScope) -> AbstractContextManager[Transaction]:
        return self._transaction(self._reader, scope)

    def snapshot(self, scope: AnyScope) -> AbstractContextManager[Transaction]:
        """A read in which all statements see one and the same moment."""
        return self._transaction(self._steady, scope)

    def write(self, scope: AnyScope) -> AbstractContextManager[Transaction]:
        if isinstance(scope, Scope):
            # Reads the secrets where they are not known yet: inside, that would take a second connection.
            self.conceal(scope, None)
        return self._transaction(self._writer, scope)

    @contextmanager
    def _transaction(self, engine: Engine, scope: AnyScope) -> Iterator[Transaction]:
        with _clear_failures():
            with engine.begin() as connection:
                transaction = Transaction(connection, scope, self.conceal)
                yield transaction
                transaction._end()
            transaction._committed()

    @contextmanager
    def raw_writer(self) -> Iterator[Connection]:
        """A plain connection, for migrations, backup and LISTEN alone."""
        with _clear_failures(), self._writer.connect() as connection:
            yield connection

    def close(self) -> None:
        """Closes all connections; one that is in use meanwhile closes as soon as it is given back."""
        self._closed = True
        self._writer.dispose()
        self._reader.dispose()

    def _given_back(self, _connection: Any, record: ConnectionPoolEntry) -> None:
        if self._closed:
            record.close()

    def _engines(self, pool_size: int) -> tuple[Engine, Engine]:
        if not self.is_sqlite:
            engine = sa.create_engine(
                self.url,
                pool_size=pool_size,
                max_overflow=pool_size,
                pool_recycle=1800,
                hide_parameters=True,
            )
            return engine, engine
        if self.url.database:
            Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
        writer = _sqlite_engine(self.url, begin="BEGIN IMMEDIATE", query_only=False, pool_size=1)
        reader = _sqlite_engine(self.url, begin="BEGIN", query_only=True, pool_size=pool_size)
        return writer, reader


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The text itself may hold a password, so it is not repeated.
        raise Misconfigured(
            "The database address cannot be read. It looks like postgresql://user:password@host/name."
        ) from None
    kind = address.get_backend_name()
    if kind in {"postgres", "postgresql"}:
        return address.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise Misconfigured(f"Steward keeps its data in SQLite or PostgreSQL, not in {kind!r}.")
    return address


def sqlite_version() -> str:
    return sqlite3.sqlite_version


def _sqlite_engine(url: URL, *, begin: str, query_only: bool, pool_size: int) -> Engine:
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=pool_size,
        # One writer: a second one waits its turn here instead of meeting SQLITE_BUSY.
        max_overflow=0,
        pool_timeout=_WRITER_WAIT_S,
        # Errors name the statement, never the values: those may be secret, and errors are logged.
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )

    @event.listens_for(engine, "connect")
    def _open(dbapi_connection: Any, _record: Any) -> None:
        # Python's sqlite3 must not begin transactions by itself: we choose the kind below.
        dbapi_connection.isolation_level = None
        cursor = dbapi_connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        # FULL: what was acknowledged survives a power cut, not only a crash.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA trusted_schema = OFF")
        cursor.execute(f"PRAGMA query_only = {'ON' if query_only else 'OFF'}")
        cursor.close()

    def _begin(dbapi_connection: Any) -> None:
        dbapi_connection.execute(begin)

    # Not by listening for "begin": one such listener makes every statement of the engine look for listeners.
    engine.dialect.do_begin = _begin  # type: ignore[method-assign]
    return engine


@contextmanager
def _clear_failures() -> Iterator[None]:
    """Turns a database that is away, busy or broken into an error that says so; the rest passes."""
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise Unavailable(
            "The database is busy: no connection became free in time. Try again shortly."
        ) from error
    except OperationalError as error:
        raise Unavailable(
            f"The database did not answer ({_reason(error)}). Try again shortly."
        ) from error
    except DatabaseError as error:
        if isinstance(error.orig, sqlite3.DatabaseError) and _is_damaged(error.orig):
            raise Misconfigured(
                f"The database file is damaged ({_reason(error)}). Restore a backup into an empty home."
            ) from error
        raise


def _reason(error: DBAPIError) -> str:
    lines = str(error.orig).splitlines()
    return lines[0] if lines else "no reason given"


def _is_damaged(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", None) in {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    }
