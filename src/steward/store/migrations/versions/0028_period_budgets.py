"""Budgets per day, week or month of projects, flows, agents and people."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0028"
down_revision = "0027"
_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "period_budgets",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("period", sa.String(length=10), nullable=False),
        sa.Column("limit_usd", sa.BigInteger(), nullable=True),
        sa.Column("limit_tokens", sa.BigInteger(), nullable=True),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_period_budgets"),
        sa.UniqueConstraint(
            "project_id",
            "kind",
            "name",
            "period",
            name="uq_period_budgets_project_id_kind_name_period",
        ),
    )
    op.create_index("ix_period_budgets_project_id", "period_budgets", ["project_id"], unique=False)
    op.create_table(
        "period_budget_uses",
        sa.Column("budget_id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("reserved_usd", sa.BigInteger(), nullable=False),
        sa.Column("reserved_tokens", sa.BigInteger(), nullable=False),
        sa.Column("spent_usd", sa.BigInteger(), nullable=False),
        sa.Column("spent_tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("budget_id", "start", name="pk_period_budget_uses"),
    )
    op.create_index(
        "ix_period_budget_uses_project_id", "period_budget_uses", ["project_id"], unique=False
    )
    op.add_column(
        "budget_entries",
        sa.Column("agent", sa.String(length=200), nullable=False, server_default=""),
    )
    op.add_column("budget_entries", sa.Column("drawn", _JSON, nullable=True))
