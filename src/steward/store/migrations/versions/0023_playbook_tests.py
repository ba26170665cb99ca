"""Tests that playbooks keep: inputs, what stands in for effects, and what must come out."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required, scope_columns

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_table(
        "playbook_tests",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column(
            "playbook_id", sa.String(40), sa.ForeignKey("playbooks.id"), nullable=False, index=True
        ),
        sa.Column("name", sa.String(200), nullable=False),
        *required(Json, "inputs", "rehearsal", "expected"),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
