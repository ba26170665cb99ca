"""The table of the definitions room."""

from sqlalchemy import Column, Integer, PrimaryKeyConstraint, String, Table

from steward.store import Moment, TypedJson, TypedText, metadata, scope_columns

revisions = Table(
    "definition_revisions",
    metadata,
    *scope_columns(),
    Column("revision", Integer, nullable=False),
    # The whole document: a project's definitions are small, and each revision stays readable by itself.
    Column("document", TypedJson(), nullable=False),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    # The call that made it, so that a call whose outcome was lost finds what it did.
    Column("call", String(100), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "revision"),
)
