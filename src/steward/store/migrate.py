"""Migrations that run at start, one process at a time, forward only."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from steward.core import Misconfigured
from steward.store.database import Database
from steward.store.tables import metadata

_FOLDER = Path(__file__).parent / "migrations"
_NAMES: Final = re.compile(r'^(down_revision|revision) = "(\w+)"', re.MULTILINE)
# Any constant will do: it names the lock under which PostgreSQL processes take turns to migrate.
_LOCK = 5_271_009


def migrate(database: Database) -> None:
    """Brings the schema forward; several processes starting at once wait for one another."""
    with database.raw_writer() as connection, connection.begin():
        upgrade(connection)


def upgrade(connection: sa.Connection, revision: str | None = None) -> None:
    """Brings the schema to a revision, the newest when None, within the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    current = _revision(connection)
    wanted = revision or latest_revision()
    _refuse_unknown(current)
    _refuse_unknown(wanted)
    if current != wanted:
        # Most starts find everything up to date, and are quicker without it.
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(_FOLDER))
        config.set_main_option("path_separator", "os")
        config.attributes.update(connection=connection, metadata=metadata)
        command.upgrade(config, wanted)


def schema_revision(database: Database) -> str | None:
    with database.raw_writer() as connection:
        return _revision(connection)


def _revision(connection: sa.Connection) -> str | None:
    """What Alembic noted when it ran last."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(
        sa.text("SELECT version_num FROM alembic_version")
    ).scalar()
    return found


def latest_revision() -> str:
    known = _revisions()
    (head,) = known.keys() - known.values()
    return head


@cache
def _revisions() -> dict[str, str | None]:
    """Each migration and the one it follows, read once: they do not change while a process runs."""
    texts = (path.read_text() for path in (_FOLDER / "versions").glob("*.py"))
    named = [dict(_NAMES.findall(text)) for text in texts]
    return {each["revision"]: each.get("down_revision") for each in named}


def knows_revision(revision: str | None) -> bool:
    """False for data that a newer version of Steward wrote."""
    return revision is None or revision in _revisions()


def _refuse_unknown(revision: str | None) -> None:
    if not knows_revision(revision):
        raise Misconfigured(
            f"The data is at schema {revision!r}, which this version of Steward does not know: "
            "a newer version wrote it. Use that version, or restore a backup made by this one."
        )
