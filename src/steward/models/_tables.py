"""The tables of this room: models that people set up, and what servers turned out to be able to do."""

from sqlalchemy import Column, Integer, PrimaryKeyConstraint, String, Table

from steward.store import Json, Moment, TypedJson, TypedText, metadata, scope_columns

# An organisation's own documents are kept under its id in the place of a project's.
setups = Table(
    "model_setups",
    metadata,
    *scope_columns(),
    Column("revision", Integer, nullable=False),
    Column("document", TypedJson(), nullable=False),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "revision"),
)

# Of no project: what a server can do is the same for all, and its key is a hash.
abilities = Table(
    "model_abilities",
    metadata,
    Column("server", String(64), primary_key=True),
    Column("document", Json, nullable=False),
    Column("learned_at", Moment, nullable=False),
)
