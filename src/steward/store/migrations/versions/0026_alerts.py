"""Alert rules, what is muted or the new normal, alerts with their history, and when each project is looked at next."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0026"
down_revision = "0025"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def _scope() -> tuple[sa.Column[str], sa.Column[str]]:
    return (
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
    )


def upgrade() -> None:
    op.create_table(
        "alert_rules",
        sa.Column("id", sa.String(40), nullable=False),
        *_scope(),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("token_role", sa.String(20), nullable=True),
        sa.Column("checked_hour", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_rules"),
    )
    op.create_table(
        "alert_causes",
        *_scope(),
        sa.Column("rule_id", sa.String(40), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        sa.Column("muted_until", sa.BigInteger(), nullable=True),
        sa.Column("normal_since", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "rule_id", "flow", name="pk_alert_causes"),
    )
    op.create_table(
        "alerts",
        sa.Column("id", sa.String(40), nullable=False),
        *_scope(),
        sa.Column("rule_id", sa.String(40), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        sa.Column("cause", sa.String(300), nullable=True),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("rule", _JSON, nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("figures", _JSON, nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("acknowledged_at", sa.BigInteger(), nullable=True),
        sa.Column("acknowledged_by", sa.String(40), nullable=True),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        sa.Column("resolved_why", sa.String(20), nullable=True),
        sa.Column("notified", sa.String(12), nullable=False),
        sa.Column("sends", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
        sa.UniqueConstraint("cause", name="uq_alerts_cause"),
    )
    op.create_index("ix_alerts_project_id_state", "alerts", ["project_id", "state"])
    op.create_index("ix_alerts_rule_id", "alerts", ["rule_id"])
    op.create_table(
        "alert_rounds",
        *_scope(),
        sa.Column("next_at", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", name="pk_alert_rounds"),
    )
    op.create_index("ix_alert_rounds_next_at", "alert_rounds", ["next_at"])
    for table in ("alert_rules", "alert_causes", "alerts", "alert_rounds"):
        op.create_index(f"ix_{table}_project_id", table, ["project_id"])
