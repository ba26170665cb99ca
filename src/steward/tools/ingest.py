"""Loads a file as a dataset: one that was uploaded, or one fetched from an allowed address."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Final, Self

import httpx2
from pydantic import Field, model_validator

from steward.broker import (
    DESTINATION,
    NEW_TARGET,
    PLAIN,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.connections import HostPatterns, HttpLimits
from steward.core import Invalid, stoppable
from steward.tools._calls import ToolSettings, bench, heavy, off_loop, plain, settings_of
from steward.tools._commits import load_outcome, reconciling, version_now
from steward.tools._file_options import FileOptions
from steward.tools._installation import HTTP
from steward.versions import Commit

_FETCH: Final = HttpLimits(response_bytes=256 << 20, time=timedelta(minutes=5))


class IngestSettings(ToolSettings):
    allow_urls: list[str] = Field(
        [],
        description="Hosts that files may be fetched from, such as *.example.com; none at first.",
    )


class Ingest(Arguments):
    dataset: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=180, description="Name of the dataset."
    )
    upload: Annotated[str | None, TARGET] = Field(
        None, max_length=60, description="Id of a finished upload."
    )
    url: Annotated[str | None, DESTINATION] = Field(
        None, max_length=2000, description="Address of the file, where the project allows its host."
    )
    reading: Annotated[FileOptions, PLAIN] = Field(
        FileOptions(), description="Corrections of how the file is read."
    )

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.upload is None) == (self.url is None):
            raise ValueError("give either an upload or a url")
        return self


def _require_allowed(context: ToolContext, url: str) -> None:
    allowed = settings_of(context, "ingest", IngestSettings).allow_urls
    HostPatterns.parse(allowed).require(url, "ingest.allow_urls")


async def dry_run(context: ToolContext, arguments: Ingest) -> Preview:
    before = await off_loop(version_now, context, arguments.dataset)
    verb = "Replace" if before else "Make"
    payload = {"replaces": before}
    if arguments.url is not None:
        _require_allowed(context, arguments.url)
        return Preview(
            summary=f"{verb} {arguments.dataset} from {arguments.url}",
            details={"url": arguments.url, "replaces": before},
            payload=payload,
        )
    upload = arguments.upload or ""
    found = await off_loop(
        bench(context).bringing.inspect, context.scope, upload, arguments.reading.options()
    )
    counts = {"rows": found.records_seen} if found.complete else {}
    return Preview(
        summary=f"{verb} {arguments.dataset} from {found.name}",
        details={"counts": counts, "replaces": before, "inspection": plain(asdict(found))},
        payload=payload,
    )


async def run(context: ToolContext, arguments: Ingest) -> Outcome:
    upload = arguments.upload or await _fetched(context, arguments.url or "")
    _, commit = await heavy(
        context,
        bench(context).bringing.load_upload,
        context.scope,
        context.author,
        upload,
        arguments.dataset,
        arguments.reading.options(),
        context.branch,
    )
    return await loaded(context, commit)


async def _fetched(context: ToolContext, url: str) -> str:
    http = context.services.use(HTTP)
    context.report("Fetching the file")
    answer = await stoppable(
        http.request(
            "GET", url, check=lambda place: _require_allowed(context, place), limits=_FETCH
        )
    )
    if answer.status != 200:
        raise Invalid(f"The file could not be fetched: the server answered {answer.status}.")
    name = httpx2.URL(answer.url).path.rpartition("/")[2] or "download"

    taken = await off_loop(bench(context).bringing.take, context.scope, name, [answer.body])
    return taken.id


async def loaded(context: ToolContext, commit: Commit) -> Outcome:
    file = f"file:{commit.arguments.get('file')}@{commit.arguments.get('sha256')}"
    named = ("file", "sha256", "format")
    return await off_loop(load_outcome, context, commit, named, (file,))


def _cost(context: ToolContext, arguments: Ingest) -> Cost:
    if arguments.upload is None:
        return Cost(bytes=_FETCH.response_bytes)
    return Cost(bytes=bench(context).bringing.get(context.scope, arguments.upload).offset)


add_tool(
    name="ingest",
    title="Load a file",
    description=(
        "Loads an uploaded file, or one from an allowed address, as a dataset: CSV, JSON, Excel, Parquet, "
        "SQLite and archives of them. Rows that do not fit are kept apart, with the reason."
    ),
    arguments=Ingest,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True, network=True),
    dry_run=dry_run,
    reconcile=reconciling(loaded),
    estimate=_cost,
    timeout=timedelta(hours=1),
    destination=lambda arguments: arguments.url or "",
)
