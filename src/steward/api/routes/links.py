"""Links for people without an account: made and ended by editors; used by anyone who has the address."""

from datetime import datetime
from itertools import chain
from typing import Annotated, Final, Literal

from anyio import from_thread
from fastapi import Path, Request, status
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.api.bodies import chunks_of
from steward.api.context import address_of, base_of, steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, attachment, page
from steward.api.guards import AsAnyone, AsEditor
from steward.api.routes.uploads import LOAD
from steward.api.routing import Router
from steward.api.types import RUN_ID, LinkId, NewDatasetName
from steward.api.visibility import Visibility
from steward.app import Steward
from steward.broker import Grant
from steward.core import Denied, Invalid, NotFound, TooLarge
from steward.flows import DirectCall
from steward.identity import Access, Link, Principal, Role, TokenLimits, Via
from steward.runs import RunRequest
from steward.store import checked_chunks
from steward.tools import ShareFile, shared_file
from steward.trace import add_to_context
from steward.workbench import Upload

router = Router(prefix="/projects/{project_id}/links", tags=["links"])
public = Router(prefix="/links", tags=["links"])
# Whatever is handed out is shown inert, and its address goes nowhere else.
_INERT: Final = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Referrer-Policy": "no-referrer",
}
_CHUNK: Final = {"type": "string", "format": "binary"}
Token = Annotated[str, Path(pattern="^[0-9a-z]{74}$")]
FileName = Annotated[str, Path(min_length=1, max_length=500, examples=["sales.csv"])]


class _LinkIn(Input):
    minutes: int = Field(24 * 60, ge=1, le=525_600)


class DownloadLinkIn(_LinkIn):
    """The file of a path on the branch main, or one that a run made."""

    file: str | None = Field(None, min_length=1, max_length=500, examples=["originals/sales.csv"])
    run_id: str | None = Field(None, pattern=RUN_ID)
    digest: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    single_use: bool = False


class UploadLinkIn(_LinkIn):
    dataset: NewDatasetName
    max_bytes: int = Field(ge=1, le=2**50)


class LinkOut(Output):
    id: str
    kind: Literal["download", "upload"]
    name: str = Field(description="The file, or the dataset that a sent file becomes.")
    bytes: int = Field(description="The size of the file, or the most that may be sent.")
    single_use: bool
    uses: int
    made_by: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    run_id: str = Field(description="The run that made it: undo goes by it.")
    address: str | None = Field(description="Shown to the person who made the link.")


class SentOut(Output):
    name: str
    bytes: int


@router.post("/downloads", status_code=status.HTTP_201_CREATED)
async def make_download_link(request: Request, access: AsEditor, body: DownloadLinkIn) -> LinkOut:
    """A link by which anyone who has it can fetch one file. It ends with your role, and by revoking it."""
    return await _made(request, access, "share_file", body)


@router.post("/uploads", status_code=status.HTTP_201_CREATED)
async def make_upload_link(request: Request, access: AsEditor, body: UploadLinkIn) -> LinkOut:
    """A link by which anyone who has it can send one file, once; it is loaded as the dataset in your name."""
    most = steward_of(request).settings.http.max_upload_request_bytes
    if body.max_bytes > most:
        raise Invalid(f"A file that is sent by a link may have at most {most:,} bytes.")
    return await _made(request, access, "request_file", body)


@router.get("")
def list_links(
    request: Request, access: AsEditor, cursor: Cursor = None, limit: Limit = 50
) -> Page[LinkOut]:
    """Links that still work, newest first: your own; for admins, those of everybody."""
    links = steward_of(request).identity.links
    items, following = page(
        lambda after, count: links.page(access, after=after, limit=count),
        lambda link: link.id,
        cursor,
        limit,
    )
    return Page(items=[_link_out(request, access, each) for each in items], next_cursor=following)


@router.delete("/{link_id}", status_code=status.HTTP_204_NO_CONTENT)
def revoke_link(request: Request, access: AsEditor, link_id: LinkId) -> None:
    """Ends a link at once."""
    steward_of(request).identity.links.revoke(
        access.scope, link_id, by=access.user_id, everybodys=access.role >= Role.admin
    )


@public.get(
    "/{token}",
    dependencies=[AsAnyone],
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file."}},
)
def fetch_by_link(request: Request, token: Token) -> StreamingResponse:
    """The file that the link is for."""
    steward = steward_of(request)
    link = steward.identity.links.resolve(token, "GET")
    access, asked = _checked(request, link)
    arguments = ShareFile.model_validate(asked.document["arguments"])
    if arguments.run_id is not None:
        Visibility(steward, access).refuse_hidden(runs=[arguments.run_id])
    file, _ = shared_file(steward.workbench, steward.runs, access.scope, access.user_id, arguments)
    if file.digest != link.digest:
        raise NotFound("The file has changed since the link was made. Ask for another link.")
    chunks = checked_chunks(steward.blobs, file.digest)
    # The first part is read before the link counts as used.
    first = next(chunks, b"")
    steward.identity.links.use(link, address_of(request))
    return StreamingResponse(
        chain([first], chunks),
        media_type="application/octet-stream",
        headers={**attachment(link.name, link.bytes), **_INERT},
    )


@public.put(
    "/{token}/{name}",
    dependencies=[AsAnyone],
    status_code=status.HTTP_201_CREATED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": _CHUNK}},
        }
    },
)
def send_by_link(request: Request, token: Token, name: FileName) -> SentOut:
    """Takes the file in and has it loaded, as the person who made the link."""
    steward = steward_of(request)
    links, bringing = steward.identity.links, steward.workbench.bringing
    link = links.resolve(token, "PUT")
    access, asked = _checked(request, link)
    if int(request.headers.get("content-length", "0")) > link.bytes:
        raise _too_large(link)
    links.use(link, address_of(request))
    upload = None
    try:
        upload = bringing.start(access.scope, name, None)
        arrived = _whole(request, link, access, upload.id)
        dataset = asked.document["arguments"]["dataset"]
        arguments = {"dataset": dataset, "upload": upload.id}
        call = DirectCall("ingest", arguments, f"Load {arrived.name}", subject=LOAD)
        steward.governing.direct_calls.start(access, call)
    except BaseException:
        if upload is not None:
            bringing.abandon(access.scope, upload.id)
        links.give_back(link)
        raise
    return SentOut(name=arrived.name, bytes=arrived.offset)


def _whole(request: Request, link: Link, access: Access, upload_id: str) -> Upload:
    chunks = chunks_of(request, link.bytes, _too_large(link))
    bringing = steward_of(request).workbench.bringing
    arrived = bringing.append(access.scope, upload_id, 0, chunks)
    if not arrived.offset:
        raise Invalid("The file is empty. Send it as the body of the request.")
    return arrived


def _checked(request: Request, link: Link) -> tuple[Access, RunRequest]:
    """What the person who made the link may do now, and what they asked for: all of it is looked at again."""
    steward = steward_of(request)
    request.state.principal = link.id
    add_to_context(principal=link.id)
    try:
        asked = steward.runs.request(link.scope, link.run_id)
        principal = _maker(steward, link, Grant.from_json(asked.grant))
        access = steward.identity.projects.enter(principal, link.scope.project_id)
        access.require(Role.editor)
        call = DirectCall(asked.document["tool"], asked.document["arguments"])
        from_thread.run(steward.governing.direct_calls.needs_approval, access, call)
    except (NotFound, Denied):
        raise NotFound(
            "This link does not work any more: what it is for is gone, or the person who made it may no longer share it. "
            "Ask them for another one.",
            code="link-ended",
        ) from None
    return access, asked


def _maker(steward: Steward, link: Link, grant: Grant) -> Principal:
    """The person who made a link, by the token with which they did; NotFound once either does not count any more."""
    person = steward.identity.users.get(link.user_id)
    limits = None
    if grant.token is not None and grant.role is not None:
        limits = TokenLimits(grant.token, link.scope.project_id, grant.role)
    counts = limits is None or steward.identity.tokens.is_valid(limits.token_id)
    if person.disabled_at is not None or not counts:
        raise NotFound("The person or their token is gone.")
    return Principal(person.id, person.email, person.name, Via.token, limits=limits)


async def _made(
    request: Request, access: Access, tool: str, body: DownloadLinkIn | UploadLinkIn
) -> LinkOut:
    steward = steward_of(request)
    if isinstance(body, DownloadLinkIn) and body.run_id is not None:
        Visibility(steward, access).refuse_hidden(runs=[body.run_id])
    call = DirectCall(tool, body.model_dump(exclude_unset=True), seen=True)
    done = await steward.governing.direct_calls.run(access, call)
    made = steward.identity.links.made_by(access.scope, done.run.id)
    if made is None:
        raise NotFound("The link was revoked.")
    return _link_out(request, access, made)


def _link_out(request: Request, access: Access, link: Link) -> LinkOut:
    steward = steward_of(request)
    is_own = link.user_id == access.user_id
    address = steward.identity.links.address(link, base_of(request)) if is_own else None
    kind: Literal["download", "upload"] = "download" if link.method == "GET" else "upload"
    names = steward.identity.users.names([link.user_id])
    made_by = names.get(link.user_id, "")
    told = {name: getattr(link, name) for name in LinkOut.model_fields if hasattr(link, name)}
    return LinkOut(**told, kind=kind, made_by=made_by, address=address)


def _too_large(link: Link) -> TooLarge:
    return TooLarge(
        f"The file is larger than the {link.bytes:,} bytes that this link takes. Send a smaller one.",
        code="upload-too-large",
    )
