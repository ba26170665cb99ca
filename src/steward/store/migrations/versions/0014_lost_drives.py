"""How often a run was lost with its worker, and how far its journal was then."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("runs", sa.Column("lost", sa.Integer(), server_default="0", nullable=False))
    op.add_column("runs", sa.Column("lost_seq", sa.BigInteger()))
