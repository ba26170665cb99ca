"""Alembic's entry: runs on the connection that `migrate` hands over."""

from alembic import context

connection = context.config.attributes["connection"]
# SQLite cannot alter most things in place; batch mode rewrites the table instead.
context.configure(connection=connection, render_as_batch=connection.dialect.name == "sqlite")
context.run_migrations()
