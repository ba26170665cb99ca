"""Devices that are told what waits for their person."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required

revision = "0215"
down_revision = "0210"


def upgrade() -> None:
    op.create_table(
        "push_devices",
        *required(sa.String(40), "id", "user_id", "session_id"),
        sa.Column("name", sa.String(100), nullable=False),
        *required(sa.LargeBinary, "endpoint", "p256dh", "auth"),
        *required(sa.BigInteger, "created_at", "told_at"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_push_devices_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_push_devices"),
        sa.UniqueConstraint("endpoint", name="uq_push_devices_endpoint"),
    )
    op.create_index("ix_push_devices_user_id", "push_devices", ["user_id"])


def downgrade() -> None:
    op.drop_table("push_devices")
