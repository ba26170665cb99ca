"""Links for people without an account: to fetch one file, or to send one file that becomes a dataset.

The value names the link and never its address, so no journal holds that; the person who made it reads it under Links.
"""

from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from steward.broker import (
    PLAIN,
    SELECTOR,
    TARGET,
    Arguments,
    Artifact,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Invalid, NotFound
from steward.identity import Link, Role
from steward.runs import Found, Json, Reconciled, Runs, Ticket, calls_of
from steward.store import Scope
from steward.tools._calls import bench, happened, off_loop
from steward.tools._commits import media_type
from steward.tools._installation import LINKS, RUNS
from steward.versions import checked_dataset_name
from steward.workbench import Workbench


class _ALink(Arguments):
    minutes: Annotated[int, PLAIN] = Field(
        24 * 60, ge=1, le=525_600, description="For how long the link is valid."
    )


class ShareFile(_ALink):
    file: Annotated[str | None, TARGET] = Field(
        None, min_length=1, max_length=500, description="Path among the files of the branch main."
    )
    run_id: Annotated[str | None, TARGET] = Field(
        None, max_length=40, description="Instead of a path: the run that made the file."
    )
    digest: Annotated[str | None, SELECTOR] = Field(
        None, pattern="^[0-9a-f]{64}$", description="Which of the files of that run, by its digest."
    )
    single_use: Annotated[bool, PLAIN] = Field(False, description="Whether it works only once.")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.file is None) == (self.run_id is None):
            raise ValueError("give either a file or a run")
        return self


class RequestFile(_ALink):
    dataset: Annotated[str, TARGET] = Field(
        min_length=1, max_length=180, description="The dataset that the file becomes."
    )
    max_bytes: Annotated[int, PLAIN] = Field(ge=1, le=2**50, description="The most it may have.")


def shared_file(
    workbench: Workbench, runs: Runs, scope: Scope, author: str, arguments: ShareFile
) -> tuple[Artifact, str]:
    """The file that a link is for, and its place; NotFound once it is no longer there."""
    if arguments.file is not None:
        for entry in workbench.datasets.workspace(scope, author).files():
            if entry.path == arguments.file:
                name = entry.path.rpartition("/")[2]
                kind = media_type(entry.path)
                return Artifact(name, kind, entry.digest, entry.bytes), f"files/{entry.path}"
        raise NotFound(f"There is no file {arguments.file!r} on the branch main.")
    run = runs.get(scope, arguments.run_id or "")
    made = [
        each
        for call in calls_of(runs.journal.entries(scope, run.id), runs.payload)
        for each in (*call.artifacts, *_exported(call.tool, call.value))
        if arguments.digest in (None, each["digest"])
    ]
    if len({each["digest"] for each in made}) > 1:
        raise Invalid("The run made several files. Say which one by its digest.", code="which-file")
    if not made:
        raise NotFound("The run made no such file.")
    found = Artifact(**{name: made[0][name] for name in Artifact.__dataclass_fields__})
    return found, f"runs/{run.id}/{found.digest}"


def _exported(tool: str | None, value: Json) -> list[dict[str, Any]]:
    file = value["file"] if tool == "export_dataset" and isinstance(value, dict) else None
    if not file:
        return []
    name = file["filename"]
    told = {"name": name, "media_type": media_type(name)}
    return [{**told, "digest": file["digest"], "size": file["bytes"]}]


def _shared(context: ToolContext, arguments: ShareFile) -> tuple[Artifact, str]:
    runs = context.services.use(RUNS)
    return shared_file(bench(context), runs, context.scope, context.author, arguments)


async def preview_share(context: ToolContext, arguments: ShareFile) -> Preview:
    found, _ = await off_loop(_shared, context, arguments)
    said = f"Let anyone who has the link fetch {found.name} for {_span(context, arguments)}"
    return Preview(
        said, {"name": found.name, "bytes": found.size}, payload={"digest": found.digest}
    )


async def preview_request(context: ToolContext, arguments: RequestFile) -> Preview:
    name, span = checked_dataset_name(arguments.dataset), _span(context, arguments)
    return Preview(f"Let anyone who has the link send one file for {name} within {span}")


async def share(context: ToolContext, arguments: ShareFile) -> Outcome:
    def make() -> Outcome:
        found, place = _shared(context, arguments)
        once, digest = arguments.single_use, found.digest
        return _made(context, arguments, "GET", place, found.name, found.size, digest, once)

    return await off_loop(make)


async def request(context: ToolContext, arguments: RequestFile) -> Outcome:
    name = checked_dataset_name(arguments.dataset)
    place, most = f"datasets/{name}", arguments.max_bytes
    return await off_loop(_made, context, arguments, "PUT", place, name, most, "", True)


def _made(context: ToolContext, arguments: _ALink, *told: Any) -> Outcome:
    lifetime = timedelta(minutes=arguments.minutes)
    links, run_id = context.services.use(LINKS), context.run_id
    return _outcome(links.make(context.scope, context.author, run_id, lifetime, *told))


async def take_back(context: ToolContext, _: _ALink, inverse: Json) -> Outcome:
    """Ends the link."""
    links = context.services.use(LINKS)
    await off_loop(links.revoke, context.scope, inverse["link"], by=context.author, everybodys=True)
    return Outcome(value={"link": inverse["link"]}, summary="Revoked the link")


async def reconcile(context: ToolContext, _: _ALink, __: Ticket) -> Reconciled:
    """A link remembers the run that made it."""
    made = await off_loop(context.services.use(LINKS).made_by, context.scope, context.run_id)
    return Reconciled(Found.not_happened) if made is None else happened(_outcome(made))


def _outcome(link: Link) -> Outcome:
    until = f"{link.expires_at:%d %B %Y, %H:%M} UTC"
    what = "fetch" if link.method == "GET" else "send a file for"
    return Outcome(
        value={"link": link.id, "expires_at": link.expires_at.isoformat()},
        summary=f"Made a link to {what} {link.name}, valid until {until}",
        inverse={"link": link.id},
    )


def _span(context: ToolContext, arguments: _ALink) -> str:
    context.services.use(LINKS).check(timedelta(minutes=arguments.minutes))
    return f"{arguments.minutes:,} minutes"


add_tool(
    name="share_file",
    title="Make a download link",
    description="Makes a link by which anyone who has it can fetch one file, until a moment.",
    arguments=ShareFile,
    risk=Risk.write,
    run=share,
    # It leaves a link behind, and a person takes the file along.
    effects=Effects(reads=True, writes=True, hands_out=True),
    dry_run=preview_share,
    undo=take_back,
    reconcile=reconcile,
    role=Role.editor,
    # Who may fetch a file outside is for people to choose: an agent may have read otherwise.
    direct_only=True,
)
add_tool(
    name="request_file",
    title="Make an upload link",
    description="Makes a link by which anyone who has it can send one file, which is then loaded as a dataset.",
    arguments=RequestFile,
    risk=Risk.write,
    run=request,
    effects=Effects(writes=True),
    dry_run=preview_request,
    undo=take_back,
    reconcile=reconcile,
    role=Role.editor,
    direct_only=True,
)
