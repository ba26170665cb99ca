"""Tables of the identity room."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from steward.store import (
    PROJECT_ID,
    UNHELD,
    Moment,
    ReportedText,
    Sequence64,
    TypedJson,
    TypedText,
    id_column,
    metadata,
    optional,
    required,
    scope_columns,
)

organisations = Table(
    "organisations",
    metadata,
    id_column(primary_key=True),
    Column("name", String(100), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("second_step_since", Moment),
)

projects = Table(
    "projects",
    metadata,
    id_column(primary_key=True),
    Column("org_id", String(40), ForeignKey("organisations.id"), nullable=False, index=True),
    Column("name", TypedText(100), nullable=False),
    Column("is_demo", Boolean(create_constraint=False), nullable=False),
    Column("revision", Integer, nullable=False),
    *required(Moment, "created_at", "updated_at"),
    Column("deleted_at", Moment),
    info=PROJECT_ID,
)

users = Table(
    "users",
    metadata,
    id_column(primary_key=True),
    Column("email", String(254), nullable=False, unique=True),
    Column("name", String(100), nullable=False),
    Column("locale", String(35)),
    Column("password_hash", String(200)),
    Column("revision", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("disabled_at", Moment),
)

organisation_members = Table(
    "organisation_members",
    metadata,
    Column("org_id", String(40), ForeignKey("organisations.id"), nullable=False),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("role", String(20), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("org_id", "user_id"),
)

project_members = Table(
    "project_members",
    metadata,
    *scope_columns(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("role", String(20), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("removed_at", Moment),
    PrimaryKeyConstraint("project_id", "user_id"),
    info=UNHELD,
)

sessions = Table(
    "sessions",
    metadata,
    id_column(primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("csrf_token", String(64), nullable=False),
    *required(Moment, "created_at", "expires_at"),
    Column("ends_at", Moment),
    Column("provider_id", String(40)),
    Column("provider_session", String(255), index=True),
    Column("passkey_id", String(40)),
    Column("agent", String(200), nullable=False, server_default=""),
    Column("address", String(64), nullable=False, server_default=""),
)

sign_in_links = Table(
    "sign_in_links",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("expires_at", Moment, nullable=False),
)

sign_in_failures = Table(
    "sign_in_failures",
    metadata,
    Column("number", Sequence64, primary_key=True, autoincrement=True),
    Column("account", String(254), nullable=False),
    Column("address", String(64), nullable=False),
    Column("at", Moment, nullable=False),
    Index("ix_sign_in_failures_account_at", "account", "at"),
    Index("ix_sign_in_failures_address_at", "address", "at"),
    sqlite_autoincrement=True,
)

two_step_keys = Table(
    "two_step_keys",
    metadata,
    Column("user_id", String(40), ForeignKey("users.id"), primary_key=True),
    Column("key_id", String(40), nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("confirmed_at", Moment),
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("code_hash", String(64), nullable=False),
    Column("used_at", Moment),
    PrimaryKeyConstraint("user_id", "code_hash"),
)

passkeys = Table(
    "passkeys",
    metadata,
    id_column(primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("name", TypedText(100), nullable=False),
    Column("credential_id", LargeBinary, nullable=False, unique=True),
    Column("public_key", LargeBinary, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
)

push_devices = Table(
    "push_devices",
    metadata,
    id_column(primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("session_id", String(40), nullable=False),
    Column("name", TypedText(100), nullable=False),
    Column("endpoint", LargeBinary, nullable=False, unique=True),
    *required(LargeBinary, "p256dh", "auth"),
    *required(Moment, "created_at", "told_at"),
)

passkey_challenges = Table(
    "passkey_challenges",
    metadata,
    Column("challenge", String(64), primary_key=True),
    # The session, or the browser that is about to sign in: only it may answer.
    Column("holder_hash", String(64), nullable=False),
    Column("user_id", String(40), ForeignKey("users.id")),
    Column("expires_at", Moment, nullable=False),
)

api_tokens = Table(
    "api_tokens",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("name", TypedText(100), nullable=False),
    Column("role", String(20), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("prefix", String(20), nullable=False),
    *required(Moment, "created_at", "expires_at"),
    *optional(Moment, "last_used_at", "revoked_at"),
    Column("audience", String(20)),
    Column("grant_id", String(40), index=True),
    info=UNHELD,
)

links = Table(
    "links",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("run_id", String(40), nullable=False),
    Column("method", String(3), nullable=False),
    Column("path", TypedText(700), nullable=False),
    Column("name", TypedText(200), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    # Not called `digest`: a link keeps no file that the project has removed.
    Column("content", String(64), nullable=False),
    Column("single_use", Boolean(create_constraint=False), nullable=False),
    Column("uses", Integer, nullable=False),
    *required(Moment, "created_at", "expires_at"),
    *optional(Moment, "last_used_at", "revoked_at"),
    UniqueConstraint("project_id", "run_id"),
    info=UNHELD,
)

registered_clients = Table(
    "registered_clients",
    metadata,
    id_column(primary_key=True),
    Column("name", TypedText(100), nullable=False),
    Column("redirect_uris", TypedJson(), nullable=False),
    Column("created_at", Moment, nullable=False, index=True),
)

client_grants = Table(
    "client_grants",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("client_id", TypedText(500), nullable=False),
    Column("client_name", TypedText(100), nullable=False),
    Column("redirect_uri", TypedText(1000), nullable=False),
    Column("role", String(20), nullable=False),
    Column("challenge", String(128), nullable=False),
    Column("code_hash", String(64), nullable=False, unique=True),
    Column("code_expires_at", Moment, nullable=False),
    Column("code_used_at", Moment),
    Column("refresh_hash", String(64), unique=True),
    Column("previous_refresh_hash", String(64), index=True),
    *required(Moment, "created_at", "expires_at"),
    *optional(Moment, "last_used_at", "revoked_at"),
    info=UNHELD,
)

invitations = Table(
    "invitations",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("role", String(20), nullable=False),
    Column("email", TypedText(254)),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created_by", String(40), ForeignKey("users.id"), nullable=False),
    *required(Moment, "created_at", "expires_at"),
    *optional(Moment, "accepted_at", "revoked_at"),
    # Shared with the person who accepts. Playbooks are above this room, so nothing refers to their table.
    Column("playbook_id", String(40)),
    info=UNHELD,
)

notifications = Table(
    "notifications",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("level", String(10), nullable=False),
    Column("title", ReportedText(200), nullable=False),
    Column("body", ReportedText(), nullable=False),
    Column("link", String(500)),
    Column("created_at", Moment, nullable=False),
    Column("read_at", Moment),
    Index("ix_notifications_user_id_read_at", "user_id", "read_at"),
)

sign_on_providers = Table(
    "sign_on_providers",
    metadata,
    id_column(primary_key=True),
    Column("org_id", String(40), ForeignKey("organisations.id"), nullable=False, index=True),
    Column("home_id", String(40), nullable=False),
    Column("document", TypedJson(), nullable=False),
    Column("has_secret", Boolean(create_constraint=False), nullable=False),
    Column("revision", Integer, nullable=False),
    *required(Moment, "created_at", "updated_at"),
    Column("updated_by", String(40), nullable=False),
)

sign_on_identities = Table(
    "sign_on_identities",
    metadata,
    Column("issuer", String(500), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    *required(Moment, "created_at", "last_sign_in_at"),
    PrimaryKeyConstraint("issuer", "subject"),
)

sign_on_grants = Table(
    "sign_on_grants",
    metadata,
    *scope_columns(),
    Column("provider_id", String(40), nullable=False),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("role", String(20), nullable=False),
    Column("before", String(20)),
    PrimaryKeyConstraint("provider_id", "project_id", "user_id"),
    info=UNHELD,
)

sign_on_logouts = Table(
    "sign_on_logouts",
    metadata,
    Column("issuer", String(500), nullable=False),
    Column("token_id", String(64), nullable=False),
    Column("expires_at", Moment, nullable=False),
    PrimaryKeyConstraint("issuer", "token_id"),
)

directories = Table(
    "directories",
    metadata,
    id_column(primary_key=True),
    Column("org_id", String(40), ForeignKey("organisations.id"), nullable=False, index=True),
    Column("home_id", String(40), nullable=False),
    Column("name", TypedText(100), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("rules", TypedJson(), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", String(40), nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("last_used_at", Moment),
)

directory_users = Table(
    "directory_users",
    metadata,
    id_column(primary_key=True),
    Column("directory_id", String(40), ForeignKey("directories.id"), nullable=False),
    Column("user_name", String(254), nullable=False),
    Column("external_id", String(254)),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False, index=True),
    Column("document", TypedJson(), nullable=False),
    Column("revision", Integer, nullable=False),
    *required(Moment, "created_at", "updated_at"),
    UniqueConstraint("directory_id", "user_name"),
)

directory_groups = Table(
    "directory_groups",
    metadata,
    id_column(primary_key=True),
    Column("directory_id", String(40), ForeignKey("directories.id"), nullable=False),
    Column("display_name", String(254), nullable=False),
    Column("external_id", String(254)),
    Column("document", TypedJson(), nullable=False),
    Column("revision", Integer, nullable=False),
    *required(Moment, "created_at", "updated_at"),
    UniqueConstraint("directory_id", "display_name"),
)

directory_members = Table(
    "directory_members",
    metadata,
    Column("group_id", String(40), ForeignKey("directory_groups.id"), nullable=False),
    Column("member_id", String(40), ForeignKey("directory_users.id"), nullable=False, index=True),
    PrimaryKeyConstraint("group_id", "member_id"),
)

retention_rules = Table(
    "retention_rules",
    metadata,
    Column("org_id", String(40), nullable=False),
    Column("project_id", String(40), primary_key=True),
    # Days; empty: kept for good.
    *optional(Integer, "runs", "versions", "events", "audit"),
    Column("revision", Integer, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", String(40), nullable=False),
)
