"""Tests that playbooks keep: inputs, what stands in for effects, and what must come out."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0023"
down_revision = "0022"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "playbook_tests",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("playbook_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("inputs", _JSON, nullable=False),
        sa.Column("rehearsal", _JSON, nullable=False),
        sa.Column("expected", _JSON, nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["playbook_id"], ["playbooks.id"], name="fk_playbook_tests_playbook_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_playbook_tests"),
    )
    op.create_index(
        "ix_playbook_tests_playbook_id", "playbook_tests", ["playbook_id"], unique=False
    )
    op.create_index("ix_playbook_tests_project_id", "playbook_tests", ["project_id"], unique=False)
