"""Agents that projects compose, in versions."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import scope_columns

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "agent_versions",
        *scope_columns(),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("call", sa.String(100), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", "version"),
        sa.Index("ix_agent_versions_call", "project_id", "call"),
    )
