"""SQL for every room: one writer apart from the readers, and transactions that know whose data they touch.

A transaction is opened for a `Scope` (one project) or, explicitly, for `EVERYWHERE`. In a scoped one,
statements on project tables are filtered and filled by construction: a forgotten WHERE cannot leak.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, CursorResult, Engine, make_url
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql import visitors
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.dml import Delete, Insert, Update
from sqlalchemy.sql.selectable import FromClause, Join, Select, TableClause

from steward.core.errors import Bug, Misconfigured, Unavailable

BUSY_TIMEOUT_MS: Final = 30_000
_WRITER_WAIT_S: Final = 60


@dataclass(frozen=True)
class Scope:
    """Whose data a transaction may touch."""

    org_id: str
    project_id: str


class _Everywhere(Enum):
    EVERYWHERE = "everywhere"


EVERYWHERE: Final = _Everywhere.EVERYWHERE
"""For the few places that work across projects: sign-in, backup, sweeping. Tests list them by name."""

AnyScope = Scope | Literal[_Everywhere.EVERYWHERE]
Statement = TypeVar("Statement", bound=Executable)


class Transaction:
    """One database transaction; commits when its block ends, rolls back when it raises."""

    def __init__(self, connection: Connection, scope: AnyScope) -> None:
        self._connection = connection
        self.scope = scope
        self._after_commit: list[Callable[[], None]] = []

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
        statement: Executable,
        parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> CursorResult[Any]:
        if isinstance(self.scope, Scope):
            statement = _within(statement, self.scope)
        return self._connection.execute(statement, parameters)

    def execute_as_written(
        self, statement: Executable, parameters: Mapping[str, Any] | None = None
    ) -> CursorResult[Any]:
        """For statements that name their scope themselves: outer joins, locks. Tests list the callers."""
        return self._connection.execute(statement, parameters)

    def rows(self, statement: Executable) -> Sequence[sa.Row[Any]]:
        return self.execute(statement).all()

    def first(self, statement: Executable) -> sa.Row[Any] | None:
        return self.execute(statement).first()

    def narrowed(self, scope: Scope) -> "Transaction":
        """The same transaction seen from one project; for work that starts before the project is known."""
        inside = Transaction(self._connection, scope)
        inside._after_commit = self._after_commit
        return inside

    def after_commit(self, action: Callable[[], None]) -> None:
        """Runs once the data is durable, never when the transaction rolls back."""
        self._after_commit.append(action)

    def _committed(self) -> None:
        for action in self._after_commit:
            action()


class Database:
    def __init__(self, url: str, *, pool_size: int = 10) -> None:
        self.url: URL = make_url(url)
        if self.url.get_backend_name() == "postgresql":
            self.url = self.url.set(drivername="postgresql+psycopg")
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        try:
            self._writer, self._reader = self._engines(pool_size)
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise Misconfigured(
                f"The database driver for {self.url.get_backend_name()!r} is not installed "
                f"({error}). For PostgreSQL install Steward with its 'postgres' extra."
            ) from None

    def read(self, scope: AnyScope) -> AbstractContextManager[Transaction]:
        return self._transaction(self._reader, scope)

    def write(self, scope: AnyScope) -> AbstractContextManager[Transaction]:
        return self._transaction(self._writer, scope)

    @contextmanager
    def _transaction(self, engine: Engine, scope: AnyScope) -> Iterator[Transaction]:
        with _clear_failures():
            with engine.begin() as connection:
                transaction = Transaction(connection, scope)
                yield transaction
            transaction._committed()

    @contextmanager
    def raw_writer(self) -> Iterator[Connection]:
        """A plain connection, for migrations, backup and LISTEN alone."""
        with _clear_failures(), self._writer.connect() as connection:
            yield connection

    def close(self) -> None:
        self._writer.dispose()
        self._reader.dispose()

    def _engines(self, pool_size: int) -> tuple[Engine, Engine]:
        if not self.is_sqlite:
            engine = sa.create_engine(
                self.url, pool_size=pool_size, max_overflow=pool_size, pool_recycle=1800
            )
            return engine, engine
        if self.url.database:
            Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
        writer = _sqlite_engine(self.url, begin="BEGIN IMMEDIATE", query_only=False, pool_size=1)
        reader = _sqlite_engine(self.url, begin="BEGIN", query_only=True, pool_size=pool_size)
        return writer, reader


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

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


@contextmanager
def _clear_failures() -> Iterator[None]:
    """Turns a database that is away or busy into an error that says so; the rest passes through."""
    try:
        yield
    except (OperationalError, sa.exc.TimeoutError) as error:
        if isinstance(error, DBAPIError):
            text = str(error.orig)
            reason = text.splitlines()[0] if text else "no reason given"
        else:
            reason = "no connection became free in time"
        raise Unavailable(
            f"The database did not answer ({reason}). Nothing was changed; try again shortly."
        ) from error


def _within(statement: Executable, scope: Scope) -> Executable:
    """The statement, confined to the scope."""
    if isinstance(statement, Insert):
        values = _scope_values(statement.table, scope)
        return statement.values(**values) if values else statement
    if isinstance(statement, Select):
        tables = list(_tables(statement.get_final_froms()))
    elif isinstance(statement, Update | Delete):
        tables = list(_tables([statement.table]))
    else:
        raise Bug(
            f"A scoped transaction runs select, insert, update, delete; not {type(statement)}."
        )
    _refuse_hidden_tables(statement, tables)
    for table in tables:
        for name, value in _scope_values(table, scope).items():
            statement = statement.where(table.c[name] == value)
    return statement


def _scope_values(table: FromClause, scope: Scope) -> dict[str, str]:
    if "project_id" in table.c:
        return {"org_id": scope.org_id, "project_id": scope.project_id}
    if "org_id" in table.c:
        return {"org_id": scope.org_id}
    return {}


def _tables(froms: Sequence[FromClause]) -> Iterator[FromClause]:
    for item in froms:
        if isinstance(item, Join):
            yield from _tables([item.left, item.right])
        else:
            yield item


def _refuse_hidden_tables(statement: Executable, visible: Sequence[FromClause]) -> None:
    """A project table inside a subquery would escape the filter, so it is refused, not trusted."""
    for element in visitors.iterate(cast(visitors.ExternallyTraversible, statement)):
        if (
            isinstance(element, TableClause)
            and element not in visible
            and ("project_id" in element.c or "org_id" in element.c)
        ):
            raise Bug(f"Table {element.name!r} is used in a subquery of a scoped statement.")
