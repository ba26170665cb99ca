"""Single sign-on: providers, people by issuer and subject, roles by rules, and where sessions come from."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required, scope_columns

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "sign_on_providers",
        id_column(primary_key=True),
        *required(sa.String(40), "org_id", "home_id"),
        sa.Column("document", Json, nullable=False),
        sa.Column("has_secret", sa.Boolean, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("updated_by", sa.String(40), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["organisations.id"]),
        sa.Index(None, "org_id"),
    )
    op.create_table(
        "sign_on_identities",
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        *required(sa.BigInteger, "created_at", "last_sign_in_at"),
        sa.PrimaryKeyConstraint("issuer", "subject"),
    )
    op.create_table(
        "sign_on_grants",
        *scope_columns(),
        *required(sa.String(40), "provider_id", "user_id"),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("before", sa.String(20)),
        sa.PrimaryKeyConstraint("provider_id", "project_id", "user_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.Index(None, "user_id"),
    )
    op.create_table(
        "sign_on_logouts",
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("token_id", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("issuer", "token_id"),
    )
    op.add_column("sessions", sa.Column("ends_at", sa.BigInteger()))
    op.add_column("sessions", sa.Column("provider_id", sa.String(40)))
    op.add_column("sessions", sa.Column("provider_session", sa.String(255)))
    op.add_column("sessions", sa.Column("agent", sa.String(200), nullable=False, server_default=""))
    op.add_column(
        "sessions", sa.Column("address", sa.String(64), nullable=False, server_default="")
    )
    op.create_index("ix_sessions_provider_session", "sessions", ["provider_session"], unique=False)
