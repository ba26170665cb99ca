"""Shadow runs: a version that runs beside the deployed one without effects, and what differs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0031"
down_revision = "0030"
_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "playbook_shadows",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("playbook_id", sa.String(length=40), nullable=False),
        sa.Column("deployment", sa.Integer(), nullable=False),
        sa.Column("percent", sa.Integer(), nullable=False),
        sa.Column("spend", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["playbook_id"], ["playbooks.id"], name="fk_playbook_shadows_playbook_id"
        ),
        sa.PrimaryKeyConstraint("playbook_id", name="pk_playbook_shadows"),
    )
    op.create_index(
        "ix_playbook_shadows_project_id", "playbook_shadows", ["project_id"], unique=False
    )
    op.create_table(
        "playbook_shadow_runs",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("live_id", sa.String(length=40), nullable=False),
        sa.Column("playbook_id", sa.String(length=40), nullable=False),
        sa.Column("deployment", sa.Integer(), nullable=False),
        sa.Column("shadow_id", sa.String(length=40), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("equal", sa.Boolean(create_constraint=False), nullable=True),
        sa.Column("found", _JSON, nullable=True),
        sa.Column("live_ended_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["playbook_id"], ["playbooks.id"], name="fk_playbook_shadow_runs_playbook_id"
        ),
        sa.PrimaryKeyConstraint("live_id", "deployment", name="pk_playbook_shadow_runs"),
    )
    op.create_index(
        "ix_playbook_shadow_runs_playbook_id_state",
        "playbook_shadow_runs",
        ["playbook_id", "deployment", "state"],
        unique=False,
    )
    op.create_index(
        "ix_playbook_shadow_runs_project_id", "playbook_shadow_runs", ["project_id"], unique=False
    )
