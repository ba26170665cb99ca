"""Playbooks and their revisions."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required, scope_columns

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "playbooks",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("slug", sa.String(120), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("folder", sa.String(200), nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("head", sa.Integer, nullable=False),
        sa.Column("deployed", sa.Integer),
        sa.Column("owner", sa.String(40), nullable=False),
        *required(Json, "allowed", "armed"),
        sa.Column("created_by", sa.String(40), nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("deleted_at", sa.BigInteger),
        sa.Column("version", sa.Integer, nullable=False),
        sa.UniqueConstraint("project_id", "slug"),
        sa.Index(None, "project_id", "name"),
    )
    op.create_table(
        "playbook_revisions",
        *scope_columns(),
        sa.Column("playbook_id", sa.String(40), sa.ForeignKey("playbooks.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("playbook_id", "number"),
    )
