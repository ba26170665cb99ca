"""Playbooks and their revisions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0009"
down_revision = "0008"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "playbooks",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("slug", sa.String(length=120), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("folder", sa.String(length=200), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("head", sa.Integer(), nullable=False),
        sa.Column("deployed", sa.Integer(), nullable=True),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("allowed", _JSON, nullable=False),
        sa.Column("armed", _JSON, nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_playbooks"),
        sa.UniqueConstraint("project_id", "slug", name="uq_playbooks_project_id_slug"),
    )
    op.create_index("ix_playbooks_project_id", "playbooks", ["project_id"], unique=False)
    op.create_index(
        "ix_playbooks_project_id_name", "playbooks", ["project_id", "name"], unique=False
    )
    op.create_table(
        "playbook_revisions",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("playbook_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["playbook_id"], ["playbooks.id"], name="fk_playbook_revisions_playbook_id"
        ),
        sa.PrimaryKeyConstraint("playbook_id", "number", name="pk_playbook_revisions"),
    )
    op.create_index(
        "ix_playbook_revisions_project_id", "playbook_revisions", ["project_id"], unique=False
    )
