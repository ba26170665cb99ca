"""Versions of data: workspaces, branches, commits, versions and the ledger of their blobs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "data_blobs",
        sa.Column("blob", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("touched_at", sa.BigInteger(), nullable=False),
        sa.Column("doomed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("blob", name="pk_data_blobs"),
    )
    op.create_index("ix_data_blobs_doomed_at", "data_blobs", ["doomed_at"], unique=False)
    op.create_table(
        "data_branches",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("workspace_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("line_id", sa.String(length=40), nullable=False),
        sa.Column("head_id", sa.String(length=40), nullable=False),
        sa.Column("protected", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_data_branches"),
        sa.UniqueConstraint("workspace_id", "name", name="uq_data_branches_workspace_id_name"),
    )
    op.create_index("ix_data_branches_project_id", "data_branches", ["project_id"], unique=False)
    op.create_table(
        "data_changes",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("commit_id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("before", sa.String(length=64), nullable=True),
        sa.Column("after", sa.String(length=64), nullable=True),
        sa.Column("lineage", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("commit_id", "kind", "name", name="pk_data_changes"),
    )
    op.create_index("ix_data_changes_project_id", "data_changes", ["project_id"], unique=False)
    op.create_index(
        "ix_data_changes_project_id_kind_name",
        "data_changes",
        ["project_id", "kind", "name"],
        unique=False,
    )
    op.create_table(
        "data_commits",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("workspace_id", sa.String(length=40), nullable=False),
        sa.Column("line_id", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("parent_id", sa.String(length=40), nullable=True),
        sa.Column("merged_id", sa.String(length=40), nullable=True),
        sa.Column("tree_id", sa.String(length=64), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("operation", sa.String(length=100), nullable=False),
        sa.Column("arguments", _JSON, nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=True),
        sa.Column("undoes_id", sa.String(length=40), nullable=True),
        sa.Column("redoes_id", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expired_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_data_commits"),
        sa.UniqueConstraint("line_id", "position", name="uq_data_commits_line_id_position"),
    )
    op.create_index("ix_data_commits_project_id", "data_commits", ["project_id"], unique=False)
    op.create_index(
        "ix_data_commits_workspace_id_run_id",
        "data_commits",
        ["workspace_id", "run_id"],
        unique=False,
    )
    op.create_table(
        "data_inputs",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("commit_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("version_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("commit_id", "name", "version_id", name="pk_data_inputs"),
    )
    op.create_index("ix_data_inputs_project_id", "data_inputs", ["project_id"], unique=False)
    op.create_index(
        "ix_data_inputs_project_id_version_id",
        "data_inputs",
        ["project_id", "version_id"],
        unique=False,
    )
    op.create_table(
        "data_lines",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("workspace_id", sa.String(length=40), nullable=False),
        sa.Column("parent_line_id", sa.String(length=40), nullable=True),
        sa.Column("parent_position", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_data_lines"),
    )
    op.create_index("ix_data_lines_project_id", "data_lines", ["project_id"], unique=False)
    op.create_table(
        "data_pins",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("holder", sa.String(length=40), nullable=False),
        sa.Column("reference", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("target", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "project_id", "holder", "reference", "kind", "target", name="pk_data_pins"
        ),
    )
    op.create_index("ix_data_pins_project_id", "data_pins", ["project_id"], unique=False)
    op.create_table(
        "data_tags",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("workspace_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("commit_id", sa.String(length=40), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "name", name="pk_data_tags"),
    )
    op.create_index("ix_data_tags_project_id", "data_tags", ["project_id"], unique=False)
    op.create_table(
        "data_trees",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("touched_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_data_trees"),
    )
    op.create_index("ix_data_trees_project_id", "data_trees", ["project_id"], unique=False)
    op.create_table(
        "data_versions",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("columns", _JSON, nullable=False),
        sa.Column("manifest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("touched_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_data_versions"),
    )
    op.create_index("ix_data_versions_project_id", "data_versions", ["project_id"], unique=False)
    op.create_table(
        "data_workspaces",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_data_workspaces"),
        sa.UniqueConstraint("project_id", "name", name="uq_data_workspaces_project_id_name"),
    )
    op.create_index(
        "ix_data_workspaces_project_id", "data_workspaces", ["project_id"], unique=False
    )
