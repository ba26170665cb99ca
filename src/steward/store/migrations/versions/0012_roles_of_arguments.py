"""What the arguments of accepted MCP tools are for, as a person confirmed it."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("connection_tools", sa.Column("roles", Json))
