"""Deployments of playbooks: which revision, with what around it, and who said why."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required, scope_columns

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "playbook_deployments",
        *scope_columns(),
        sa.Column("playbook_id", sa.String(40), sa.ForeignKey("playbooks.id"), nullable=False),
        *required(sa.Integer, "number", "revision"),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("of", sa.Integer),
        sa.Column("hash", sa.String(64), nullable=False),
        *required(Json, "pins", "checks"),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("offered", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("playbook_id", "number"),
    )
