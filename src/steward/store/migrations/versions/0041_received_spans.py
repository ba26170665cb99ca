"""Spans that other programs sent, to be joined to traces of runs."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required

revision = "0041"
down_revision = "0039"


def upgrade() -> None:
    op.create_table(
        "received_spans",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("trace_id", sa.String(32), nullable=False),
        *required(sa.String(16), "span_id", "parent_id"),
        sa.Column("name", sa.String(200), nullable=False),
        *required(sa.BigInteger, "start", "end"),
        sa.Column("error", sa.String(200)),
        sa.Column("attributes", Json, nullable=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "trace_id", "span_id"),
        sa.Index(None, "project_id", "received_at"),
        sqlite_with_rowid=False,
    )
