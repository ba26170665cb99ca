"""The tables of the runs room."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from steward.store import (
    OUTLIVES_RUN,
    Json,
    Moment,
    id_column,
    metadata,
    optional,
    required,
    scope_columns,
)

runs = Table(
    "runs",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("title", String(200), nullable=False),
    Column("program", String(40), nullable=False),
    Column("subject", String(200)),
    Column("status", String(30), nullable=False),
    # Why a run does not go on, for people: "paused", "3 approvals", "a question".
    Column("reason", String(400)),
    Column("queue", String(20), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("control", String(10)),
    Column("control_by", String(40)),
    Column("created_by", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    *optional(Moment, "started_at", "ended_at"),
    Column("parent_id", String(40)),
    Column("parent_key", String(400)),
    Column("root_id", String(40), nullable=False),
    Column("forked_from", String(40)),
    # The lease: whoever holds the highest epoch may append; everyone else is fenced off.
    Column("epoch", BigInteger, nullable=False),
    Column("holder", String(80)),
    *optional(Moment, "lease_until", "wake_at"),
    Column("head_seq", BigInteger, nullable=False),
    Column("head_hash", String(64), nullable=False),
    # Drives that ended with their worker, one after the other without a new entry; and the last entry then.
    Column("lost", Integer, nullable=False, default=0, server_default="0"),
    Column("lost_seq", BigInteger),
    Column("progress", Json),
    # What it waits for, by key, so that inboxes need not read journals.
    Column("waits", Json),
    UniqueConstraint("parent_id", "parent_key"),
    Index("ix_runs_queue_wake_at", "queue", "wake_at"),
    Index("ix_runs_lease_until", "lease_until"),
    Index("ix_runs_root_id", "root_id"),
    Index("ix_runs_project_id_created_at", "project_id", "created_at"),
    Index("ix_runs_project_id_ended_at", "project_id", "ended_at"),
)

journal = Table(
    "journal",
    metadata,
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    Column("seq", BigInteger, nullable=False),
    *required(String(40), "org_id", "project_id", "kind"),
    Column("key", String(400), nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    PrimaryKeyConstraint("run_id", "seq"),
    # Entries of a run lie together on disk, in order.
    sqlite_with_rowid=False,
)

heads = Table(
    "run_heads",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # One log a project, its lines numbered without a gap.
    Column("position", BigInteger, nullable=False),
    Column("run_id", String(40), nullable=False, index=True, info=OUTLIVES_RUN),
    Column("seq", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("signature", String(128), nullable=False),
    PrimaryKeyConstraint("project_id", "position"),
)

signals = Table(
    "run_signals",
    metadata,
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    # One signal a key: of two people who decide at once, the first one did.
    Column("key", String(400), nullable=False),
    Column("data", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("run_id", "key"),
)

run_blobs = Table(
    "run_blobs",
    metadata,
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    # The sweep keeps every blob that some table names in a column called so.
    Column("digest", String(64), nullable=False, index=True),
    PrimaryKeyConstraint("run_id", "digest"),
)

schedules = Table(
    "schedules",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    *required(String(200), "name", "cron"),
    Column("time_zone", String(80), nullable=False),
    Column("missed", String(10), nullable=False),
    Column("request", Json, nullable=False),
    Column("enabled", Integer, nullable=False),
    Column("next_at", Moment, index=True),
    Column("last_at", Moment),
    # Moments that were missed, until somebody decides about them.
    Column("asked", Json),
    Column("created_by", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("revision", Integer, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("holder", String(80), primary_key=True),
    Column("queues", String(100), nullable=False),
    Column("concurrency", Integer, nullable=False),
    Column("version", String(40), nullable=False),
    *required(Moment, "started_at", "seen_at"),
)
