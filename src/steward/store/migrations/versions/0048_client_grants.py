"""Programs that people let act for them by OAuth, and which door a token opens."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0048"
down_revision = "0045"


def upgrade() -> None:
    op.add_column("api_tokens", sa.Column("audience", sa.String(20)))
    op.add_column("api_tokens", sa.Column("grant_id", sa.String(40)))
    op.create_index("ix_api_tokens_grant_id", "api_tokens", ["grant_id"])
    op.create_table(
        "registered_clients",
        id_column(primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("redirect_uris", Json, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "client_grants",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("client_id", sa.String(500), nullable=False),
        sa.Column("client_name", sa.String(100), nullable=False),
        sa.Column("redirect_uri", sa.String(1000), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("challenge", sa.String(128), nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("code_expires_at", sa.BigInteger, nullable=False),
        sa.Column("code_used_at", sa.BigInteger),
        *optional(sa.String(64), "refresh_hash", "previous_refresh_hash"),
        *required(sa.BigInteger, "created_at", "expires_at"),
        *optional(sa.BigInteger, "last_used_at", "revoked_at"),
        sa.UniqueConstraint("refresh_hash"),
        sa.Index(None, "previous_refresh_hash"),
    )
