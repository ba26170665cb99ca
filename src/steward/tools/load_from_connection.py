"""Loads a table of a connected database, or a file of a connected bucket, as a dataset."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field

from steward.broker import (
    NEW_TARGET,
    PLAIN,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.connections import Connection, Opened, s3
from steward.core import Invalid, StewardError, stoppable
from steward.ingest import Options
from steward.tools._calls import bench, heavy, off_loop
from steward.tools._commits import load_outcome, reconciling, version_now
from steward.tools._connections import (
    connection_of,
    desk_of,
    named,
    opened,
    said_plainly,
    target_of,
)
from steward.tools._file_options import FileOptions
from steward.versions import Commit


class LoadFromConnection(Arguments):
    connection: Annotated[str, TARGET] = Field(
        min_length=1, max_length=50, description="Name of the connection."
    )
    table: Annotated[str | None, TARGET] = Field(
        None, max_length=300, description="Table of a database, with its schema where it has one."
    )
    object: Annotated[str | None, TARGET] = Field(
        None, max_length=900, description="Key of a file in a bucket."
    )
    dataset: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=180, description="Name of the dataset."
    )
    stay: Annotated[bool, PLAIN] = Field(
        False,
        description=(
            "For a table of PostgreSQL: leave its rows there. Queries, previews and profiles run in the database."
        ),
    )
    reading: Annotated[FileOptions, PLAIN] = Field(
        FileOptions(), description="Corrections of how it is read."
    )


async def _chosen(context: ToolContext, arguments: LoadFromConnection) -> Connection:
    connection = await connection_of(context, arguments.connection, "database", "bucket")
    wanted, other = (
        ("table", "object") if connection.connector.use == "database" else ("object", "table")
    )
    if getattr(arguments, wanted) is None or getattr(arguments, other) is not None:
        raise Invalid(
            f"{connection.connector.title}: say which {wanted} to load, and no {other}.",
            code="invalid-arguments",
        )
    if arguments.stay and connection.kind != "postgresql":
        raise Invalid(
            f"Only tables of PostgreSQL can stay where they are; {connection.name} is a {connection.connector.title}. "
            "Load a copy: leave out `stay`.",
            code="cannot-stay",
        )
    return connection


async def dry_run(context: ToolContext, arguments: LoadFromConnection) -> Preview:
    connection = await _chosen(context, arguments)
    before = await off_loop(version_now, context, arguments.dataset)
    what = arguments.table or arguments.object
    how = " (its rows stay there)" if arguments.stay else ""
    return Preview(
        summary=f"{'Replace' if before else 'Make'} {arguments.dataset} from {what} of {connection.name}{how}",
        details={"place": connection.place, "replaces": before},
        payload={"connection": named(connection), "replaces": before},
    )


async def run(context: ToolContext, arguments: LoadFromConnection) -> Outcome:
    connection = await _chosen(context, arguments)
    found = await opened(context, connection)
    if connection.connector.use == "bucket":
        commit = await _from_bucket(context, found, arguments)
    else:
        commit = await heavy(context, _from_database, context, found, arguments)
    return await described(context, commit)


async def _from_bucket(
    context: ToolContext, found: Opened, arguments: LoadFromConnection
) -> Commit:
    key = arguments.object or ""
    http = desk_of(context).around.http
    context.report("Fetching the file")
    content = await stoppable(s3.fetch(http, found.settings, found.secrets, key))
    name = key.rpartition("/")[2] or "download"

    def load() -> Commit:
        bringing = bench(context).bringing
        upload = bringing.take(context.scope, name, [content])
        options = arguments.reading.options()
        _, commit = bringing.load_upload(
            context.scope, context.author, upload.id, arguments.dataset, options, context.branch
        )
        return commit

    return await heavy(context, load)


def _from_database(context: ToolContext, found: Opened, arguments: LoadFromConnection) -> Commit:
    target = target_of(context, found)
    options = replace(arguments.reading.options(), table=arguments.table)
    try:
        bringing = bench(context).bringing
        if arguments.stay:
            who, name = (context.scope, context.author), arguments.connection
            return bringing.register(
                *who, str(target), name, arguments.dataset, options, context.branch
            )
        if isinstance(target, Path):
            return _loaded(context, target, target.name, arguments.dataset, options)
        _, commit = bringing.load_server(
            context.scope,
            context.author,
            target,
            arguments.dataset,
            options,
            context.branch,
            private=True,
        )
    except StewardError as problem:
        raise said_plainly(problem, found) from None
    return commit


def _loaded(context: ToolContext, path: Path, name: str, dataset: str, options: Options) -> Commit:
    _, commit = bench(context).bringing.load(
        context.scope, context.author, path, name, dataset, options, context.branch
    )
    return commit


async def described(context: ToolContext, commit: Commit) -> Outcome:
    return await off_loop(load_outcome, context, commit, ("source", "file", "table"))


add_tool(
    name="load_from_connection",
    title="Load from a connection",
    description=(
        "Loads a table of a connected database, or a file of a connected bucket, as a dataset. Rows that do "
        "not fit are kept apart, with the reason."
    ),
    arguments=LoadFromConnection,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True, network=True),
    dry_run=dry_run,
    reconcile=reconciling(described),
    timeout=timedelta(hours=1),
    destination=lambda arguments: f"connection:{arguments.connection}",
)
