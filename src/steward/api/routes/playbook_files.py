"""Playbooks as files: taken in, and given out one by one or all at once."""

from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import Query, Request, Response
from pydantic import AfterValidator, Field

from steward.api.documents import Input, Output, attachment
from steward.api.guards import AsEditor, AsViewer
from steward.api.playbook_documents import (
    PlaybookId,
    PlaybookOut,
    PlaybookProblem,
    playbooks_of,
    small_layout,
)
from steward.api.routing import Router
from steward.core import Invalid, TooLarge
from steward.playbooks import (
    LARGEST_ZIP,
    MOST_FILES,
    Change,
    Imported,
    SourceFile,
    packed,
    unpacked,
)

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])
DrawnLayout = Annotated[dict[str, Any], AfterValidator(small_layout)]


class ImportIn(Input):
    yaml: str = Field(max_length=1_000_000)
    message: str = Field("", max_length=400)
    mine: bool = Field(False, description="Leave out whom it belongs to and is shared with.")
    layout: DrawnLayout | None = Field(
        None, description="Where an editor draws the nodes; merged with what is drawn here."
    )


class ImportOut(Output):
    change: Literal["created", "changed", "unchanged"]
    playbook: PlaybookOut


@router.post("/import")
def import_playbook(request: Request, access: AsEditor, body: ImportIn) -> ImportOut:
    """Takes in one file: a new draft, a new revision, or nothing when nothing differs."""
    done = playbooks_of(request).exchange.bring_in(
        access, body.yaml, message=body.message, mine=body.mine, layout=body.layout
    )
    return ImportOut.model_validate({"change": done.change.value, "playbook": done.card})


class FileIn(Input):
    name: str = Field(min_length=1, max_length=500, description="How the answer names it.")
    yaml: str = Field(max_length=1_000_000)
    layout: DrawnLayout | None = Field(
        None, description="From the file of its drawing; merged with what is drawn here."
    )


class ImportFilesIn(Input):
    files: list[FileIn] = Field(min_length=1, max_length=MOST_FILES)
    message: str = Field("", max_length=400)
    mine: bool = Field(False, description="Leave out whom they belong to and are shared with.")
    trial: bool = Field(False, description="Only tell what would become of each.")


class ImportedFileOut(Output):
    name: str
    change: Literal["created", "changed", "unchanged", "refused"]
    playbook: PlaybookOut | None = Field(
        description="Null for a trial, and when nothing was written."
    )
    reason: str | None = Field(description="Why it was refused.")
    problems: list[PlaybookProblem] = Field(description="Each with its place and its line.")


class ImportedFilesOut(Output):
    written: bool = Field(description="False for a trial, and when one file was refused.")
    files: list[ImportedFileOut]


class UnpackedOut(Output):
    files: list[FileIn] = Field(description="As the import of files takes them.")


@router.post(
    "/import/unpack",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def unpack_playbooks(request: Request, _access: AsEditor) -> UnpackedOut:
    """The playbooks of a zip, such as the export makes, to be imported as files; nothing is kept."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGEST_ZIP:
            raise TooLarge(f"A zip of playbooks has at most {LARGEST_ZIP:,} bytes.")
    found = await to_thread.run_sync(unpacked, bytes(content))
    for each in found:
        if each.unreadable is not None:
            raise Invalid(each.unreadable)
    return UnpackedOut(
        files=[
            FileIn(
                name=each.name,
                yaml=each.text,
                layout=None if each.layout is None else dict(each.layout),
            )
            for each in found
        ]
    )


@router.post("/import/files")
def import_playbook_files(
    request: Request, access: AsEditor, body: ImportFilesIn
) -> ImportedFilesOut:
    """Takes in several files, all of them or none."""
    done = playbooks_of(request).exchange.bring_in_all(
        access,
        [SourceFile(each.name, each.yaml, layout=each.layout) for each in body.files],
        message=body.message,
        mine=body.mine,
        trial=body.trial,
    )
    written = not body.trial and all(each.change is not Change.refused for each in done)
    return ImportedFilesOut(
        written=written, files=[_imported_out(each, written=written) for each in done]
    )


def _imported_out(done: Imported, *, written: bool) -> ImportedFileOut:
    # What was not written has no card that somebody could open.
    card = PlaybookOut.model_validate(done.card) if written and done.card is not None else None
    return ImportedFileOut(
        name=done.name,
        change=done.change.value,
        playbook=card,
        reason=done.reason,
        problems=[PlaybookProblem(pointer=p.pointer, message=p.message) for p in done.problems],
    )


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "One file each."}},
)
def export_playbooks(request: Request, access: AsViewer) -> Response:
    """Every playbook the caller sees, one file each, and beside it one for its drawing; the same playbooks give the same
    bytes."""
    content = packed(playbooks_of(request).exchange.files(access))
    return Response(
        content, media_type="application/zip", headers=attachment("playbooks.zip", len(content))
    )


@router.get(
    "/{playbook_id}/yaml",
    response_class=Response,
    responses={200: {"content": {"application/yaml": {}}, "description": "One document."}},
)
def download_playbook(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    revision: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Response:
    """The playbook as a file: the newest revision, or the one that is named."""
    library = playbooks_of(request).library
    card = library.get(access, playbook_id)
    content = library.text(access, card.id, revision).encode()
    return Response(
        content,
        media_type="application/yaml",
        headers=attachment(f"{card.slug}.yaml", len(content)),
    )
