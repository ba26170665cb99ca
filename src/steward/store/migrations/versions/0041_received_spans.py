"""Spans that other programs sent, to be joined to traces of runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0041"
down_revision = "0039"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "received_spans",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("trace_id", sa.String(32), nullable=False),
        sa.Column("span_id", sa.String(16), nullable=False),
        sa.Column("parent_id", sa.String(16), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.String(200)),
        sa.Column("attributes", _JSON, nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "trace_id", "span_id", name="pk_received_spans"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_received_spans_project_id_received_at", "received_spans", ["project_id", "received_at"]
    )


def downgrade() -> None:
    op.drop_table("received_spans")
