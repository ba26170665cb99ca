"""Loads the answer of a connected service as a dataset: it goes into a file piece by piece, however long it is."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    NEW_TARGET,
    PLAIN,
    SELECTOR,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
    problems_of,
)
from steward.connections import READ, Connection, HttpAnswer, Operation, Service
from steward.core import Denied, Invalid, NotFound, Unavailable, stoppable
from steward.tools._calls import bench, heavy, off_loop
from steward.tools._commits import load_outcome, reconciling, version_now
from steward.tools._connections import connection_of, desk_of, named, opened
from steward.tools._file_options import FileOptions
from steward.tools._services import WORD
from steward.versions import Commit

_ENDINGS: Final = {
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/x-jsonlines": ".jsonl",
    "application/vnd.apache.parquet": ".parquet",
    "application/zip": ".zip",
    "application/gzip": ".gz",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
"""What a file is called for the media type of an answer; how it is read is found by its content."""


class LoadFromService(Arguments):
    connection: Annotated[str, TARGET] = Field(
        min_length=1, max_length=50, description="Name of a connection to a service."
    )
    operation: Annotated[str, TARGET] = Field(
        min_length=1, max_length=64, description="Name of an operation that only reads."
    )
    arguments: Annotated[dict[str, Any], SELECTOR] = Field(
        {}, description="Arguments of the operation."
    )
    dataset: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=180, description="Name of the dataset."
    )
    reading: Annotated[FileOptions, PLAIN] = Field(
        FileOptions(), description="Corrections of how it is read."
    )


async def _chosen(
    context: ToolContext, arguments: LoadFromService
) -> tuple[Connection, Service, Operation]:
    connection = await connection_of(context, arguments.connection, "service")
    return connection, *await off_loop(_operation, context, connection, arguments)


def _operation(
    context: ToolContext, connection: Connection, arguments: LoadFromService
) -> tuple[Service, Operation]:
    services, name = desk_of(context).services, str(connection.settings["service"])
    record = services.record(context.scope, name)
    operation = record.find(arguments.operation)
    if operation is None:
        raise NotFound(f"{connection.name} has no operation {arguments.operation!r}.")
    choice = services.choice(context.scope, name, operation)
    if ((choice.risk if choice else None) or record.risk(operation)) != READ:
        raise Denied(
            f"{arguments.operation!r} does more than read. Call it as a tool of its own, where its risk is weighed.",
            code="not-a-read",
        )
    wrong = problems_of(operation.arguments, arguments.arguments, "/arguments")
    if wrong:
        raise Invalid("Some arguments do not fit the operation.", problems=wrong)
    return record.service, operation


async def dry_run(context: ToolContext, arguments: LoadFromService) -> Preview:
    connection, _, operation = await _chosen(context, arguments)
    before = await off_loop(version_now, context, arguments.dataset)
    return Preview(
        summary=(
            f"{'Replace' if before else 'Make'} {arguments.dataset} from {operation.title} of {connection.name}"
        ),
        details={"place": connection.place, "replaces": before},
        payload={
            "connection": named(connection),
            "definition": operation.hash,
            "replaces": before,
        },
    )


async def run(context: ToolContext, arguments: LoadFromService) -> Outcome:
    connection, service, operation = await _chosen(context, arguments)
    found = await opened(context, connection)
    with TemporaryDirectory(prefix="steward-answer-") as folder:
        path = Path(folder) / "answer"
        context.report("Fetching the answer")
        with path.open("wb") as file:
            saving = desk_of(context).calls.save(
                found, service, operation, arguments.arguments, file.write
            )
            answer = await stoppable(saving)
        if not 200 <= answer.status < 300:
            raise Unavailable(f"{connection.name} answered with status {answer.status}.")
        commit = await heavy(context, _loaded, context, path, answer, arguments)
    return await described(context, commit)


def _loaded(
    context: ToolContext, path: Path, answer: HttpAnswer, arguments: LoadFromService
) -> Commit:
    name = f"{arguments.operation}{_ENDINGS.get(answer.media_type, '.txt')}".replace("/", "-")
    _, commit = bench(context).bringing.load(
        context.scope,
        context.author,
        path,
        name,
        arguments.dataset,
        arguments.reading.options(),
        context.branch,
    )
    return commit


async def described(context: ToolContext, commit: Commit) -> Outcome:
    outcome = await off_loop(load_outcome, context, commit, ("source", "file", "table"))
    return replace(outcome, trusted=False)


add_tool(
    name="load_from_service",
    title="Load from a service",
    description=(
        "Calls an operation of a connected service that only reads, and loads its answer as a dataset: tables, "
        "JSON and JSON lines up to 2 GB. Rows that do not fit are kept apart, with the reason."
    ),
    arguments=LoadFromService,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True, network=True),
    dry_run=dry_run,
    reconcile=reconciling(described),
    timeout=timedelta(hours=1),
    destination=lambda arguments: f"{WORD}:{arguments.connection}",
)
