"""What has been found out about versions, kept because versions never change; files on their way in; queries kept by name."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from steward.store import UNHELD, Json, Moment, TypedText, id_column, metadata, scope_columns

analyses = Table(
    "analyses",
    metadata,
    *scope_columns(),
    Column("kind", String(40), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("result", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "kind", "subject"),
    info=UNHELD,
)

uploads = Table(
    "uploads",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("name", String(200), nullable=False),
    Column("given_name", String(1000), nullable=False),
    Column("size", BigInteger),
    Column("arrived", BigInteger, nullable=False),
    # The whole file, once it is one blob. The sweep keeps what a column called so names.
    Column("digest", String(64)),
    Column("touched_at", Moment, nullable=False, index=True),
    # A file on its way in is no record yet; what is loaded is kept as a version.
    info=UNHELD,
)

upload_parts = Table(
    "upload_parts",
    metadata,
    *scope_columns(),
    Column("upload_id", String(40), ForeignKey("uploads.id"), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False),
    PrimaryKeyConstraint("upload_id", "position"),
    info=UNHELD,
)

saved_queries = Table(
    "saved_queries",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("name", TypedText(80), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("query", TypedText(), nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("project_id", "user_id", "name"),
)
