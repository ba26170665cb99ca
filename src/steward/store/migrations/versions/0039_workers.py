"""Workers that say they are there."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required

revision = "0039"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("holder", sa.String(80), primary_key=True),
        sa.Column("queues", sa.String(100), nullable=False),
        sa.Column("concurrency", sa.Integer, nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        *required(sa.BigInteger, "started_at", "seen_at"),
    )
