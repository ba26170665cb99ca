"""Connections, their checks, the tools of MCP servers, proposals that nobody wants."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "connection_checks",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("connection_id", sa.String(40), nullable=False, index=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("worked", sa.Integer, nullable=False),
        sa.Column("words", sa.String(600), nullable=False),
        sa.Column("code", sa.String(60), nullable=False),
        sa.Column("milliseconds", sa.Integer, nullable=False),
        sa.Column("checked_by", sa.String(40), nullable=False),
    )
    op.create_table(
        "connection_dismissals",
        *scope_columns(),
        sa.Column("proposal_id", sa.String(64), nullable=False),
        sa.Column("dismissed_by", sa.String(40), nullable=False),
        sa.Column("dismissed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "proposal_id"),
    )
    op.create_table(
        "connection_tools",
        *scope_columns(),
        sa.Column("connection_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        *optional(Json, "seen", "accepted"),
        sa.Column("risk", sa.String(20)),
        sa.Column("accepted_by", sa.String(40)),
        sa.Column("accepted_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("project_id", "connection_id", "name"),
    )
    op.create_table(
        "connections",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        *required(Json, "settings", "secrets"),
        sa.Column("scope_hint", sa.String(400), nullable=False),
        sa.Column("accepted_program", sa.String(64)),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("checked_at", sa.BigInteger),
        sa.Column("created_by", sa.String(40), nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
    )
    op.create_index(
        "uq_connections_project_id_name",
        "connections",
        ["project_id", "name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
