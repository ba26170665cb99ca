"""What has been found out about versions."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, scope_columns

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "analyses",
        *scope_columns(),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("result", Json, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "kind", "subject"),
    )
