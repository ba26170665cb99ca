"""Foundation: identity, event log, secrets."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0001"
down_revision = None

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("cursor", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("id", sa.String(40), nullable=False, unique=True),
        *scope_columns(),
        sa.Column("type", sa.String(120), nullable=False),
        *required(sa.String(200), "source", "subject"),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("data", Json, nullable=False),
        sa.PrimaryKeyConstraint("cursor"),
        sa.Index(None, "project_id", "cursor"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "key_checks",
        sa.Column("key_id", sa.String(40), primary_key=True),
        sa.Column("ciphertext", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "organisations",
        id_column(primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "secrets",
        *scope_columns(),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("key_id", sa.String(40), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary, nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("updated_by", sa.String(40), nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
        sa.UniqueConstraint("project_id", "name"),
    )
    op.create_table(
        "sign_in_failures",
        sa.Column("number", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("account", sa.String(254), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.Index(None, "account", "at"),
        sa.Index(None, "address", "at"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "users",
        id_column(primary_key=True),
        sa.Column("email", sa.String(254), nullable=False, unique=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("locale", sa.String(35)),
        sa.Column("password_hash", sa.String(200)),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("disabled_at", sa.BigInteger),
    )
    op.create_table(
        "api_tokens",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("prefix", sa.String(20), nullable=False),
        *required(sa.BigInteger, "created_at", "expires_at"),
        *optional(sa.BigInteger, "last_used_at", "revoked_at"),
    )
    op.create_table(
        "invitations",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("email", sa.String(254)),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("created_by", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        *required(sa.BigInteger, "created_at", "expires_at"),
        *optional(sa.BigInteger, "accepted_at", "revoked_at"),
    )
    op.create_table(
        "notifications",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("level", sa.String(10), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("link", sa.String(500)),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("read_at", sa.BigInteger),
        sa.Index(None, "user_id", "read_at"),
    )
    op.create_table(
        "organisation_members",
        *required(sa.String(40), "org_id", "user_id"),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("org_id", "user_id"),
        sa.ForeignKeyConstraint(["org_id"], ["organisations.id"]),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
    )
    op.create_table(
        "project_members",
        *scope_columns(),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("removed_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("project_id", "user_id"),
    )
    op.create_table(
        "projects",
        id_column(primary_key=True),
        sa.Column(
            "org_id", sa.String(40), sa.ForeignKey("organisations.id"), nullable=False, index=True
        ),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("is_demo", sa.Boolean, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("deleted_at", sa.BigInteger),
    )
    op.create_table(
        "sessions",
        id_column(primary_key=True),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("csrf_token", sa.String(64), nullable=False),
        *required(sa.BigInteger, "created_at", "expires_at"),
    )
    op.create_table(
        "sign_in_links",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
