"""Bringing data in: resumable uploads, inspection with evidence, loading as a dataset."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Header, Request, status
from pydantic import Field

from steward.api.bodies import chunks_of
from steward.api.context import steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsEditor
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import NewDatasetName, UploadId
from steward.flows import DirectCall
from steward.tools import FileOptions
from steward.workbench import Upload

LOAD: Final = "load"
"""The subject of runs that load data, by which pages find them again."""
router = Router(prefix="/projects/{project_id}/uploads", tags=["uploads"])


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


class InspectIn(Input):
    options: FileOptions = FileOptions()


class InspectionOut(Output):
    inspection: dict[str, Any]


class IngestIn(Input):
    dataset: NewDatasetName
    options: FileOptions = FileOptions()
    branch: str = Field("main", max_length=100)


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
    bringing = steward_of(request).workbench.bringing
    return _upload_out(bringing.append(access.scope, upload_id, upload_offset, chunks_of(request)))


@router.delete("/{upload_id}", status_code=status.HTTP_204_NO_CONTENT)
def abandon_upload(request: Request, access: AsEditor, upload_id: UploadId) -> None:
    bringing = steward_of(request).workbench.bringing
    bringing.get(access.scope, upload_id)
    bringing.abandon(access.scope, upload_id)


@router.post("/{upload_id}/inspect")
def inspect_upload(
    request: Request, access: AsEditor, upload_id: UploadId, body: InspectIn
) -> InspectionOut:
    """What the file seems to be: format, columns, types with the evidence for them, first rows."""
    bringing = steward_of(request).workbench.bringing
    found = bringing.inspect(access.scope, upload_id, body.options.options())
    return InspectionOut(inspection=found.as_dict())


@router.post("/{upload_id}/ingest", status_code=status.HTTP_202_ACCEPTED)
def ingest_upload(
    request: Request, access: AsEditor, upload_id: UploadId, body: IngestIn
) -> RunOut:
    """Loads it as a dataset, in one commit with its rejects and the original file: a run that any worker makes."""
    steward = steward_of(request)
    upload = steward.workbench.bringing.get(access.scope, upload_id)
    arguments = {
        "dataset": body.dataset,
        "upload": upload_id,
        "reading": body.options.model_dump(exclude_unset=True),
    }
    call = DirectCall(
        "ingest", arguments, f"Load {upload.name}", body.branch, seen=True, subject=LOAD
    )
    return RunOut.model_validate(steward.governing.direct_calls.start(access, call))
