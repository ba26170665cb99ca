"""Reports of evaluations that projects keep."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required, scope_columns

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "evaluation_reports",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("mode", sa.String(10), nullable=False),
        *required(sa.Integer, "cases", "passed", "failed"),
        sa.Column("document", Json, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
        sa.Index(None, "project_id", "id"),
    )
