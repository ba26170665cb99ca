"""Steps of agents that were held against their plan, and those of them that kept to it, beside the other figures."""

import sqlalchemy as sa
from alembic import op

revision = "0140"
down_revision = "0120"

_TABLES = ("observed_facts", "observed_rollups", "observed_people")
_COLUMNS = ("judged", "adhered")


def upgrade() -> None:
    for table in _TABLES:
        for column in _COLUMNS:
            op.add_column(table, sa.Column(column, sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    for table in _TABLES:
        for column in _COLUMNS:
            op.drop_column(table, column)
