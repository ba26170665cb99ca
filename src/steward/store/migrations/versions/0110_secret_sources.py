"""Secrets whose values stay elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0110"
down_revision = "0080"


def upgrade() -> None:
    op.add_column("secrets", sa.Column("source", sa.String(40)))
    op.add_column("secrets", sa.Column("reference", sa.String(500)))
