"""Secrets of a project: names come back, values never do."""

from datetime import datetime
from typing import Literal

from fastapi import Request, status
from pydantic import ConfigDict, Field, model_validator

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsAdmin, AsEditor
from steward.api.routing import Router
from steward.api.types import SecretName
from steward.core import Denied
from steward.store import OWN_SECRETS

router = Router(prefix="/projects/{project_id}/secrets", tags=["secrets"])


class SecretOut(Output):
    name: str
    created_at: datetime
    updated_at: datetime
    updated_by: str
    source: str | None = Field(description="Where the value lives; null: in Steward, encrypted.")
    reference: str | None = Field(description="Its name there.")


class SecretSourceOut(Output):
    name: str
    kind: Literal["environment", "files", "vault", "aws", "gcp"]


class SecretValue(Input):
    """The value itself, or the source and the reference from which it is read."""

    model_config = ConfigDict(str_strip_whitespace=False)

    value: str | None = Field(
        None, min_length=1, max_length=65_536, json_schema_extra={"format": "password"}
    )
    source: str | None = Field(None, min_length=1, max_length=40)
    reference: str | None = Field(
        None,
        min_length=1,
        max_length=500,
        description="A variable, a file, path#field in Vault, or name or name#field in a cloud.",
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> "SecretValue":
        if (self.value is None) == (self.source is None) or (
            (self.source is None) != (self.reference is None)
        ):
            raise ValueError("give a value, or a source and a reference")
        return self


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


@router.get("/sources")
def list_secret_sources(request: Request, access: AsAdmin) -> list[SecretSourceOut]:
    """Where secrets of this project may live outside of Steward, as the settings say."""
    found = steward_of(request).secrets.sources.names(access.scope)
    return [SecretSourceOut(name=name, kind=kind) for name, kind in found.items()]


def _refuse_own(name: str) -> None:
    if name.startswith(OWN_SECRETS):
        raise Denied(
            f"Names that begin with {OWN_SECRETS!r} are Steward's own; choose another.",
            code="own-secret",
        )


@router.put("/{name}")
def set_secret(request: Request, access: AsAdmin, name: SecretName, body: SecretValue) -> SecretOut:
    """Sets a value, or says where it is read from; a reference that leads nowhere is refused."""
    _refuse_own(name)
    secrets, author = steward_of(request).secrets, access.user_id
    if body.source is not None and body.reference is not None:
        made = secrets.refer(access.scope, name, body.source, body.reference, author=author)
    else:
        made = secrets.set(access.scope, name, body.value or "", author=author)
    return SecretOut.model_validate(made)


@router.delete("/{name}", status_code=status.HTTP_204_NO_CONTENT)
def delete_secret(request: Request, access: AsAdmin, name: SecretName) -> None:
    _refuse_own(name)
    steward_of(request).secrets.delete(access.scope, name, access.user_id)


@router.post("/{name}/restore")
def restore_secret(request: Request, access: AsAdmin, name: SecretName) -> SecretOut:
    """Undoes a deletion within ten minutes."""
    secret = steward_of(request).secrets.undelete(access.scope, name, access.user_id)
    return SecretOut.model_validate(secret)
