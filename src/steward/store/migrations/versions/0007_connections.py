"""Connections, their checks, the tools of MCP servers, proposals that nobody wants."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "connection_checks",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("connection_id", sa.String(length=40), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("worked", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(length=600), nullable=False),
        sa.Column("code", sa.String(length=60), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("checked_by", sa.String(length=40), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_connection_checks"),
    )
    op.create_index(
        "ix_connection_checks_connection_id", "connection_checks", ["connection_id"], unique=False
    )
    op.create_index(
        "ix_connection_checks_project_id", "connection_checks", ["project_id"], unique=False
    )
    op.create_table(
        "connection_dismissals",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("proposal_id", sa.String(length=64), nullable=False),
        sa.Column("dismissed_by", sa.String(length=40), nullable=False),
        sa.Column("dismissed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "proposal_id", name="pk_connection_dismissals"),
    )
    op.create_index(
        "ix_connection_dismissals_project_id", "connection_dismissals", ["project_id"], unique=False
    )
    op.create_table(
        "connection_tools",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("connection_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("seen", _JSON, nullable=True),
        sa.Column("accepted", _JSON, nullable=True),
        sa.Column("risk", sa.String(length=20), nullable=True),
        sa.Column("accepted_by", sa.String(length=40), nullable=True),
        sa.Column("accepted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "connection_id", "name", name="pk_connection_tools"),
    )
    op.create_index(
        "ix_connection_tools_project_id", "connection_tools", ["project_id"], unique=False
    )
    op.create_table(
        "connections",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=50), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("settings", _JSON, nullable=False),
        sa.Column("secrets", _JSON, nullable=False),
        sa.Column("scope_hint", sa.String(length=400), nullable=False),
        sa.Column("accepted_program", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("checked_at", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_connections"),
    )
    op.create_index("ix_connections_project_id", "connections", ["project_id"], unique=False)
    op.create_index(
        "uq_connections_project_id_name",
        "connections",
        ["project_id", "name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
