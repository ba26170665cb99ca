"""Who has a playbook open."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required, scope_columns

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "playbook_presence",
        *scope_columns(),
        *required(sa.String(40), "playbook_id", "user_id"),
        sa.Column("is_editing", sa.Boolean, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("playbook_id", "user_id"),
        sa.ForeignKeyConstraint(["playbook_id"], ["playbooks.id"]),
    )
