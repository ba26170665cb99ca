"""Two-step sign-in: keys of apps on phones, and recovery codes."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required

revision = "0080"
down_revision = "0070"


def upgrade() -> None:
    op.create_table(
        "two_step_keys",
        *required(sa.String(40), "user_id", "key_id"),
        sa.Column("ciphertext", sa.LargeBinary, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.Column("confirmed_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("user_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("used_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("user_id", "code_hash"),
    )
