"""Trees of spans: traces of long runs, stored in preorder so that a window is one range read."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030"
down_revision = "0029"
_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "observed_trees",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("root_id", sa.String(length=40), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("entries", sa.BigInteger(), nullable=False),
        sa.Column("spans", sa.Integer(), nullable=False),
        sa.Column("is_ready", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_observed_trees"),
    )
    op.create_index("ix_observed_trees_project_id", "observed_trees", ["project_id"], unique=False)
    op.create_index("ix_observed_trees_root_id", "observed_trees", ["root_id"], unique=False)
    op.create_table(
        "observed_tree_runs",
        sa.Column("tree_id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("spans", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tree_id"], ["observed_trees.id"], name="fk_observed_tree_runs_tree_id"
        ),
        sa.PrimaryKeyConstraint("tree_id", "run_id", name="pk_observed_tree_runs"),
    )
    op.create_table(
        "observed_spans",
        sa.Column("tree_id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=500), nullable=False),
        sa.Column("operation", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("attributes", _JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["tree_id"], ["observed_trees.id"], name="fk_observed_spans_tree_id"
        ),
        sa.PrimaryKeyConstraint("tree_id", "position", name="pk_observed_spans"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_runs_root_id", "runs", ["root_id"], unique=False)
