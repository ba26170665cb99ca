"""The record of a run: replayed, forked, compared, verified, and given out as files."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response, status
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output, Page, attachment
from steward.api.guards import AsEditor, AsViewer, AsViewerOrRunner
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import RunId
from steward.core import NotFound, copied
from steward.runs import calls_of
from steward.store import checked_chunks

router = Router(prefix="/projects/{project_id}/runs", tags=["runs"])


class DivergenceOut(Output):
    key: str
    what: str
    recorded: Any
    replayed: Any


class ReplayOut(Output):
    run_id: str
    entries: int
    steps: int
    ended: str
    divergences: list[DivergenceOut]


class ForkIn(Input):
    at: str | None = Field(None, max_length=400, description="The step to fork before.")
    changes: dict[str, Any] = Field(
        default_factory=dict, description="New values by JSON pointer, as in `/inputs/limit`."
    )


class StepDifferenceOut(Output):
    key: str
    same: bool
    left: Any
    right: Any


class FaultOut(Output):
    part: str = Field(description="What is wrong: entry, status, title, approval, file, log …")
    reason: str
    seq: int | None = Field(description="The entry, where it is about one.")


class VerifyOut(Output):
    intact: bool
    signing: Literal["signed", "not_yet", "before_signing"]
    sentence: str
    entries: int
    files: int
    approvals: int
    signed_at: datetime | None
    signer: str | None = Field(description="Fingerprint of the key that signed.")
    faults: list[FaultOut]


@router.post("/{run_id}/replay")
async def replay_run(request: Request, access: AsViewer, run_id: RunId) -> ReplayOut:
    """Drives the record again, with no model, network or clock, and tells every difference."""
    report = await steward_of(request).runs.replay(access.scope, run_id)
    return ReplayOut.model_validate(report)


@router.post("/{run_id}/fork", status_code=status.HTTP_201_CREATED)
def fork_run(request: Request, access: AsEditor, run_id: RunId, body: ForkIn) -> RunOut:
    """A new run that shares the history before a step and goes on with the changes."""
    forking = steward_of(request).governing.forking
    return RunOut.model_validate(forking.fork(access, run_id, at=body.at, changes=body.changes))


@router.get("/{run_id}/diff")
def diff_runs(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    other: Annotated[str, Query(min_length=1, max_length=40)],
) -> Page[StepDifferenceOut]:
    """Two runs side by side, step by step."""
    found = steward_of(request).runs.diff(access.scope, run_id, other)
    return Page(items=[StepDifferenceOut.model_validate(d) for d in found], next_cursor=None)


@router.get("/{run_id}/verify")
def verify_run(request: Request, access: AsViewer, run_id: RunId) -> VerifyOut:
    """Whether everything the run claims is what was written and signed: entries, files, approvals, status, title."""
    found = steward_of(request).runs.verify(access.scope, run_id)
    return copied(
        VerifyOut,
        found,
        intact=found.is_intact,
        signing=found.signing.value,
        signed_at=datetime.fromisoformat(found.signed_at) if found.signed_at else None,
    )


@router.get(
    "/{run_id}/capsule",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "One file."}},
)
def export_run(request: Request, access: AsViewer, run_id: RunId, test: bool = False) -> Response:
    """The run in one file; with `test`, also what it must come out as."""
    runs = steward_of(request).runs
    content = runs.record_test(access.scope, run_id) if test else runs.export(access.scope, run_id)
    ending = "steward-test" if test else "capsule"
    return Response(
        content,
        media_type="application/zip",
        headers=attachment(f"{run_id}.{ending}.zip", len(content)),
    )


@router.get(
    "/{run_id}/artifacts/{digest}",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The bytes."}},
)
def download_artifact(
    request: Request,
    access: AsViewerOrRunner,
    run_id: RunId,
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")],
) -> StreamingResponse:
    """A file that the run made."""
    steward = steward_of(request)
    runs = steward.runs
    runs.get(access.scope, run_id)
    for call in calls_of(runs.journal.entries(access.scope, run_id), runs.payload):
        for artifact in call.artifacts:
            if artifact["digest"] == digest:
                return _download(checked_chunks(steward.blobs, digest), artifact)
    raise NotFound("The run made no such file.")


def _download(chunks: Iterator[bytes], artifact: dict[str, Any]) -> StreamingResponse:
    # The first part is read before the answer begins: a damaged small file is told as such.
    first = next(chunks, b"")
    # Whatever a run made is shown inert.
    inert = {"Content-Security-Policy": "sandbox; default-src 'none'"}
    return StreamingResponse(
        chain([first], chunks),
        media_type=artifact["media_type"],
        headers={**attachment(artifact["name"], artifact["size"]), **inert},
    )
