"""The table of the projects room."""

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, String, Table

from steward.store import Moment, TypedJson, metadata, scope_columns

applies = Table(
    "project_applies",
    metadata,
    *scope_columns(),
    Column("number", Integer, nullable=False),
    # The call that made it, so that a call which is made again goes on with what it began.
    Column("call", String(100), nullable=False),
    Column("author", String(40), nullable=False),
    Column("state", String(20), nullable=False),
    # Content hashes of everything in the folder, as they were applied.
    Column("hashes", TypedJson(), nullable=False),
    # What was in place before, for the way back.
    Column("replaced", TypedJson(), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "number"),
    Index("ix_project_applies_call", "project_id", "call", unique=True),
)
