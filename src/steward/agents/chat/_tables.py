"""The tables of chat: threads, their turns, and text that is still being written."""

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

from steward.store import UNHELD, Json, Moment, id_column, metadata, required, scope_columns

threads = Table(
    "threads",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    *required(String(200), "title", "branch"),
    Column("settings", Json, nullable=False),
    # The turn at which the conversation stands: the next message follows it.
    Column("head", String(40)),
    Column("turns", Integer, nullable=False),
    Column("created_by", String(40), nullable=False),
    *required(Moment, "created_at", "updated_at"),
    Column("deleted_at", Moment),
    Column("revision", Integer, nullable=False),
    # What a program that brings its own names calls the thread; each person has names of their own.
    Column("client_id", String(200)),
    UniqueConstraint("project_id", "created_by", "client_id"),
    Index("ix_threads_project_id_updated_at", "project_id", "updated_at"),
)

turns = Table(
    "thread_turns",
    metadata,
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    Column("thread_id", String(40), ForeignKey("threads.id"), nullable=False),
    # The turn it answers to; none for a first message. Turns of one parent are versions of one another.
    Column("parent", String(40)),
    Column("message", Text, nullable=False),
    *required(Json, "mentions", "attachments"),
    Column("query_type", String(10)),
    Column("created_by", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("run_id"),
    Index("ix_thread_turns_thread_id_run_id", "thread_id", "run_id"),
)

live_texts = Table(
    "live_texts",
    metadata,
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    Column("part", String(200), nullable=False),
    # Changes whenever the text begins anew, so that a reader knows that what it has is void.
    Column("beginning", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("written_at", Moment, nullable=False, index=True),
    PrimaryKeyConstraint("run_id", "part"),
    info=UNHELD,
)
