"""Alembic's entry: runs on the connection that `migrate` hands over."""

from alembic import context

from steward.store.tables import metadata

connection = context.config.attributes["connection"]
# SQLite cannot alter most things in place; batch mode rewrites the table instead.
# Constraints and indexes without a name get the one that the tables of the rooms have, too.
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
context.run_migrations()
