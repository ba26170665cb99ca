"""People and groups that an identity provider brings by SCIM."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    op.create_table(
        "directories",
        id_column(primary_key=True),
        *required(sa.String(40), "org_id", "home_id"),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("rules", Json, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.BigInteger),
        sa.ForeignKeyConstraint(["org_id"], ["organisations.id"]),
        sa.Index(None, "org_id"),
    )
    for table, name in (("directory_users", "user_name"), ("directory_groups", "display_name")):
        op.create_table(
            table,
            *required(sa.String(40), "id", "directory_id"),
            sa.Column(name, sa.String(254), nullable=False),
            sa.Column("external_id", sa.String(254)),
            *(
                (sa.Column("user_id", sa.String(40), nullable=False),)
                if name == "user_name"
                else ()
            ),
            sa.Column("document", Json, nullable=False),
            sa.Column("revision", sa.Integer(), nullable=False),
            *required(sa.BigInteger, "created_at", "updated_at"),
            sa.ForeignKeyConstraint(
                ["directory_id"], ["directories.id"], name=f"fk_{table}_directory_id"
            ),
            *(
                (sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{table}_user_id"),)
                if name == "user_name"
                else ()
            ),
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
            sa.UniqueConstraint("directory_id", name, name=f"uq_{table}_directory_id_{name}"),
        )
    op.create_index("ix_directory_users_user_id", "directory_users", ["user_id"])
    op.create_table(
        "directory_members",
        *required(sa.String(40), "group_id", "member_id"),
        sa.PrimaryKeyConstraint("group_id", "member_id"),
        sa.ForeignKeyConstraint(["group_id"], ["directory_groups.id"]),
        sa.ForeignKeyConstraint(["member_id"], ["directory_users.id"]),
        sa.Index(None, "member_id"),
    )
