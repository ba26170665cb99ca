"""The table of plug-ins: every wheel that was installed, and what became of it."""

from sqlalchemy import Column, Integer, String, Table

from steward.store import Json, Moment, metadata

# Of no project: what runs on the machine is the same for all.
plugins = Table(
    "plugins",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("name", String(64), nullable=False, index=True),
    Column("version", String(64), nullable=False),
    # The wheel as a blob; None once it was removed.
    Column("wheel_digest", String(64), nullable=True),
    Column("state", String(12), nullable=False),
    # What it declared when a person agreed to it.
    Column("declared", Json, nullable=False),
    # Whether a person agreed that its code runs with the server's rights.
    Column("rights", Integer, nullable=False),
    Column("installed_by", String(40), nullable=False),
    Column("installed_at", Moment, nullable=False),
    Column("changed_by", String(40), nullable=False),
    Column("changed_at", Moment, nullable=False),
)
