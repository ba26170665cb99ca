"""Projects and their members."""

from datetime import datetime

from fastapi import Request, Response, status
from pydantic import ConfigDict

from steward.api.context import steward_of
from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Name,
    Output,
    Page,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsAdmin, AsOwner, AsPerson, AsSignedIn, AsViewer, AsViewerOrRunner
from steward.api.routes.session import ProjectRef, project_ref
from steward.api.routing import Router
from steward.api.types import RoleName, UserId, role_name
from steward.core import copied
from steward.identity import Member, Project, Role

router = Router(prefix="/projects", tags=["projects"])


class ProjectOut(ProjectRef):
    created_at: datetime
    updated_at: datetime


class ProjectName(Input):
    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Month-end close"}]})

    name: Name


class MemberOut(Output):
    user_id: str
    email: str
    name: str
    role: RoleName
    inherited: bool
    since: datetime


class MemberRole(Input):
    role: RoleName


def _project_out(response: Response, project: Project) -> ProjectOut:
    set_etag(response, project.revision)
    return ProjectOut(
        **project_ref(project).model_dump(),
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def _member_out(member: Member) -> MemberOut:
    return copied(MemberOut, member, role=role_name(member.role))


@router.get("")
def list_projects(
    request: Request, principal: AsSignedIn, cursor: Cursor = None, limit: Limit = 50
) -> Page[ProjectRef]:
    projects = steward_of(request).identity.projects
    items, following = page(
        lambda after, count: projects.page(principal, after=after, limit=count),
        lambda project: project.id,
        cursor,
        limit,
    )
    return Page(items=[project_ref(project) for project in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def create_project(
    request: Request, response: Response, principal: AsPerson, body: ProjectName
) -> ProjectOut:
    project = steward_of(request).identity.projects.create_as(principal, body.name)
    return _project_out(response, project)


@router.get("/{project_id}")
def read_project(request: Request, response: Response, access: AsViewerOrRunner) -> ProjectOut:
    return _project_out(response, steward_of(request).identity.projects.get(access))


@router.patch("/{project_id}")
def rename_project(
    request: Request,
    response: Response,
    access: AsAdmin,
    body: ProjectName,
    if_match: IfMatch = None,
) -> ProjectOut:
    projects = steward_of(request).identity.projects
    return _project_out(response, projects.rename(access, revision_from(if_match), body.name))


@router.delete("/{project_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_project(request: Request, access: AsOwner) -> None:
    """Hides it from everyone; an owner can restore it for thirty days."""
    steward_of(request).identity.projects.delete(access)


@router.post("/{project_id}/restore")
def restore_project(
    request: Request, response: Response, principal: AsPerson, project_id: str
) -> ProjectOut:
    """Undoes the deletion of a project; its owners only."""
    return _project_out(
        response, steward_of(request).identity.projects.restore(principal, project_id)
    )


@router.get("/{project_id}/members")
def list_members(
    request: Request, access: AsViewer, cursor: Cursor = None, limit: Limit = 50
) -> Page[MemberOut]:
    members = steward_of(request).identity.members
    items, following = page(
        lambda after, count: members.page(access, after=after, limit=count),
        lambda member: member.user_id,
        cursor,
        limit,
    )
    return Page(items=[_member_out(member) for member in items], next_cursor=following)


@router.put("/{project_id}/members/{user_id}")
def set_member_role(
    request: Request, access: AsAdmin, user_id: UserId, body: MemberRole
) -> MemberOut:
    """Changes a role, or brings back somebody who was removed."""
    members = steward_of(request).identity.members
    return _member_out(members.set_role(access, user_id, Role[body.role]))


@router.delete("/{project_id}/members/{user_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_member(request: Request, access: AsAdmin, user_id: UserId) -> None:
    """Takes somebody out; PUT brings them back."""
    steward_of(request).identity.members.remove(access, user_id)


@router.post("/{project_id}/leave", status_code=status.HTTP_204_NO_CONTENT)
def leave_project(request: Request, access: AsViewerOrRunner) -> None:
    """Takes oneself out."""
    steward_of(request).identity.members.remove(access, access.user_id)
