"""What was applied to projects from folders."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required, scope_columns

revision = "0070"
down_revision = "0060"


def upgrade() -> None:
    op.create_table(
        "project_applies",
        *scope_columns(),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("call", sa.String(100), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        *required(Json, "hashes", "replaced"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "number"),
        sa.Index("ix_project_applies_call", "project_id", "call", unique=True),
    )
