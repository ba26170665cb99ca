"""Installed services of the catalogue, and what people decided about their operations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0022"
down_revision = "0021"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "catalogue_services",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("title", sa.String(100), nullable=False),
        sa.Column("vendor", sa.String(100), nullable=False),
        sa.Column("adapter", sa.String(20), nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("licence", sa.String(100), nullable=False),
        sa.Column("source", sa.String(600), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("record_digest", sa.String(64), nullable=False),
        sa.Column("operations", sa.Integer(), nullable=False),
        sa.Column("installed_by", sa.String(40), nullable=False),
        sa.Column("installed_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("tried_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("project_id", "name", name="pk_catalogue_services"),
    )
    op.create_index("ix_catalogue_services_project_id", "catalogue_services", ["project_id"])
    op.create_table(
        "catalogue_operations",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("service", sa.String(80), nullable=False),
        sa.Column("operation", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("offered", sa.Integer(), nullable=False),
        sa.Column("roles", _JSON),
        sa.Column("risk", sa.String(20)),
        sa.Column("risk_reason", sa.String(400)),
        sa.Column("answer", _JSON),
        sa.Column("changed_by", sa.String(40), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "project_id", "service", "operation", name="pk_catalogue_operations"
        ),
    )
    op.create_index("ix_catalogue_operations_project_id", "catalogue_operations", ["project_id"])
