"""Tables of the catalogue: installed services, and what people decided about their operations."""

from sqlalchemy import Column, Integer, PrimaryKeyConstraint, String, Table

from steward.store import UNHELD, Json, Moment, TypedText, metadata, required, scope_columns

services = Table(
    "catalogue_services",
    metadata,
    *scope_columns(),
    Column("name", TypedText(80), nullable=False),
    *required(TypedText(100), "title", "vendor"),
    Column("adapter", String(20), nullable=False),
    Column("version", String(40), nullable=False),
    Column("licence", TypedText(100), nullable=False),
    Column("source", TypedText(600), nullable=False),
    *required(String(64), "sha256", "record_digest"),
    Column("operations", Integer, nullable=False),
    Column("installed_by", String(40), nullable=False),
    *required(Moment, "installed_at", "updated_at"),
    Column("revision", Integer, nullable=False),
    Column("tried_at", Moment),
    PrimaryKeyConstraint("project_id", "name"),
)

operations = Table(
    "catalogue_operations",
    metadata,
    *scope_columns(),
    Column("service", String(80), nullable=False),
    *required(String(64), "operation", "hash"),
    Column("offered", Integer, nullable=False),
    Column("roles", Json),
    Column("risk", String(20)),
    Column("risk_reason", TypedText(400)),
    Column("answer", Json),
    Column("changed_by", String(40), nullable=False),
    Column("changed_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "service", "operation"),
)

rates = Table(
    "catalogue_rates",
    metadata,
    *scope_columns(),
    Column("connection_id", String(40), nullable=False),
    # When its last requests went out, in microseconds since 1970: those of a minute, as many as it may send.
    Column("moments", Json, nullable=False),
    PrimaryKeyConstraint("project_id", "connection_id"),
    info=UNHELD,
)
