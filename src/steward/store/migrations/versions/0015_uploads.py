"""Files on their way in: what has arrived of each, and the blobs that hold it."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("given_name", sa.String(length=1000), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("arrived", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("touched_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
    )
    op.create_index("ix_uploads_project_id", "uploads", ["project_id"], unique=False)
    op.create_index("ix_uploads_touched_at", "uploads", ["touched_at"], unique=False)
    op.create_table(
        "upload_parts",
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("upload_id", sa.String(length=40), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["upload_id"], ["uploads.id"], name="fk_upload_parts_upload_id"),
        sa.PrimaryKeyConstraint("upload_id", "position", name="pk_upload_parts"),
    )
    op.create_index("ix_upload_parts_project_id", "upload_parts", ["project_id"], unique=False)
