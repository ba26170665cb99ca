"""Which API token an approval was given with: once it is revoked, the approval lets nothing pass."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column("approvals", sa.Column("decided_token", sa.String(40)))
