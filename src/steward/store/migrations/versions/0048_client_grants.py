"""Programs that people let act for them by OAuth, and which door a token opens."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0048"
down_revision = "0045"
_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("api_tokens", sa.Column("audience", sa.String(20)))
    op.add_column("api_tokens", sa.Column("grant_id", sa.String(40)))
    op.create_index("ix_api_tokens_grant_id", "api_tokens", ["grant_id"])
    op.create_table(
        "registered_clients",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("redirect_uris", _JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_registered_clients"),
    )
    op.create_index("ix_registered_clients_created_at", "registered_clients", ["created_at"])
    op.create_table(
        "client_grants",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("client_id", sa.String(500), nullable=False),
        sa.Column("client_name", sa.String(100), nullable=False),
        sa.Column("redirect_uri", sa.String(1000), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("challenge", sa.String(128), nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("code_expires_at", sa.BigInteger(), nullable=False),
        sa.Column("code_used_at", sa.BigInteger()),
        sa.Column("refresh_hash", sa.String(64)),
        sa.Column("previous_refresh_hash", sa.String(64)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_client_grants_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_client_grants"),
        sa.UniqueConstraint("code_hash", name="uq_client_grants_code_hash"),
        sa.UniqueConstraint("refresh_hash", name="uq_client_grants_refresh_hash"),
    )
    op.create_index("ix_client_grants_project_id", "client_grants", ["project_id"])
    op.create_index("ix_client_grants_user_id", "client_grants", ["user_id"])
    op.create_index(
        "ix_client_grants_previous_refresh_hash", "client_grants", ["previous_refresh_hash"]
    )
