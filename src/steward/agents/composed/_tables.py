"""The tables of a project's agents: one row for each version, never changed; and what they remember between runs."""

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, String, Table, UniqueConstraint

from steward.identity import ERASABLE
from steward.store import (
    OUTLIVES_RUN,
    Moment,
    ReportedText,
    TypedText,
    id_column,
    metadata,
    scope_columns,
)

versions = Table(
    "agent_versions",
    metadata,
    *scope_columns(),
    Column("name", TypedText(60), nullable=False),
    Column("version", Integer, nullable=False),
    # JSON as text, because PostgreSQL sorts the keys of objects and people order the fields of a schema.
    # Empty where the agent was archived.
    Column("document", TypedText(), nullable=False),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    # The call that made it, so that a call whose outcome was lost finds what it did.
    Column("call", String(100), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "name", "version"),
    Index("ix_agent_versions_call", "project_id", "call"),
)

notes = Table(
    "agent_notes",
    metadata,
    *scope_columns(),
    id_column(primary_key=True),
    Column("agent", TypedText(60), nullable=False),
    # Whose notes they are; empty where all runs of the project share them.
    Column("person", String(40), nullable=False, info={ERASABLE: True}),
    # Counts up within one memory.
    Column("number", Integer, nullable=False),
    Column("text", ReportedText(2_000), nullable=False),
    Column("author", String(40), nullable=False),
    Column("run_id", String(40), nullable=False, info=OUTLIVES_RUN),
    # The call that wrote it, so that a call whose outcome was lost finds what it did; and the one that deleted it.
    Column("call", String(100), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("deleted_at", Moment, nullable=True),
    Column("deleting_call", String(100), nullable=False),
    UniqueConstraint("project_id", "agent", "person", "number"),
    Index("ix_agent_notes_call", "project_id", "call"),
)
