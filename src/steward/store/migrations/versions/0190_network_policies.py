"""Network policies of projects and organisations."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json

revision = "0190"
down_revision = "0170"


def _columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("rules", Json, nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("call", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    ]


def upgrade() -> None:
    op.create_table(
        "network_policies",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False, index=True),
        sa.PrimaryKeyConstraint("project_id", "revision"),
        *_columns(),
    )
    op.create_table(
        "organisation_network_policies",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "revision"),
        *_columns(),
    )


def downgrade() -> None:
    op.drop_table("organisation_network_policies")
    op.drop_table("network_policies")
