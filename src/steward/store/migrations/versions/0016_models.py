"""Models that people set up, and what servers turned out to be able to do."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, scope_columns

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "model_setups",
        *scope_columns(),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "revision"),
    )
    op.create_table(
        "model_abilities",
        sa.Column("server", sa.String(64), primary_key=True),
        sa.Column("document", Json, nullable=False),
        sa.Column("learned_at", sa.BigInteger, nullable=False),
    )
