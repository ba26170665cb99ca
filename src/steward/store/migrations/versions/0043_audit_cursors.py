"""How far each stream of the event log got."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.create_table(
        "audit_cursors",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("stream", sa.String(40), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "project_id", name="pk_audit_cursors"),
    )
    op.create_index("ix_audit_cursors_project_id", "audit_cursors", ["project_id"])
