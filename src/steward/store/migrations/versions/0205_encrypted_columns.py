"""Versions that hold plain values of columns that were encrypted since."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0205"
down_revision = "0200"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "data_seals",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("version_id", sa.String(64), nullable=False),
        sa.Column("dataset", sa.String(500), nullable=False),
        sa.Column("columns", _JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "version_id", "dataset", name="pk_data_seals"),
    )
    op.create_index("ix_data_seals_project_id", "data_seals", ["project_id"])


def downgrade() -> None:
    op.drop_table("data_seals")
