"""Runs: their rows, journals, signals, payloads and schedules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("program", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=True),
        sa.Column("status", sa.String(length=30), nullable=False),
        sa.Column("reason", sa.String(length=400), nullable=True),
        sa.Column("queue", sa.String(length=20), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("control", sa.String(length=10), nullable=True),
        sa.Column("control_by", sa.String(length=40), nullable=True),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("parent_id", sa.String(length=40), nullable=True),
        sa.Column("parent_key", sa.String(length=400), nullable=True),
        sa.Column("root_id", sa.String(length=40), nullable=False),
        sa.Column("forked_from", sa.String(length=40), nullable=True),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(length=80), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("wake_at", sa.BigInteger(), nullable=True),
        sa.Column("head_seq", sa.BigInteger(), nullable=False),
        sa.Column("head_hash", sa.String(length=64), nullable=False),
        sa.Column("progress", _JSON, nullable=True),
        sa.Column("waits", _JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("parent_id", "parent_key", name="uq_runs_parent_id_parent_key"),
    )
    op.create_index("ix_runs_lease_until", "runs", ["lease_until"], unique=False)
    op.create_index("ix_runs_project_id", "runs", ["project_id"], unique=False)
    op.create_index(
        "ix_runs_project_id_created_at", "runs", ["project_id", "created_at"], unique=False
    )
    op.create_index("ix_runs_queue_wake_at", "runs", ["queue", "wake_at"], unique=False)
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("cron", sa.String(length=200), nullable=False),
        sa.Column("time_zone", sa.String(length=80), nullable=False),
        sa.Column("missed", sa.String(length=10), nullable=False),
        sa.Column("request", _JSON, nullable=False),
        sa.Column("enabled", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("last_at", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_schedules"),
    )
    op.create_index("ix_schedules_next_at", "schedules", ["next_at"], unique=False)
    op.create_index("ix_schedules_project_id", "schedules", ["project_id"], unique=False)
    op.create_table(
        "journal",
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_journal_run_id"),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_journal"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_blobs",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_blobs_run_id"),
        sa.PrimaryKeyConstraint("run_id", "digest", name="pk_run_blobs"),
    )
    op.create_index("ix_run_blobs_digest", "run_blobs", ["digest"], unique=False)
    op.create_index("ix_run_blobs_project_id", "run_blobs", ["project_id"], unique=False)
    op.create_table(
        "run_signals",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("data", _JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_signals_run_id"),
        sa.PrimaryKeyConstraint("run_id", "key", name="pk_run_signals"),
    )
    op.create_index("ix_run_signals_project_id", "run_signals", ["project_id"], unique=False)
