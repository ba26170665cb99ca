"""Two-step sign-in: keys of apps on phones, and recovery codes."""

import sqlalchemy as sa
from alembic import op

revision = "0080"
down_revision = "0070"


def upgrade() -> None:
    op.create_table(
        "two_step_keys",
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("key_id", sa.String(40), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_two_step_keys_user_id"),
        sa.PrimaryKeyConstraint("user_id", name="pk_two_step_keys"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("used_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_recovery_codes_user_id"),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name="pk_recovery_codes"),
    )


def downgrade() -> None:
    op.drop_table("recovery_codes")
    op.drop_table("two_step_keys")
