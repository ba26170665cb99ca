"""Plug-ins that were installed."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.create_table(
        "plugins",
        *required(sa.String(64), "sha256", "name", "version"),
        sa.Column("wheel_digest", sa.String(64)),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("declared", Json, nullable=False),
        sa.Column("rights", sa.Integer, nullable=False),
        sa.Column("installed_by", sa.String(40), nullable=False),
        sa.Column("installed_at", sa.BigInteger, nullable=False),
        sa.Column("changed_by", sa.String(40), nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
        sa.Index(None, "name"),
    )
