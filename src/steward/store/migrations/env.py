"""Alembic's entry: runs on the connection and with the tables that `migrate` hands over."""

from alembic import context

connection = context.config.attributes["connection"]
# SQLite cannot alter most things in place; batch mode rewrites the table instead.
# Constraints and indexes without a name get the one that the tables of the rooms have, too.
context.configure(
    connection=connection,
    target_metadata=context.config.attributes["metadata"],
    render_as_batch=connection.dialect.name == "sqlite",
)
context.run_migrations()
