"""Installed services of the catalogue, and what people decided about their operations."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required, scope_columns

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "catalogue_services",
        *scope_columns(),
        sa.Column("name", sa.String(80), nullable=False),
        *required(sa.String(100), "title", "vendor"),
        sa.Column("adapter", sa.String(20), nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("licence", sa.String(100), nullable=False),
        sa.Column("source", sa.String(600), nullable=False),
        *required(sa.String(64), "sha256", "record_digest"),
        sa.Column("operations", sa.Integer, nullable=False),
        sa.Column("installed_by", sa.String(40), nullable=False),
        *required(sa.BigInteger, "installed_at", "updated_at"),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("tried_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("project_id", "name"),
    )
    op.create_table(
        "catalogue_operations",
        *scope_columns(),
        sa.Column("service", sa.String(80), nullable=False),
        *required(sa.String(64), "operation", "hash"),
        sa.Column("offered", sa.Integer, nullable=False),
        sa.Column("roles", Json),
        sa.Column("risk", sa.String(20)),
        sa.Column("risk_reason", sa.String(400)),
        sa.Column("answer", Json),
        sa.Column("changed_by", sa.String(40), nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "service", "operation"),
    )
