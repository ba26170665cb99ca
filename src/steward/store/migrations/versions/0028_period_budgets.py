"""Budgets per day, week or month of projects, flows, agents and people."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.create_table(
        "period_budgets",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("period", sa.String(10), nullable=False),
        *optional(sa.BigInteger, "limit_usd", "limit_tokens"),
        sa.Column("author", sa.String(40), nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.UniqueConstraint("project_id", "kind", "name", "period"),
    )
    op.create_table(
        "period_budget_uses",
        sa.Column("budget_id", sa.String(40), nullable=False),
        *scope_columns(),
        *required(
            sa.BigInteger, "start", "reserved_usd", "reserved_tokens", "spent_usd", "spent_tokens"
        ),
        sa.PrimaryKeyConstraint("budget_id", "start"),
    )
    op.add_column(
        "budget_entries",
        sa.Column("agent", sa.String(200), nullable=False, server_default=""),
    )
    op.add_column("budget_entries", sa.Column("drawn", Json))
