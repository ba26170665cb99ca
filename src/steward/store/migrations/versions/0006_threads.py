"""Threads of chat, their turns, and text that is still being written."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "threads",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("branch", sa.String(length=200), nullable=False),
        sa.Column("settings", _JSON, nullable=False),
        sa.Column("head", sa.String(length=40), nullable=True),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.String(length=200), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
        sa.UniqueConstraint(
            "project_id",
            "created_by",
            "client_id",
            name="uq_threads_project_id_created_by_client_id",
        ),
    )
    op.create_index("ix_threads_project_id", "threads", ["project_id"], unique=False)
    op.create_index(
        "ix_threads_project_id_updated_at", "threads", ["project_id", "updated_at"], unique=False
    )
    op.create_table(
        "live_texts",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("part", sa.String(length=200), nullable=False),
        sa.Column("beginning", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_live_texts_run_id"),
        sa.PrimaryKeyConstraint("run_id", "part", name="pk_live_texts"),
    )
    op.create_index("ix_live_texts_project_id", "live_texts", ["project_id"], unique=False)
    op.create_index("ix_live_texts_written_at", "live_texts", ["written_at"], unique=False)
    op.create_table(
        "thread_turns",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("thread_id", sa.String(length=40), nullable=False),
        sa.Column("parent", sa.String(length=40), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("mentions", _JSON, nullable=False),
        sa.Column("attachments", _JSON, nullable=False),
        sa.Column("query_type", sa.String(length=10), nullable=True),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_thread_turns_run_id"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_thread_turns_thread_id"),
        sa.PrimaryKeyConstraint("run_id", name="pk_thread_turns"),
    )
    op.create_index("ix_thread_turns_project_id", "thread_turns", ["project_id"], unique=False)
    op.create_index(
        "ix_thread_turns_thread_id_run_id", "thread_turns", ["thread_id", "run_id"], unique=False
    )
    _take_over_queries()


def _take_over_queries() -> None:
    """Queries were asked in threads before threads had rows: each becomes a turn that follows the one before."""
    op.execute(
        """
        INSERT INTO threads (id, org_id, project_id, title, branch, settings, head, turns,
                             created_by, created_at, updated_at, revision)
        SELECT substr(subject, 8), min(org_id), min(project_id), min(title), 'main',
               '{"rows"\\: "all", "review"\\: "changes"}', max(id), count(*),
               min(created_by), min(created_at), max(created_at), 1
        FROM runs WHERE subject LIKE 'thread\\:thr_%' GROUP BY subject
        """
    )
    op.execute(
        """
        INSERT INTO thread_turns (org_id, project_id, run_id, thread_id, parent, message,
                                  mentions, attachments, query_type, created_by, created_at)
        SELECT org_id, project_id, id, substr(subject, 8),
               lag(id) OVER (PARTITION BY subject ORDER BY id), title, '[]', '[]', NULL,
               created_by, created_at
        FROM runs WHERE subject LIKE 'thread\\:thr_%'
        """
    )
