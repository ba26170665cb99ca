"""What agents remember between runs: looked at and deleted by people; only an agent's own calls write it."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Path, Request
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Output, Page
from steward.api.guards import AsOperator, AsViewer
from steward.api.routes.agents import AgentName
from steward.api.routing import Router
from steward.core import copied
from steward.flows import DirectCall
from steward.identity import Access

router = Router(prefix="/projects/{project_id}/agents/{name}/notes", tags=["agents"])
NoteId = Annotated[str, Path(pattern=r"^note_[0-9a-z]{26}$", max_length=40)]


class AgentNoteOut(Output):
    id: str
    number: int = Field(description="By which the agent itself names it.")
    text: str
    per: Literal["project", "person"] = Field(description="`person`: only you see it.")
    author: str = Field(description="For whom the run worked that wrote it.")
    author_name: str | None
    run_id: str
    created_at: datetime


class AgentNotesDeleted(Output):
    deleted: int
    run_id: str = Field(description="The run that deleted them; undoing it brings them back.")


@router.get("")
def list_agent_notes(request: Request, access: AsViewer, name: AgentName) -> Page[AgentNoteOut]:
    """What the agent remembers between runs, newest first: the project's notes and your own."""
    steward = steward_of(request)
    steward.agents.versions(access.scope, name)
    names = {each.user_id: each.name for each in steward.identity.members.page(access)}
    items = [
        copied(
            AgentNoteOut,
            each,
            per="person" if each.person else "project",
            author_name=names.get(each.author),
        )
        for each in steward.agents.notes.visible(access.scope, name, access.user_id)
    ]
    return Page(items=items, next_cursor=None)


@router.delete("")
async def delete_agent_notes(
    request: Request, access: AsOperator, name: AgentName
) -> AgentNotesDeleted:
    """Deletes all notes that you see. Those that the project shares are for editors."""
    return await _deleted(request, access, name, None)


@router.delete("/{note_id}")
async def delete_agent_note(
    request: Request, access: AsOperator, name: AgentName, note_id: NoteId
) -> AgentNotesDeleted:
    """Deletes one note. Those that the project shares are for editors."""
    return await _deleted(request, access, name, [note_id])


async def _deleted(
    request: Request, access: Access, name: str, notes: list[str] | None
) -> AgentNotesDeleted:
    what = "all notes" if notes is None else "a note"
    call = DirectCall(
        "delete_notes", {"agent": name, "notes": notes}, title=f"Delete {what} of the agent {name}"
    )
    done = await steward_of(request).governing.direct_calls.run(access, call)
    return AgentNotesDeleted(run_id=done.run.id, **done.value)
