"""Definitions of projects, one row per revision."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, scope_columns

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "definition_revisions",
        *scope_columns(),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("call", sa.String(100), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "revision"),
    )
