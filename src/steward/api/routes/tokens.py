"""Personal API tokens of the caller in one project."""

from datetime import datetime

from fastapi import Request, status
from pydantic import ConfigDict, Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Name, Output, Page, page
from steward.api.guards import AsViewerInPerson
from steward.api.routing import Router
from steward.api.types import RoleName, TokenId, role_name
from steward.core import copied
from steward.identity import Role, Token

router = Router(prefix="/projects/{project_id}/tokens", tags=["tokens"])


class TokenOut(Output):
    id: str
    name: str
    role: RoleName
    prefix: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class NewTokenOut(TokenOut):
    token: str = Field(description="Shown now and never again.")


class TokenRequest(Input):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "nightly export", "role": "viewer", "expires_in_days": 90}]
        }
    )

    name: Name
    role: RoleName
    expires_in_days: int = Field(90, ge=1, le=3660)


def _token_out(token: Token) -> TokenOut:
    return copied(TokenOut, token, role=role_name(token.role))


@router.get("")
def list_tokens(
    request: Request, access: AsViewerInPerson, cursor: Cursor = None, limit: Limit = 50
) -> Page[TokenOut]:
    tokens = steward_of(request).identity.tokens
    items, following = page(
        lambda after, count: tokens.page(access, after=after, limit=count),
        lambda token: token.id,
        cursor,
        limit,
    )
    return Page(items=[_token_out(token) for token in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def create_token(request: Request, access: AsViewerInPerson, body: TokenRequest) -> NewTokenOut:
    token, text = steward_of(request).identity.tokens.create(
        access, body.name, Role[body.role], body.expires_in_days
    )
    return NewTokenOut(**_token_out(token).model_dump(), token=text)


@router.delete("/{token_id}", status_code=status.HTTP_204_NO_CONTENT)
def revoke_token(request: Request, access: AsViewerInPerson, token_id: TokenId) -> None:
    steward_of(request).identity.tokens.revoke(access, token_id)


@router.post("/{token_id}/restore")
def restore_token(request: Request, access: AsViewerInPerson, token_id: TokenId) -> TokenOut:
    """Undoes a revocation within ten minutes."""
    return _token_out(steward_of(request).identity.tokens.restore(access, token_id))
