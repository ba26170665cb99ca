"""Approvals say who asked, who edited, whose groups count, and under which rules."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    for column in (
        sa.Column(
            "four_eyes",
            sa.Boolean(create_constraint=False),
            nullable=False,
            server_default=sa.false(),
        ),
        sa.Column("askers", Json, nullable=False, server_default="[]"),
        sa.Column("edited_by", sa.String(40)),
        sa.Column("policy", sa.String(64), nullable=False, server_default=""),
        sa.Column("delegated_by", sa.String(40)),
    ):
        op.add_column("approvals", column)
