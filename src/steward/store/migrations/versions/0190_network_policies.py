"""Network policies of projects and organisations."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0190"
down_revision = "0170"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def _columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("rules", _JSON, nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("call", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    ]


def upgrade() -> None:
    op.create_table(
        "network_policies",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False, index=True),
        *_columns(),
        sa.PrimaryKeyConstraint("project_id", "revision", name="pk_network_policies"),
    )
    op.create_table(
        "organisation_network_policies",
        sa.Column("org_id", sa.String(40), nullable=False),
        *_columns(),
        sa.PrimaryKeyConstraint("org_id", "revision", name="pk_organisation_network_policies"),
    )


def downgrade() -> None:
    op.drop_table("organisation_network_policies")
    op.drop_table("network_policies")
