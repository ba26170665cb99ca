"""Secrets of a project: names come back, values never do."""

from datetime import datetime

from fastapi import APIRouter, Request, status
from pydantic import ConfigDict, Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsAdmin, AsEditor
from steward.api.types import SecretName
from steward.core import Denied
from steward.store import OWN_SECRETS

router = APIRouter(prefix="/projects/{project_id}/secrets", tags=["secrets"])


class SecretOut(Output):
    name: str
    created_at: datetime
    updated_at: datetime
    updated_by: str


class SecretValue(Input):
    model_config = ConfigDict(str_strip_whitespace=False)

    value: str = Field(min_length=1, max_length=65_536, json_schema_extra={"format": "password"})


@router.get("")
def list_secrets(
    request: Request, access: AsEditor, cursor: Cursor = None, limit: Limit = 50
) -> Page[SecretOut]:
    secrets = steward_of(request).secrets
    items, following = page(
        lambda after, count: secrets.page(access.scope, after=after, limit=count),
        lambda secret: secret.name,
        cursor,
        limit,
    )
    return Page(items=[SecretOut.model_validate(secret) for secret in items], next_cursor=following)


def _refuse_own(name: str) -> None:
    if name.startswith(OWN_SECRETS):
        raise Denied(
            f"Names that begin with {OWN_SECRETS!r} are Steward's own; choose another.",
            code="own-secret",
        )


@router.put("/{name}")
def set_secret(request: Request, access: AsAdmin, name: SecretName, body: SecretValue) -> SecretOut:
    _refuse_own(name)
    secret = steward_of(request).secrets.set(access.scope, name, body.value, author=access.user_id)
    return SecretOut.model_validate(secret)


@router.delete("/{name}", status_code=status.HTTP_204_NO_CONTENT)
def delete_secret(request: Request, access: AsAdmin, name: SecretName) -> None:
    _refuse_own(name)
    steward_of(request).secrets.delete(access.scope, name, access.user_id)


@router.post("/{name}/restore")
def restore_secret(request: Request, access: AsAdmin, name: SecretName) -> SecretOut:
    """Undoes a deletion within ten minutes."""
    secret = steward_of(request).secrets.undelete(access.scope, name, access.user_id)
    return SecretOut.model_validate(secret)
