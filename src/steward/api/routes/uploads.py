"""Bringing data in: resumable uploads, inspection with evidence, loading as a dataset."""

from datetime import datetime
from typing import Annotated, Any, Literal

from anyio import from_thread
from fastapi import APIRouter, Header, Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsEditor
from steward.api.routes.tasks import TaskOut, task_out
from steward.api.types import NewDatasetName, UploadId
from steward.data.ingest import ColumnOption, Options
from steward.data.ingest.uploads import Upload

router = APIRouter(prefix="/projects/{project_id}/uploads", tags=["uploads"])


class UploadIn(Input):
    name: str = Field(min_length=1, max_length=500, examples=["customers.csv"])
    size: int | None = Field(None, ge=0, le=2**50)


class UploadOut(Output):
    id: str
    name: str
    size: int | None
    offset: int
    finished: bool
    touched: datetime


class ColumnOptionIn(Input):
    type: str | None = Field(None, max_length=100)
    format: str | None = Field(None, max_length=50)
    decimal_mark: str | None = Field(None, max_length=1)
    thousands: str | None = Field(None, max_length=1)


class OptionsIn(Input):
    """Corrections of what was detected; unset: as detected."""

    format: str | None = Field(None, max_length=20)
    table: str | None = Field(None, max_length=300)
    encoding: str | None = Field(None, max_length=40)
    delimiter: str | None = Field(None, max_length=4)
    quote: str | None = Field(None, max_length=1)
    escape: str | None = Field(None, max_length=1)
    header_row: int | None = Field(None, ge=0, le=10**6)
    columns: dict[str, ColumnOptionIn] = Field(default_factory=dict)
    null_markers: list[str] = Field([], max_length=50)
    date_format: str | None = Field(None, max_length=50)
    decimal_mark: str | None = Field(None, max_length=1)
    thousands: str | None = Field(None, max_length=1)
    ragged: Literal["reject", "pad"] = "reject"
    fill_merged: bool = False


class InspectIn(Input):
    options: OptionsIn = OptionsIn()


class InspectionOut(Output):
    inspection: dict[str, Any]


class IngestIn(Input):
    dataset: NewDatasetName
    options: OptionsIn = OptionsIn()
    branch: str = Field("main", max_length=100)


def options_of(wanted: OptionsIn) -> Options:
    fields = wanted.model_dump(exclude={"columns"})
    columns = {name: ColumnOption(**item.model_dump()) for name, item in wanted.columns.items()}
    return Options(**{**fields, "null_markers": tuple(wanted.null_markers)}, columns=columns)


def _upload_out(upload: Upload) -> UploadOut:
    return UploadOut.model_validate(upload)


@router.post("", status_code=status.HTTP_201_CREATED)
def start_upload(request: Request, access: AsEditor, body: UploadIn) -> UploadOut:
    bringing = steward_of(request).workbench.bringing
    return _upload_out(bringing.start(access.scope, body.name, body.size))


@router.get("/{upload_id}")
def read_upload(request: Request, access: AsEditor, upload_id: UploadId) -> UploadOut:
    """Where to go on after a broken line: at `offset`."""
    return _upload_out(steward_of(request).workbench.bringing.get(access.scope, upload_id))


@router.patch(
    "/{upload_id}",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
def append_to_upload(
    request: Request,
    access: AsEditor,
    upload_id: UploadId,
    upload_offset: Annotated[int, Header(ge=0, le=2**50)],
) -> UploadOut:
    """Adds the body's bytes at `Upload-Offset`; anything that arrived is kept, even of a broken request."""
    stream = request.stream()

    def chunks() -> Any:
        while True:
            try:
                chunk = from_thread.run(stream.__anext__)
            except StopAsyncIteration:
                return
            if chunk:
                yield chunk

    bringing = steward_of(request).workbench.bringing
    return _upload_out(bringing.append(access.scope, upload_id, upload_offset, chunks()))


@router.delete("/{upload_id}", status_code=status.HTTP_204_NO_CONTENT)
def abandon_upload(request: Request, access: AsEditor, upload_id: UploadId) -> None:
    steward_of(request).workbench.bringing.abandon(access.scope, upload_id)


@router.post("/{upload_id}/inspect")
def inspect_upload(
    request: Request, access: AsEditor, upload_id: UploadId, body: InspectIn
) -> InspectionOut:
    """What the file seems to be: format, columns, types with the evidence for them, first rows."""
    bringing = steward_of(request).workbench.bringing
    found = bringing.inspect(access.scope, upload_id, options_of(body.options))
    return InspectionOut(inspection=found.as_dict())


@router.post("/{upload_id}/ingest", status_code=status.HTTP_202_ACCEPTED)
def ingest_upload(
    request: Request, access: AsEditor, upload_id: UploadId, body: IngestIn
) -> TaskOut:
    """Loads it as a dataset, in one commit with its rejects and the original file."""
    bringing = steward_of(request).workbench.bringing
    task = bringing.ingest(
        access.scope, access.user_id, upload_id, body.dataset, options_of(body.options), body.branch
    )
    return task_out(task)
