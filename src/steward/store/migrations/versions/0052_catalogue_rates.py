"""When the last requests of each connection went out."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, scope_columns

revision = "0052"
down_revision = "0049"


def upgrade() -> None:
    op.create_table(
        "catalogue_rates",
        *scope_columns(),
        sa.Column("connection_id", sa.String(40), nullable=False),
        sa.Column("moments", Json, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "connection_id"),
    )
