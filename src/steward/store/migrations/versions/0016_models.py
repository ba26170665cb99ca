"""Models that people set up, and what servers turned out to be able to do."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0016"
down_revision = "0015"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "model_setups",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("message", sa.String(length=400), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "revision", name="pk_model_setups"),
    )
    op.create_index("ix_model_setups_project_id", "model_setups", ["project_id"], unique=False)
    op.create_table(
        "model_abilities",
        sa.Column("server", sa.String(length=64), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("learned_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("server", name="pk_model_abilities"),
    )
