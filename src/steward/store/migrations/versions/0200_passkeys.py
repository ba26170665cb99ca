"""Passkeys of people, challenges that wait for an answer, and which sessions a passkey began."""

import sqlalchemy as sa
from alembic import op

revision = "0200"
down_revision = "0190"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("passkey_id", sa.String(40)))
    op.create_table(
        "passkeys",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_passkeys_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])
    op.create_table(
        "passkey_challenges",
        sa.Column("challenge", sa.String(64), nullable=False),
        sa.Column("holder_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(40)),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_passkey_challenges_user_id"),
        sa.PrimaryKeyConstraint("challenge", name="pk_passkey_challenges"),
    )


def downgrade() -> None:
    op.drop_table("passkey_challenges")
    op.drop_table("passkeys")
    op.drop_column("sessions", "passkey_id")
