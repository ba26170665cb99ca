"""Shadow runs: a version that runs beside the deployed one without effects, and what differs."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required, scope_columns

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.create_table(
        "playbook_shadows",
        *scope_columns(),
        sa.Column("playbook_id", sa.String(40), sa.ForeignKey("playbooks.id"), primary_key=True),
        *required(sa.Integer, "deployment", "percent"),
        sa.Column("spend", sa.Boolean, nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_table(
        "playbook_shadow_runs",
        *scope_columns(),
        *required(sa.String(40), "live_id", "playbook_id"),
        sa.Column("deployment", sa.Integer, nullable=False),
        sa.Column("shadow_id", sa.String(40)),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("equal", sa.Boolean),
        sa.Column("found", Json),
        sa.Column("live_ended_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("live_id", "deployment"),
        sa.ForeignKeyConstraint(["playbook_id"], ["playbooks.id"]),
        sa.Index("ix_playbook_shadow_runs_playbook_id_state", "playbook_id", "deployment", "state"),
    )
