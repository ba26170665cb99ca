"""Approvals say who asked, who edited, whose groups count, and under which rules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0012"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    for column in (
        sa.Column(
            "four_eyes",
            sa.Boolean(create_constraint=False),
            nullable=False,
            server_default=sa.false(),
        ),
        sa.Column("askers", _JSON, nullable=False, server_default="[]"),
        sa.Column("edited_by", sa.String(length=40), nullable=True),
        sa.Column("policy", sa.String(length=64), nullable=False, server_default=""),
        sa.Column("delegated_by", sa.String(length=40), nullable=True),
    ):
        op.add_column("approvals", column)
