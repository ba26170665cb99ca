"""Queries that people keep in a project under names."""

import sqlalchemy as sa
from alembic import op

revision = "0170"
down_revision = "0150"


def upgrade() -> None:
    op.create_table(
        "saved_queries",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False, index=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint(
            "project_id", "user_id", "name", name="uq_saved_queries_project_id_user_id_name"
        ),
    )


def downgrade() -> None:
    op.drop_table("saved_queries")
