"""The broker: approvals, policies, groups, settings, budgets; commits that name their effect."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "approver_groups",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("members", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", name="pk_approver_groups"),
    )
    op.create_index(
        "ix_approver_groups_project_id", "approver_groups", ["project_id"], unique=False
    )
    op.create_table(
        "broker_settings",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("safe_mode", sa.Integer(), nullable=False),
        sa.Column("tools", _JSON, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", name="pk_broker_settings"),
    )
    op.create_index(
        "ix_broker_settings_project_id", "broker_settings", ["project_id"], unique=False
    )
    op.create_table(
        "budget_entries",
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("estimate", _JSON, nullable=False),
        sa.Column("actual", _JSON, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "key", name="pk_budget_entries"),
    )
    op.create_index("ix_budget_entries_project_id", "budget_entries", ["project_id"], unique=False)
    op.create_table(
        "budgets",
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("ancestors", _JSON, nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("limit_usd", sa.BigInteger(), nullable=True),
        sa.Column("limit_tokens", sa.BigInteger(), nullable=True),
        sa.Column("limit_rows", sa.BigInteger(), nullable=True),
        sa.Column("limit_bytes", sa.BigInteger(), nullable=True),
        sa.Column("reserved_usd", sa.BigInteger(), nullable=False),
        sa.Column("reserved_tokens", sa.BigInteger(), nullable=False),
        sa.Column("reserved_rows", sa.BigInteger(), nullable=False),
        sa.Column("reserved_bytes", sa.BigInteger(), nullable=False),
        sa.Column("spent_usd", sa.BigInteger(), nullable=False),
        sa.Column("spent_tokens", sa.BigInteger(), nullable=False),
        sa.Column("spent_rows", sa.BigInteger(), nullable=False),
        sa.Column("spent_bytes", sa.BigInteger(), nullable=False),
        sa.Column("limit_time", sa.BigInteger(), nullable=True),
        sa.Column("spent_time", sa.BigInteger(), nullable=False),
        sa.Column("open_calls", sa.Integer(), nullable=False),
        sa.Column("busy_since", sa.BigInteger(), nullable=True),
        sa.Column("busy_time", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_budgets"),
    )
    op.create_index("ix_budgets_project_id", "budgets", ["project_id"], unique=False)
    op.create_table(
        "organisation_policies",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "revision", name="pk_organisation_policies"),
    )
    op.create_table(
        "policies",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("preset", sa.String(length=40), nullable=True),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "subject", "revision", name="pk_policies"),
    )
    op.create_index("ix_policies_project_id", "policies", ["project_id"], unique=False)
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("wait_key", sa.String(length=400), nullable=False),
        sa.Column("tool", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("risk", sa.String(length=20), nullable=False),
        sa.Column("body", _JSON, nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("asked_body", _JSON, nullable=True),
        sa.Column("preview", _JSON, nullable=True),
        sa.Column("provenance", _JSON, nullable=False),
        sa.Column("rules", _JSON, nullable=False),
        sa.Column("approvers", _JSON, nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("extent", sa.String(length=10), nullable=False),
        sa.Column("batch", _JSON, nullable=True),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("requested_by", sa.String(length=40), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("delegated_to", sa.String(length=40), nullable=True),
        sa.Column("decided_by", sa.String(length=40), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("decision_reason", sa.String(length=1000), nullable=True),
        sa.Column("used_by", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_approvals_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        sa.UniqueConstraint("run_id", "wait_key", name="uq_approvals_run_id_wait_key"),
    )
    op.create_index("ix_approvals_project_id", "approvals", ["project_id"], unique=False)
    op.create_index(
        "ix_approvals_project_id_status",
        "approvals",
        ["project_id", "status", "expires_at"],
        unique=False,
    )
    op.add_column("data_commits", sa.Column("ticket", sa.String(length=64), nullable=True))
    op.create_index("ix_data_commits_ticket", "data_commits", ["ticket"], unique=False)
