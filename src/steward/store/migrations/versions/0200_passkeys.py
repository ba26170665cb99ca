"""Passkeys of people, challenges that wait for an answer, and which sessions a passkey began."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import id_column, required

revision = "0200"
down_revision = "0190"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("passkey_id", sa.String(40)))
    op.create_table(
        "passkeys",
        id_column(primary_key=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("name", sa.String(100), nullable=False),
        *required(sa.LargeBinary, "credential_id", "public_key"),
        *required(sa.BigInteger, "sign_count", "created_at"),
        sa.Column("last_used_at", sa.BigInteger),
        sa.UniqueConstraint("credential_id"),
    )
    op.create_table(
        "passkey_challenges",
        *required(sa.String(64), "challenge", "holder_hash"),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id")),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("challenge"),
    )


def downgrade() -> None:
    op.drop_table("passkey_challenges")
    op.drop_table("passkeys")
    op.drop_column("sessions", "passkey_id")
