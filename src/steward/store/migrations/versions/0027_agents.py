"""Agents that projects compose, in versions."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "agent_versions",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("call", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", "version", name="pk_agent_versions"),
    )
    op.create_index("ix_agent_versions_project_id", "agent_versions", ["project_id"], unique=False)
    op.create_index(
        "ix_agent_versions_call", "agent_versions", ["project_id", "call"], unique=False
    )
