"""Organisations can require a second step of people who sign in with a password."""

import sqlalchemy as sa
from alembic import op

revision = "0150"
down_revision = "0140"


def upgrade() -> None:
    op.add_column("organisations", sa.Column("second_step_since", sa.BigInteger))


def downgrade() -> None:
    op.drop_column("organisations", "second_step_since")
