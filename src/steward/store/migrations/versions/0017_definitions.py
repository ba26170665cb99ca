"""Definitions of projects, one row per revision."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0017"
down_revision = "0016"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "definition_revisions",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("call", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "revision", name="pk_definition_revisions"),
    )
    op.create_index(
        "ix_definition_revisions_project_id", "definition_revisions", ["project_id"], unique=False
    )
