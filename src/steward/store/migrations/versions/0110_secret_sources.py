"""Secrets whose values stay elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0110"
down_revision = "0080"


def upgrade() -> None:
    op.add_column("secrets", sa.Column("source", sa.String(40)))
    op.add_column("secrets", sa.Column("reference", sa.String(500)))


def downgrade() -> None:
    # Without its source a secret would be an empty text.
    op.execute("DELETE FROM secrets WHERE source IS NOT NULL")
    op.drop_column("secrets", "reference")
    op.drop_column("secrets", "source")
