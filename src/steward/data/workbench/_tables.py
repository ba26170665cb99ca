"""What has been found out about versions, kept because versions never change."""

from sqlalchemy import Column, PrimaryKeyConstraint, String, Table

from steward.store.tables import Json, Moment, metadata, scope_columns

analyses = Table(
    "analyses",
    metadata,
    *scope_columns(),
    Column("kind", String(40), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("result", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "kind", "subject"),
)
