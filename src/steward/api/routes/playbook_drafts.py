"""Drafts of playbooks: what a person has changed on the canvas and not saved; nobody else reads it."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Query, Request, status
from pydantic import AfterValidator, Field

from steward.api.documents import Input, Output
from steward.api.guards import AsEditor, AsViewer
from steward.api.playbook_documents import PlaybookId, playbooks_of, small_layout
from steward.api.routing import Router
from steward.playbooks import Drawing

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

LONGEST: Final = 900_000
Layout = Annotated[dict[str, Any], AfterValidator(small_layout)]


class DrawingIn(Input):
    text: str = Field(max_length=LONGEST, description="YAML as it stands; it need not be valid.")
    layout: Layout = Field(description="Where an editor draws the nodes.")


class DraftIn(Input):
    drawing: DrawingIn
    base: DrawingIn = Field(description="What it was changed from.")
    base_version: int = Field(ge=0, le=2**31 - 1, description="The playbook's version then.")
    seen: int = Field(
        ge=0, le=2**31 - 1, description="The version of the draft that this replaces; 0: none."
    )


class DrawingOut(Output):
    text: str
    layout: dict[str, Any]


class DraftOut(Output):
    drawing: DrawingOut
    base: DrawingOut
    base_version: int
    version: int
    updated_at: datetime


class MyDraftOut(Output):
    draft: DraftOut | None


class KeptOut(Output):
    version: int


class UnsavedOut(Output):
    user_id: str
    updated_at: datetime


class DraftsOut(Output):
    items: list[UnsavedOut]


@router.get("/{playbook_id}/draft")
def read_draft(request: Request, access: AsEditor, playbook_id: PlaybookId) -> MyDraftOut:
    """The caller's draft, if there is one; of `new`, the flow that they never saved."""
    found = playbooks_of(request).drafts.mine(access, playbook_id)
    return MyDraftOut(draft=None if found is None else DraftOut.model_validate(found))


@router.put("/{playbook_id}/draft")
def keep_draft(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: DraftIn
) -> KeptOut:
    """Keeps what the caller has changed; it becomes a revision when they save the playbook."""
    version = playbooks_of(request).drafts.keep(
        access,
        playbook_id,
        Drawing(body.drawing.text, body.drawing.layout),
        Drawing(body.base.text, body.base.layout),
        base_version=body.base_version,
        seen=body.seen,
    )
    return KeptOut(version=version)


@router.delete("/{playbook_id}/draft", status_code=status.HTTP_204_NO_CONTENT)
def discard_draft(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    seen: Annotated[int, Query(ge=1, le=2**31 - 1, description="The version that was read.")],
) -> None:
    """Drops the draft; one that another window has kept since stays."""
    playbooks_of(request).drafts.discard(access, playbook_id, seen=seen)


@router.get("/{playbook_id}/drafts")
def list_drafts(request: Request, access: AsViewer, playbook_id: PlaybookId) -> DraftsOut:
    """Who has changes that are not saved; what they are is theirs."""
    found = playbooks_of(request).drafts.unsaved(access, playbook_id)
    return DraftsOut(items=[UnsavedOut.model_validate(each) for each in found])
