"""How long projects keep their records, and legal holds."""

import sqlalchemy as sa
from alembic import op

revision = "0120"
down_revision = "0100"


def upgrade() -> None:
    op.create_table(
        "retention_rules",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("runs", sa.Integer),
        sa.Column("versions", sa.Integer),
        sa.Column("events", sa.Integer),
        sa.Column("audit", sa.Integer),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("project_id", name="pk_retention_rules"),
    )
    op.create_table(
        "legal_holds",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.Column("placed_by", sa.String(40), nullable=False),
        sa.Column("placed_at", sa.BigInteger, nullable=False),
        sa.Column("lift_reason", sa.String(1000)),
        sa.Column("lifted_by", sa.String(40)),
        sa.Column("lifted_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_legal_holds"),
    )
    op.create_index("ix_legal_holds_project_id", "legal_holds", ["project_id"])
    op.create_index(
        "ix_legal_holds_project_id_lifted_at", "legal_holds", ["project_id", "lifted_at"]
    )


def downgrade() -> None:
    op.drop_table("legal_holds")
    op.drop_table("retention_rules")
