"""What agents remember between runs."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required, scope_columns

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.create_table(
        "agent_notes",
        *scope_columns(),
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("agent", sa.String(60), nullable=False),
        sa.Column("person", sa.String(40), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.String(2000), nullable=False),
        *required(sa.String(40), "author", "run_id"),
        sa.Column("call", sa.String(100), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
        sa.Column("deleting_call", sa.String(100), nullable=False),
        sa.UniqueConstraint("project_id", "agent", "person", "number"),
        sa.Index("ix_agent_notes_call", "project_id", "call"),
    )
