"""Deployments of playbooks: which revision, with what around it, and who said why."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0019"
down_revision = "0018"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "playbook_deployments",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("playbook_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("of", sa.Integer(), nullable=True),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("pins", _JSON, nullable=False),
        sa.Column("checks", _JSON, nullable=False),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("offered", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["playbook_id"], ["playbooks.id"], name="fk_playbook_deployments_playbook_id"
        ),
        sa.PrimaryKeyConstraint("playbook_id", "number", name="pk_playbook_deployments"),
    )
    op.create_index(
        "ix_playbook_deployments_project_id", "playbook_deployments", ["project_id"], unique=False
    )
