"""Versions that hold plain values of columns that were encrypted since."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from steward.store.tables import required

revision = "0205"
down_revision = "0200"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "data_seals",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("version_id", sa.String(64), nullable=False),
        sa.Column("dataset", sa.String(500), nullable=False),
        sa.Column("columns", _JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "version_id", "dataset", name="pk_data_seals"),
    )
    op.create_index("ix_data_seals_project_id", "data_seals", ["project_id"])


def downgrade() -> None:
    op.drop_table("data_seals")
