"""How long projects keep their records, and legal holds."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import id_column, optional, required, scope_columns

revision = "0120"
down_revision = "0100"


def upgrade() -> None:
    op.create_table(
        "retention_rules",
        *required(sa.String(40), "org_id", "project_id"),
        *optional(sa.Integer, "runs", "versions", "events", "audit"),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("project_id"),
    )
    op.create_table(
        "legal_holds",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.Column("placed_by", sa.String(40), nullable=False),
        sa.Column("placed_at", sa.BigInteger, nullable=False),
        sa.Column("lift_reason", sa.String(1000)),
        sa.Column("lifted_by", sa.String(40)),
        sa.Column("lifted_at", sa.BigInteger),
        sa.Index(None, "project_id", "lifted_at"),
    )


def downgrade() -> None:
    op.drop_table("legal_holds")
    op.drop_table("retention_rules")
