"""Invitations by link."""

from datetime import datetime
from urllib.parse import urlencode

from fastapi import Request, Response, status
from pydantic import ConfigDict, Field

from steward.api.context import base_of, steward_of
from steward.api.documents import Cursor, Input, Limit, Name, Output, Page, page
from steward.api.guards import AsAdmin, AsAnyone, AsPerson
from steward.api.playbook_documents import playbooks_of
from steward.api.routes.session import SessionOut, session_out, start_session
from steward.api.routing import Router
from steward.api.types import InvitationId, RoleName, role_name
from steward.core import Conflict, copied
from steward.identity import Invitation, Role

router = Router(tags=["invitations"])
_OF_PROJECT = "/projects/{project_id}/invitations"


class InvitationOut(Output):
    id: str
    role: RoleName
    email: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    playbook_id: str | None = Field(description="Shared with the person who accepts.")


class NewInvitationOut(InvitationOut):
    link: str = Field(description="Address to send to the person; shown now and never again.")


class InvitationRequest(Input):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"role": "operator", "email": "grace@example.com"}]}
    )

    role: RoleName
    email: str | None = Field(None, max_length=254)
    expires_in_days: int = Field(7, ge=1, le=90)
    playbook: str | None = Field(
        None, max_length=60, description="Id of a playbook to share with the person who accepts."
    )


class InvitationToken(Input):
    token: str = Field(max_length=200)


class InvitationPreviewOut(Output):
    project_id: str
    project_name: str
    role: RoleName
    email: str | None
    invited_by: str
    expires_at: datetime
    playbook_id: str | None
    playbook_name: str | None


class AcceptAsNew(Input):
    token: str = Field(max_length=200)
    name: Name
    email: str = Field(max_length=254)
    password: str = Field(max_length=1000)


def _invitation_out(invitation: Invitation) -> InvitationOut:
    return copied(InvitationOut, invitation, role=role_name(invitation.role))


@router.get(_OF_PROJECT)
def list_invitations(
    request: Request, access: AsAdmin, cursor: Cursor = None, limit: Limit = 50
) -> Page[InvitationOut]:
    invitations = steward_of(request).identity.invitations
    items, following = page(
        lambda after, count: invitations.page(access, after=after, limit=count),
        lambda invitation: invitation.id,
        cursor,
        limit,
    )
    return Page(items=[_invitation_out(item) for item in items], next_cursor=following)


@router.post(_OF_PROJECT, status_code=status.HTTP_201_CREATED)
def create_invitation(
    request: Request, access: AsAdmin, body: InvitationRequest
) -> NewInvitationOut:
    """A link for one person; with a playbook, it is shared with them and opens after they join."""
    steward = steward_of(request)
    role = Role[body.role]
    playbook = playbooks_of(request).library.get(access, body.playbook) if body.playbook else None
    if playbook is not None and playbook.deployed is None and role is Role.runner:
        raise Conflict(
            f"A runner sees only deployed playbooks. Deploy {playbook.name!r} first, or choose another role.",
            code="not-deployed",
        )
    invitation, text = steward.identity.invitations.create(
        access, role, body.email, body.expires_in_days, playbook.id if playbook else None
    )
    link = f"{base_of(request)}/invite?{urlencode({'token': text})}"
    return NewInvitationOut(**_invitation_out(invitation).model_dump(), link=link)


@router.delete(_OF_PROJECT + "/{invitation_id}", status_code=status.HTTP_204_NO_CONTENT)
def revoke_invitation(request: Request, access: AsAdmin, invitation_id: InvitationId) -> None:
    steward_of(request).identity.invitations.revoke(access, invitation_id)


@router.post("/invitations/lookup", dependencies=[AsAnyone])
def look_up_invitation(request: Request, body: InvitationToken) -> InvitationPreviewOut:
    """What a link is for. The token travels in the body, so that no log keeps it."""
    preview = steward_of(request).identity.invitations.preview(body.token)
    name = playbooks_of(request).library.name_of(preview.scope, preview.playbook_id)
    return copied(
        InvitationPreviewOut,
        preview,
        project_id=preview.scope.project_id,
        playbook_id=preview.playbook_id if name else None,
        playbook_name=name,
        role=role_name(preview.role),
    )


@router.post("/invitations/accept", status_code=status.HTTP_201_CREATED, dependencies=[AsAnyone])
def accept_as_new_user(request: Request, response: Response, body: AcceptAsNew) -> SessionOut:
    """Creates the account, joins the project and signs in."""
    session = steward_of(request).identity.invitations.accept_as_new(
        body.token, name=body.name, email=body.email, password=body.password
    )
    return start_session(request, response, session)


@router.post("/invitations/join")
def join_as_signed_in(request: Request, principal: AsPerson, body: InvitationToken) -> SessionOut:
    """Joins with the account one is signed in with."""
    steward_of(request).identity.invitations.accept_as(principal, body.token)
    return session_out(request, principal)
