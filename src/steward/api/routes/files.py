"""Original files of a project."""

from datetime import datetime
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from steward.api.context import steward_of
from steward.api.documents import Cursor, Limit, Output, Page, page
from steward.api.guards import AsViewer
from steward.api.types import FileId

router = APIRouter(prefix="/projects/{project_id}/files", tags=["files"])


class FileOut(Output):
    id: str
    name: str
    description: str
    media_type: str
    size: int
    created_at: datetime


class PreviewOut(Output):
    columns: list[str]
    rows: list[list[str]]
    truncated: bool


@router.get("")
def list_files(
    request: Request, access: AsViewer, cursor: Cursor = None, limit: Limit = 50
) -> Page[FileOut]:
    files = steward_of(request).files
    items, following = page(
        lambda after, count: files.page(access.scope, after=after, limit=count),
        lambda file: file.id,
        cursor,
        limit,
    )
    return Page(items=[FileOut.model_validate(file) for file in items], next_cursor=following)


@router.get("/{file_id}/preview")
def preview_file(
    request: Request,
    access: AsViewer,
    file_id: FileId,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> PreviewOut:
    """The first rows, as the text that is in the file."""
    files = steward_of(request).files
    return PreviewOut.model_validate(files.preview(files.get(access.scope, file_id), limit))


@router.get(
    "/{file_id}/content",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The bytes."}},
)
def download_file(request: Request, access: AsViewer, file_id: FileId) -> StreamingResponse:
    files = steward_of(request).files
    file = files.get(access.scope, file_id)
    return StreamingResponse(
        files.content(file),
        # Always a download of bytes: a hostile file must not run as a page of this site.
        media_type="application/octet-stream",
        headers={
            "Content-Length": str(file.size),
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
        },
    )
