"""Single sign-on: providers, people by issuer and subject, roles by rules, and where sessions come from."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "sign_on_providers",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("home_id", sa.String(length=40), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("has_secret", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_by", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id"], ["organisations.id"], name="fk_sign_on_providers_org_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sign_on_providers"),
    )
    op.create_index("ix_sign_on_providers_org_id", "sign_on_providers", ["org_id"], unique=False)
    op.create_table(
        "sign_on_identities",
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_sign_in_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sign_on_identities_user_id"),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_sign_on_identities"),
    )
    op.create_index(
        "ix_sign_on_identities_user_id", "sign_on_identities", ["user_id"], unique=False
    )
    op.create_table(
        "sign_on_grants",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("provider_id", sa.String(length=40), nullable=False),
        sa.Column("user_id", sa.String(length=40), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("before", sa.String(length=20), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sign_on_grants_user_id"),
        sa.PrimaryKeyConstraint("provider_id", "project_id", "user_id", name="pk_sign_on_grants"),
    )
    op.create_index("ix_sign_on_grants_project_id", "sign_on_grants", ["project_id"], unique=False)
    op.create_index("ix_sign_on_grants_user_id", "sign_on_grants", ["user_id"], unique=False)
    op.create_table(
        "sign_on_logouts",
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("token_id", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("issuer", "token_id", name="pk_sign_on_logouts"),
    )
    op.add_column("sessions", sa.Column("ends_at", sa.BigInteger(), nullable=True))
    op.add_column("sessions", sa.Column("provider_id", sa.String(length=40), nullable=True))
    op.add_column("sessions", sa.Column("provider_session", sa.String(length=255), nullable=True))
    op.add_column(
        "sessions", sa.Column("agent", sa.String(length=200), nullable=False, server_default="")
    )
    op.add_column(
        "sessions", sa.Column("address", sa.String(length=64), nullable=False, server_default="")
    )
    op.create_index("ix_sessions_provider_session", "sessions", ["provider_session"], unique=False)
