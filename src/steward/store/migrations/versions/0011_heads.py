"""The log of signed heads of runs."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "run_heads",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("run_id", sa.String(40), nullable=False, index=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("signature", sa.String(128), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "position"),
    )
