"""The broker: approvals, policies, groups, settings, budgets; commits that name their effect."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "approver_groups",
        *scope_columns(),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("members", Json, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name"),
    )
    op.create_table(
        "broker_settings",
        *scope_columns(),
        sa.Column("safe_mode", sa.Integer, nullable=False),
        sa.Column("tools", Json, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("project_id"),
    )
    op.create_table(
        "budget_entries",
        sa.Column("run_id", sa.String(40), nullable=False),
        *scope_columns(),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("estimate", Json, nullable=False),
        sa.Column("actual", Json),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_table(
        "budgets",
        sa.Column("run_id", sa.String(40), primary_key=True),
        *scope_columns(),
        sa.Column("ancestors", Json, nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        *optional(sa.BigInteger, "limit_usd", "limit_tokens", "limit_rows", "limit_bytes"),
        *required(
            sa.BigInteger,
            "reserved_usd",
            "reserved_tokens",
            "reserved_rows",
            "reserved_bytes",
            "spent_usd",
            "spent_tokens",
            "spent_rows",
            "spent_bytes",
        ),
        sa.Column("limit_time", sa.BigInteger),
        sa.Column("spent_time", sa.BigInteger, nullable=False),
        sa.Column("open_calls", sa.Integer, nullable=False),
        sa.Column("busy_since", sa.BigInteger),
        sa.Column("busy_time", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "organisation_policies",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("org_id", "revision"),
    )
    op.create_table(
        "policies",
        *scope_columns(),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("preset", sa.String(40)),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "subject", "revision"),
    )
    op.create_table(
        "approvals",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("wait_key", sa.String(400), nullable=False),
        sa.Column("tool", sa.String(100), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("risk", sa.String(20), nullable=False),
        sa.Column("body", Json, nullable=False),
        sa.Column("body_hash", sa.String(64), nullable=False),
        *optional(Json, "asked_body", "preview"),
        *required(Json, "provenance", "rules", "approvers"),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.Column("extent", sa.String(10), nullable=False),
        sa.Column("batch", Json),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("requested_by", sa.String(40), nullable=False),
        *required(sa.BigInteger, "requested_at", "expires_at"),
        *optional(sa.String(40), "delegated_to", "decided_by"),
        sa.Column("decided_at", sa.BigInteger),
        sa.Column("decision_reason", sa.String(1000)),
        sa.Column("used_by", sa.String(64)),
        sa.UniqueConstraint("run_id", "wait_key"),
        sa.Index("ix_approvals_project_id_status", "project_id", "status", "expires_at"),
    )
    op.add_column("data_commits", sa.Column("ticket", sa.String(64)))
    op.create_index("ix_data_commits_ticket", "data_commits", ["ticket"], unique=False)
