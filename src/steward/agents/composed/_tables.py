"""The table of a project's agents: one row for each version, never changed."""

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, String, Table

from steward.store.guarded import TypedText
from steward.store.tables import Moment, metadata, scope_columns

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
