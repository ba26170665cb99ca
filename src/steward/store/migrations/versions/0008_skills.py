"""Skills of a project and their versions."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required, scope_columns

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "skill_versions",
        *scope_columns(),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        *required(sa.String(64), "digest", "bundle"),
        sa.Column("description", sa.String(1024), nullable=False),
        sa.Column("files", Json, nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", "version"),
    )
    op.create_table(
        "skills",
        *scope_columns(),
        sa.Column("name", sa.String(64), nullable=False),
        *required(sa.Integer, "version", "enabled", "revision"),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.String(40), nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("project_id", "name"),
    )
