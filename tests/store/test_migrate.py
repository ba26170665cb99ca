"""Migrations: they make exactly the declared schema, once, however many processes start together."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from steward.app import diagnose
from steward.core.errors import Invalid, Misconfigured
from steward.store import (
    EVERYWHERE,
    Database,
    downgrade,
    latest_revision,
    metadata,
    migrate,
    schema_revision,
)
from steward.store.migrate import upgrade
from steward.testing import Installation, PostgresServer
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.every_database

Shape = dict[str, Any]
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


FIRST_WITHOUT_RETURN = "0100"


@pytest.fixture
def schema_of(
    database_kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[[str], Shape]:
    """The schema that an empty database has which went forward to a revision and no further."""

    def shape(url: str, revision: str) -> Shape:
        database = Database(url)
        try:
            with database.raw_writer() as connection, connection.begin():
                upgrade(connection, revision)
            return _shape(database)
        finally:
            database.close()

    def found(revision: str) -> Shape:
        if database_kind == "sqlite":
            return shape(f"sqlite:///{tmp_path / revision}.db", revision)
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.database(None) as url:
            return shape(url, revision)

    return found


def test_each_step_back_makes_the_schema_that_was_there_before(
    installation: Installation, schema_of: Callable[[str], Shape]
) -> None:
    """With data in it; and forward again."""
    database = installation.steward.database
    assert installation.owner.access.user_id
    users = _count(database, "users")
    steps = 0
    while (before := schema_revision(database)) != FIRST_WITHOUT_RETURN:
        done = downgrade(database)
        assert (done.before, schema_revision(database)) == (before, done.after)
        assert _shape(database) == schema_of(done.after)
        steps += 1
    assert steps > 8
    with pytest.raises(Invalid, match="cannot be taken back"):
        downgrade(database)
    assert _count(database, "users") == users > 0
    migrate(database)
    assert schema_revision(database) == latest_revision()


def test_a_step_back_to_a_schema_that_never_was_is_refused(installation: Installation) -> None:
    with pytest.raises(Invalid, match="none that came before"):
        downgrade(installation.steward.database, "0999")
    assert schema_revision(installation.steward.database) == latest_revision()


def _count(database: Database, table: str) -> int:
    with database.read(EVERYWHERE) as tx:
        return int(tx.execute(sa.text(f"SELECT count(*) AS n FROM {table}")).one().n)


def _shape(database: Database) -> Shape:
    with database.raw_writer() as connection:
        look = sa.inspect(connection)
        return {
            table: (
                sorted((c["name"], str(c["type"]), c["nullable"]) for c in look.get_columns(table)),
                sorted(str(each["name"]) for each in look.get_indexes(table)),
            )
            for table in look.get_table_names()
        }


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
