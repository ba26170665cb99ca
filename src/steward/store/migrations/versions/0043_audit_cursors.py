"""How far each stream of the event log got."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required, scope_columns

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.create_table(
        "audit_cursors",
        *scope_columns(),
        sa.Column("stream", sa.String(40), nullable=False),
        *required(sa.BigInteger, "cursor", "epoch"),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("stream", "project_id"),
    )
