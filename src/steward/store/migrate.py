"""Migrations: forward at each start, one process at a time; back for the version before, when somebody asks for it."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from steward.core import Invalid, Misconfigured
from steward.store.database import Database
from steward.store.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config

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
    _take_turns(connection)
    current = _revision(connection)
    wanted = revision or latest_revision()
    _refuse_unknown(current)
    _refuse_unknown(wanted)
    if current != wanted:
        # Most starts find everything up to date, and are quicker without it.
        from alembic import command

        command.upgrade(_config(connection), wanted)


@dataclass(frozen=True)
class Downgraded:
    """A schema that went back, and what went with it."""

    before: str
    after: str
    tables: tuple[str, ...]


def downgrade(database: Database, revision: str | None = None) -> Downgraded:
    """Takes the schema back to a revision, or by one; what only newer tables and columns hold is lost."""
    from alembic import command

    with database.raw_writer() as connection, connection.begin():
        _take_turns(connection)
        current = _revision(connection)
        _refuse_unknown(current)
        if current is None:
            raise Invalid("The database is empty: there is nothing to take back.")
        wanted = revision or _revisions()[current]
        _refuse_steps_without_return(current, wanted)
        before = set(sa.inspect(connection).get_table_names())
        command.downgrade(_config(connection), str(wanted))
        after = set(sa.inspect(connection).get_table_names())
        return Downgraded(current, str(wanted), tuple(sorted(before - after)))


def _refuse_steps_without_return(current: str, wanted: str | None) -> None:
    steps: list[str] = []
    step: str | None = current
    while step and step != wanted:
        steps.append(step)
        step = _revisions()[step]
    if step is None:
        raise Invalid(f"Schema {wanted!r} is none that came before {current!r}.")
    for each in steps:
        (file,) = (_FOLDER / "versions").glob(f"{each}_*.py")
        if "def downgrade" not in file.read_text():
            raise Invalid(
                f"The step to schema {each!r} cannot be taken back. Restore a backup made before it."
            )


def _config(connection: sa.Connection) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("path_separator", "os")
    config.attributes.update(connection=connection, metadata=metadata)
    return config


def _take_turns(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


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
            f"a newer version wrote it. Use that version, or let it run 'steward downgrade {latest_revision()}'."
        )
