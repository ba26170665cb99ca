"""What agents remember between runs."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.create_table(
        "agent_notes",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("agent", sa.String(length=60), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(length=2_000), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("call", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("deleting_call", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agent_notes"),
        sa.UniqueConstraint(
            "project_id",
            "agent",
            "person",
            "number",
            name="uq_agent_notes_project_id_agent_person_number",
        ),
    )
    op.create_index("ix_agent_notes_project_id", "agent_notes", ["project_id"], unique=False)
    op.create_index("ix_agent_notes_call", "agent_notes", ["project_id", "call"], unique=False)
