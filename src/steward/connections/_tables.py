"""Tables of connections: documents, checks, tools of MCP servers, unwanted proposals, network policies."""

from typing import Any

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, String, Table, text

from steward.store import (
    UNHELD,
    Json,
    Moment,
    ReportedJson,
    ReportedText,
    TypedJson,
    TypedText,
    id_column,
    metadata,
    optional,
    required,
    scope_columns,
)


def _policy_columns() -> list[Column[Any]]:
    return [
        Column("revision", Integer, nullable=False),
        Column("rules", TypedJson(), nullable=False),
        Column("author", String(40), nullable=False),
        Column("call", String(64), nullable=False),
        Column("created_at", Moment, nullable=False),
    ]


connections = Table(
    "connections",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("name", TypedText(50), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("settings", TypedJson(), nullable=False),
    Column("secrets", Json, nullable=False),
    Column("scope_hint", TypedText(400), nullable=False),
    Column("accepted_program", String(64)),
    Column("state", String(10), nullable=False),
    Column("checked_at", Moment),
    Column("created_by", String(40), nullable=False),
    *required(Moment, "created_at", "updated_at"),
    Column("revision", Integer, nullable=False),
    Column("deleted_at", Moment),
    Index(
        "uq_connections_project_id_name",
        "project_id",
        "name",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

checks = Table(
    "connection_checks",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("connection_id", String(40), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("worked", Integer, nullable=False),
    Column("words", ReportedText(600), nullable=False),
    Column("code", String(60), nullable=False),
    Column("milliseconds", Integer, nullable=False),
    Column("checked_by", String(40), nullable=False),
)

tools = Table(
    "connection_tools",
    metadata,
    *scope_columns(),
    Column("connection_id", String(40), nullable=False),
    Column("name", String(64), nullable=False),
    *optional(ReportedJson(), "seen", "accepted"),
    Column("risk", String(20)),
    Column("roles", Json),
    Column("accepted_by", String(40)),
    Column("accepted_at", Moment),
    PrimaryKeyConstraint("project_id", "connection_id", "name"),
)

dismissals = Table(
    "connection_dismissals",
    metadata,
    *scope_columns(),
    Column("proposal_id", String(64), nullable=False),
    Column("dismissed_by", String(40), nullable=False),
    Column("dismissed_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "proposal_id"),
    info=UNHELD,
)

network_policies = Table(
    "network_policies",
    metadata,
    *scope_columns(),
    *_policy_columns(),
    PrimaryKeyConstraint("project_id", "revision"),
)

organisation_network_policies = Table(
    "organisation_network_policies",
    metadata,
    Column("org_id", String(40), nullable=False),
    *_policy_columns(),
    PrimaryKeyConstraint("org_id", "revision"),
)
