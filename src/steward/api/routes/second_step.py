"""Whether the organisation requires a second step of everyone who signs in with a password; for its owners."""

from datetime import datetime

from fastapi import Request
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsOrganisationOwner
from steward.api.routing import Router

router = Router(prefix="/projects/{project_id}/second-step", tags=["sign-on"])


class PersonOut(Output):
    name: str
    email: str


class SecondStepOut(Output):
    since: datetime | None = Field(description="Since when it is required; null: it is not.")
    without: list[PersonOut] = Field(description="People who sign in here and have none yet.")


class SecondStepIn(Input):
    required: bool


@router.get("")
def read_second_step(request: Request, access: AsOrganisationOwner) -> SecondStepOut:
    found = steward_of(request).identity.second_step.rule(access)
    return SecondStepOut.model_validate(found)


@router.put("")
def change_second_step(
    request: Request, access: AsOrganisationOwner, body: SecondStepIn
) -> SecondStepOut:
    """Counts at once. People without a second step can only set it up until they have one."""
    found = steward_of(request).identity.second_step.change(access, required=body.required)
    return SecondStepOut.model_validate(found)
