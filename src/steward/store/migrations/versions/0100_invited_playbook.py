"""Invitations name the playbook that is shared with the invited person."""

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = "0110"


def upgrade() -> None:
    op.add_column("invitations", sa.Column("playbook_id", sa.String(40)))
