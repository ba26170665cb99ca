"""Directories that may bring people by SCIM: for owners of the organisation."""

from datetime import datetime
from typing import Annotated

from fastapi import Path, Request, status
from pydantic import ConfigDict, Field

from steward.api.context import base_of, steward_of
from steward.api.documents import Input, Name, Output, Page
from steward.api.guards import AsOrganisationOwner
from steward.api.routes.scim import PATH
from steward.api.routing import Router
from steward.api.types import PROJECT_ID, RoleName
from steward.core import copied
from steward.identity import Directory, GroupRule

router = Router(prefix="/projects/{project_id}/directories", tags=["directories"])
DirectoryId = Annotated[str, Path(pattern=r"^dir_[0-9a-hjkmnp-tv-z]{26}$")]


class GroupRuleIO(Output):
    """Members of this group get this role in this project."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    group: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
    project_id: str = Field(pattern=PROJECT_ID)
    role: RoleName


class DirectoryOut(Output):
    id: str
    name: str
    rules: list[GroupRuleIO]
    address: str = Field(description="To be entered at the identity provider.")
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


class NewDirectoryOut(DirectoryOut):
    token: str = Field(description="Shown now and never again.")


class RulesRequest(Input):
    rules: list[GroupRuleIO] = Field([], max_length=200)


class DirectoryRequest(RulesRequest):
    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Acme Okta", "rules": []}]})

    name: Name


@router.get("")
def list_directories(request: Request, access: AsOrganisationOwner) -> Page[DirectoryOut]:
    found = steward_of(request).identity.directories.listed(access)
    return Page(items=[_out(request, each) for each in found], next_cursor=None)


@router.post("", status_code=status.HTTP_201_CREATED)
def create_directory(
    request: Request, access: AsOrganisationOwner, body: DirectoryRequest
) -> NewDirectoryOut:
    directories = steward_of(request).identity.directories
    found, token = directories.create(access, body.name, _rules(body))
    return NewDirectoryOut(**_out(request, found).model_dump(), token=token)


@router.put("/{directory_id}/rules")
def change_rules(
    request: Request, access: AsOrganisationOwner, directory_id: DirectoryId, body: RulesRequest
) -> DirectoryOut:
    """Other rules; the roles of everyone in the directory follow at once."""
    identity = steward_of(request).identity
    found = identity.directories.change_rules(access, directory_id, _rules(body))
    identity.directory_people.settle_everyone(found)
    return _out(request, found)


@router.post("/{directory_id}/token", status_code=status.HTTP_201_CREATED)
def renew_token(
    request: Request, access: AsOrganisationOwner, directory_id: DirectoryId
) -> NewDirectoryOut:
    """A new token; the one before it ends at once."""
    found, token = steward_of(request).identity.directories.renew_token(access, directory_id)
    return NewDirectoryOut(**_out(request, found).model_dump(), token=token)


@router.delete("/{directory_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_directory(
    request: Request, access: AsOrganisationOwner, directory_id: DirectoryId
) -> None:
    steward_of(request).identity.directories.delete(access, directory_id)


def _rules(body: RulesRequest) -> list[GroupRule]:
    return [GroupRule.model_validate(rule.model_dump()) for rule in body.rules]


def _out(request: Request, directory: Directory) -> DirectoryOut:
    return copied(
        DirectoryOut,
        directory,
        address=base_of(request) + PATH,
    )
