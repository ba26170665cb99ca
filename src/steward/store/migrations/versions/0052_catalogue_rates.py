"""When the last requests of each connection went out."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0052"
down_revision = "0049"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "catalogue_rates",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("connection_id", sa.String(length=40), nullable=False),
        sa.Column("moments", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "connection_id", name="pk_catalogue_rates"),
    )
    op.create_index(
        "ix_catalogue_rates_project_id", "catalogue_rates", ["project_id"], unique=False
    )
