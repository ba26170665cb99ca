"""Proposals: what is configured on this machine already, and can become a connection."""

from typing import Annotated, Any

from fastapi import Path, Request, Response, status
from pydantic import Field

from steward.api.documents import (
    Input,
    Output,
    Page,
    set_etag,
)
from steward.api.routes.connections import (
    AsAdminInPerson,
    ConnectionName,
    ConnectionOut,
    connection_out,
    desk_of,
)
from steward.api.routing import Router
from steward.connections import load_connectors
from steward.connections.discovery import Proposal, told_wrong

router = Router(prefix="/projects/{project_id}", tags=["connections"])

ProposalId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", examples=["0" * 32])]


class ProposalOut(Output):
    id: str
    kind: str
    title: str
    name: str
    found_in: str
    settings: dict[str, Any]
    masked: dict[str, str]
    missing: list[str]
    note: str
    refused: str


class AcceptIn(Input):
    name: ConnectionName | None = None
    settings: dict[str, Any] = Field({}, max_length=20, description="What was missing, no more.")
    scope_hint: str = Field("", max_length=400)


@router.get("/connection-proposals")
def list_connection_proposals(request: Request, access: AsAdminInPerson) -> Page[ProposalOut]:
    """What is configured on this machine already, secrets masked; for whoever runs the installation."""
    found = desk_of(request).discovery.proposals(access)
    return Page(items=[_proposal_out(each) for each in found], next_cursor=None)


@router.post("/connection-proposals/look")
def look_for_connections(request: Request, access: AsAdminInPerson) -> Page[ProposalOut]:
    """Looks again."""
    found = desk_of(request).discovery.proposals(access, again=True)
    return Page(items=[_proposal_out(each) for each in found], next_cursor=None)


@router.post("/connection-proposals/{proposal_id}/accept", status_code=status.HTTP_201_CREATED)
def accept_connection_proposal(
    request: Request,
    access: AsAdminInPerson,
    proposal_id: ProposalId,
    body: AcceptIn,
    response: Response,
) -> ConnectionOut:
    """Makes the connection of it; its secrets go into the project's store."""
    made = desk_of(request).discovery.accept(
        access,
        proposal_id,
        name=body.name,
        settings=body.settings,
        scope_hint=body.scope_hint,
    )
    set_etag(response, made.revision)
    return connection_out(desk_of(request), access, made)


@router.post("/connection-proposals/{proposal_id}/dismiss", status_code=status.HTTP_204_NO_CONTENT)
def dismiss_connection_proposal(
    request: Request, access: AsAdminInPerson, proposal_id: ProposalId
) -> None:
    """Hides it in this project."""
    desk_of(request).discovery.dismiss(access, proposal_id)


@router.post("/connection-proposals/{proposal_id}/bring-back")
def bring_back_connection_proposal(
    request: Request, access: AsAdminInPerson, proposal_id: ProposalId
) -> ProposalOut:
    """Shows a dismissed one again."""
    return _proposal_out(desk_of(request).discovery.bring_back(access, proposal_id))


def _proposal_out(found: Proposal) -> ProposalOut:
    proposal = told_wrong(found)
    known = load_connectors()
    title = known.get(proposal.kind).title if proposal.kind in known else "Model"
    return ProposalOut(
        **{
            name: getattr(proposal, name)
            for name in ("id", "kind", "name", "found_in", "note", "refused", "masked")
        },
        title=title,
        settings=dict(proposal.settings),
        missing=list(proposal.missing),
    )
