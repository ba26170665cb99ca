"""Migrations: they make exactly the declared schema, once, however many processes start together."""

import importlib
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from steward.app import diagnose
from steward.core.errors import Misconfigured
from steward.store import (
    EVERYWHERE,
    Database,
    latest_revision,
    metadata,
    migrate,
    schema_revision,
)
from steward.testing import Installation, PostgresServer
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.every_database

SOURCE = Path(migrate.__code__.co_filename).parents[1]


def _declare_all_tables() -> None:
    for path in SOURCE.rglob("*.py"):
        if "from steward.store.tables import" in path.read_text():
            words = path.relative_to(SOURCE.parent).with_suffix("").parts
            importlib.import_module(".".join(words))


def test_the_migrations_make_the_declared_schema(installation: Installation) -> None:
    _declare_all_tables()
    with installation.steward.database.raw_writer() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    assert differences == []


def test_migrating_again_changes_nothing(installation: Installation) -> None:
    database = installation.steward.database
    assert schema_revision(database) == latest_revision() != ""
    migrate(database)
    assert schema_revision(database) == latest_revision()


def test_a_newer_schema_is_refused_and_left_alone(installation: Installation) -> None:
    database = installation.steward.database
    with database.write(EVERYWHERE) as tx:
        tx.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Misconfigured, match=r"schema '9999'.*newer version"):
        migrate(database)
    assert schema_revision(database) == "9999"


def test_the_doctor_says_that_a_newer_version_wrote_the_data(installation: Installation) -> None:
    with installation.steward.database.raw_writer() as connection, connection.begin():
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    found = {each.subject: each for each in diagnose(installation.steward.settings)}
    assert found["database"].state == "failed"
    assert "9999: a newer version of Steward wrote it" in found["database"].message


def test_a_migration_that_fails_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'steward.db'}")

    class _Interrupted(Exception):
        """Stands for anything that ends a migration half-way."""

    def cut_short(*_: object, **__: object) -> None:
        raise _Interrupted

    monkeypatch.setattr("alembic.op.create_index", cut_short)
    with pytest.raises(_Interrupted):
        migrate(database)
    assert schema_revision(database) is None
    with database.raw_writer() as connection:
        assert sa.inspect(connection).get_table_names() == []
    monkeypatch.undo()
    migrate(database)
    assert schema_revision(database) == latest_revision()
    database.close()


def test_processes_that_start_together_take_turns(
    database_kind: str, terminal: Terminal, request: pytest.FixtureRequest
) -> None:
    """Also the keys are made once: a second key file would lock one of the processes out."""
    if database_kind == "sqlite":
        _start_together(terminal)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database(None) as url:
        terminal.env["STEWARD_DATABASE__URL"] = url
        _start_together(terminal)
        terminal.close()


def _start_together(terminal: Terminal) -> None:
    started = [terminal.start("user", "list", "--json") for _ in range(4)]
    for process in started:
        assert process.wait() == 0, process.err
        assert process.json() == []
    assert terminal.run("user", "list", "--json").json() == []
