"""Who has a playbook open."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "playbook_presence",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("playbook_id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("is_editing", sa.Boolean(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["playbook_id"], ["playbooks.id"], name="fk_playbook_presence_playbook_id"
        ),
        sa.PrimaryKeyConstraint("playbook_id", "user_id", name="pk_playbook_presence"),
    )
    op.create_index("ix_playbook_presence_project_id", "playbook_presence", ["project_id"])
