"""Workers that say they are there."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("queues", sa.String(100), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("holder", name="pk_workers"),
    )
