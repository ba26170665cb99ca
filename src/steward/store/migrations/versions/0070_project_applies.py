"""What was applied to projects from folders."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0070"
down_revision = "0060"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "project_applies",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("call", sa.String(length=100), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("hashes", _JSON, nullable=False),
        sa.Column("replaced", _JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "number", name="pk_project_applies"),
    )
    op.create_index(
        "ix_project_applies_project_id", "project_applies", ["project_id"], unique=False
    )
    op.create_index(
        "ix_project_applies_call", "project_applies", ["project_id", "call"], unique=True
    )
