"""What has been found out about versions, kept because versions never change; and files on their way in."""

from sqlalchemy import BigInteger, Column, ForeignKey, PrimaryKeyConstraint, String, Table

from steward.store import UNHELD, Json, Moment, id_column, metadata, scope_columns

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
