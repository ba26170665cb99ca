"""The tables of the broker: approvals, policies with their revisions, groups of approvers, settings of a project."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from steward.store import (
    Json,
    Moment,
    TypedJson,
    TypedText,
    id_column,
    metadata,
    optional,
    required,
    scope_columns,
)

approvals = Table(
    "approvals",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    Column("wait_key", String(400), nullable=False),
    Column("tool", String(100), nullable=False),
    Column("title", String(200), nullable=False),
    Column("risk", String(20), nullable=False),
    # What exactly will happen, and its hash: an approval is for this and nothing else.
    Column("body", Json, nullable=False),
    Column("body_hash", String(64), nullable=False),
    *optional(Json, "asked_body", "preview"),
    *required(Json, "provenance", "rules", "approvers"),
    # Where set, none of those who asked may approve: the author of the run, of those above it, and editors.
    Column("four_eyes", Boolean(create_constraint=False), nullable=False),
    Column("askers", Json, nullable=False),
    Column("edited_by", String(40)),
    # The version of the rules that asked.
    Column("policy", String(64), nullable=False),
    Column("reason", String(1000), nullable=False),
    Column("extent", String(10), nullable=False),
    Column("batch", Json),
    Column("status", String(12), nullable=False),
    Column("requested_by", String(40), nullable=False),
    *required(Moment, "requested_at", "expires_at"),
    Column("delegated_to", String(40)),
    # Whose groups count while somebody else decides.
    *optional(String(40), "delegated_by", "decided_by"),
    # The API token with which, if any: revoked, it lets nothing pass that was not sent yet.
    Column("decided_token", String(40)),
    Column("decided_at", Moment),
    Column("decision_reason", String(1000)),
    Column("used_by", String(64)),
    UniqueConstraint("run_id", "wait_key"),
    Index("ix_approvals_project_id_status", "project_id", "status", "expires_at"),
)

policies = Table(
    "policies",
    metadata,
    *scope_columns(),
    # The playbook it is for; empty for the project's own.
    Column("subject", String(200), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("text", TypedText(), nullable=False),
    Column("preset", String(40)),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "subject", "revision"),
)

organisation_policies = Table(
    "organisation_policies",
    metadata,
    Column("org_id", String(40), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("text", TypedText(), nullable=False),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("org_id", "revision"),
)

groups = Table(
    "approver_groups",
    metadata,
    *scope_columns(),
    Column("name", TypedText(100), nullable=False),
    Column("members", Json, nullable=False),
    PrimaryKeyConstraint("project_id", "name"),
)

settings = Table(
    "broker_settings",
    metadata,
    *scope_columns(),
    Column("safe_mode", Integer, nullable=False),
    # What each tool is allowed here, such as the hosts it may call.
    Column("tools", TypedJson(), nullable=False),
    Column("revision", Integer, nullable=False),
    PrimaryKeyConstraint("project_id"),
)
