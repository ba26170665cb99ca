"""Tags of playbooks, by which costs are added up."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.add_column("playbooks", sa.Column("tags", sa.String(500), nullable=False, server_default=""))
