"""Files on their way in: what has arrived of each, and the blobs that hold it."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import id_column, scope_columns

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "uploads",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("given_name", sa.String(1000), nullable=False),
        sa.Column("size", sa.BigInteger),
        sa.Column("arrived", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.String(64)),
        sa.Column("touched_at", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "upload_parts",
        *scope_columns(),
        sa.Column("upload_id", sa.String(40), sa.ForeignKey("uploads.id"), nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "position"),
    )
