"""Drafts of people: what they have changed in a flow and not saved."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required, scope_columns

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.create_table(
        "playbook_drafts",
        *scope_columns(),
        *required(sa.String(40), "about", "user_id"),
        sa.Column("text", sa.Text, nullable=False),
        *required(Json, "layout", "base"),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "about", "user_id"),
    )
