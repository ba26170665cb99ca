"""Migrations that run at start, one process at a time, forward only."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from steward.core import Misconfigured
from steward.store.database import Database

_FOLDER = Path(__file__).parent / "migrations"
# Any constant will do: it names the lock under which PostgreSQL processes take turns to migrate.
_LOCK = 5_271_009


def migrate(database: Database) -> None:
    """Brings the schema forward; several processes starting at once wait for one another."""
    with database.raw_writer() as connection, connection.begin():
        upgrade(connection)


def upgrade(connection: sa.Connection, revision: str | None = None) -> None:
    """Brings the schema to a revision, the newest when None, within the caller's transaction."""
    config = _config()
    scripts = ScriptDirectory.from_config(config)
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    current = MigrationContext.configure(connection).get_current_revision()
    wanted = revision or scripts.get_current_head() or ""
    _refuse_unknown(scripts, current)
    _refuse_unknown(scripts, wanted)
    if current != wanted:
        config.attributes["connection"] = connection
        command.upgrade(config, wanted)


def schema_revision(database: Database) -> str | None:
    with database.raw_writer() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def latest_revision() -> str:
    head = ScriptDirectory.from_config(_config()).get_current_head()
    return head or ""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("path_separator", "os")
    return config


def knows_revision(revision: str | None) -> bool:
    """False for data that a newer version of Steward wrote."""
    return _is_known(ScriptDirectory.from_config(_config()), revision)


def _is_known(scripts: ScriptDirectory, revision: str | None) -> bool:
    return revision is None or revision in {each.revision for each in scripts.walk_revisions()}


def _refuse_unknown(scripts: ScriptDirectory, revision: str | None) -> None:
    if not _is_known(scripts, revision):
        raise Misconfigured(
            f"The data is at schema {revision!r}, which this version of Steward does not know: "
            "a newer version wrote it. Use that version, or restore a backup made by this one."
        )
