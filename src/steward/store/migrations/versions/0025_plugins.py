"""Plug-ins that were installed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0025"
down_revision = "0024"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "plugins",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("wheel_digest", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("declared", _JSON, nullable=False),
        sa.Column("rights", sa.Integer(), nullable=False),
        sa.Column("installed_by", sa.String(length=40), nullable=False),
        sa.Column("installed_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_by", sa.String(length=40), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_plugins"),
    )
    op.create_index("ix_plugins_name", "plugins", ["name"], unique=False)
