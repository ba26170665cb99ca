"""Runs: their rows, journals, signals, payloads and schedules."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "runs",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("program", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(200)),
        sa.Column("status", sa.String(30), nullable=False),
        sa.Column("reason", sa.String(400)),
        sa.Column("queue", sa.String(20), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("control", sa.String(10)),
        sa.Column("control_by", sa.String(40)),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        *optional(sa.BigInteger, "started_at", "ended_at"),
        sa.Column("parent_id", sa.String(40)),
        sa.Column("parent_key", sa.String(400)),
        sa.Column("root_id", sa.String(40), nullable=False),
        sa.Column("forked_from", sa.String(40)),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.String(80)),
        *optional(sa.BigInteger, "lease_until", "wake_at"),
        sa.Column("head_seq", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.String(64), nullable=False),
        *optional(Json, "progress", "waits"),
        sa.UniqueConstraint("parent_id", "parent_key"),
        sa.Index(None, "lease_until"),
        sa.Index(None, "project_id", "created_at"),
        sa.Index(None, "queue", "wake_at"),
    )
    op.create_table(
        "schedules",
        id_column(primary_key=True),
        *scope_columns(),
        *required(sa.String(200), "name", "cron"),
        sa.Column("time_zone", sa.String(80), nullable=False),
        sa.Column("missed", sa.String(10), nullable=False),
        sa.Column("request", Json, nullable=False),
        sa.Column("enabled", sa.Integer, nullable=False),
        *optional(sa.BigInteger, "next_at", "last_at"),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Index(None, "next_at"),
    )
    op.create_table(
        "journal",
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        *required(sa.String(40), "org_id", "project_id", "kind"),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_blobs",
        *scope_columns(),
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, index=True),
        sa.PrimaryKeyConstraint("run_id", "digest"),
    )
    op.create_table(
        "run_signals",
        *scope_columns(),
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("data", Json, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
