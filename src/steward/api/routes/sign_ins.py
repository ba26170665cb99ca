"""Signing in to servers and services: a person is sent to the authorization server and comes back to the callback here."""

from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import Depends, Query, Request, status
from fastapi.responses import RedirectResponse

from steward.api.context import base_of, steward_of
from steward.api.documents import Output
from steward.api.guards import AsAdmin, AsAnyone, AsPerson, InProject
from steward.api.routing import Router
from steward.api.types import ConnectionId
from steward.connections import Status
from steward.core import Denied, Invalid, NotFound, StewardError, is_id
from steward.identity import Access, Role

router = Router(tags=["connections"])

# Whoever signs in does so as a person; a token of the API has no browser.
AsAdminInPerson = Annotated[Access, Depends(InProject(Role.admin, session_only=True))]
_OF_CONNECTION = "/projects/{project_id}/connections/{connection_id}"
_CALLBACK = "/api/v1/oauth/callback"
_CLIENT = "/api/v1/oauth/client.json"
Told = Annotated[str | None, Query(max_length=4000)]


class SignInOut(Output):
    """How a connection stands with signing in."""

    mode: Literal["person", "client"]
    state: Literal["signed_out", "signed_in", "ended", "elsewhere"]
    issuer: str
    scope: str
    by: str
    at: datetime | None
    until: datetime | None


class SignInStartOut(Output):
    url: str
    """Where the browser goes next."""


def sign_in_out(found: Status | None) -> SignInOut | None:
    return SignInOut.model_validate(found) if found is not None else None


@router.post(_OF_CONNECTION + "/sign-in")
async def start_sign_in(
    request: Request, access: AsAdminInPerson, connection_id: ConnectionId
) -> SignInStartOut:
    """Finds the server's authorization server, registers there, and says where the person must go."""
    desk = steward_of(request).connections
    base = base_of(request)
    # An authorization server can only read our description of ourselves where it is encrypted.
    described = base + _CLIENT if base.startswith("https://") else None
    url = await desk.start_sign_in(access, connection_id, base + _CALLBACK, described)
    return SignInStartOut(url=url)


@router.post(_OF_CONNECTION + "/sign-out", status_code=status.HTTP_204_NO_CONTENT)
async def sign_out_of_server(
    request: Request, access: AsAdmin, connection_id: ConnectionId
) -> None:
    """Forgets the tokens, and tells the authorization server where it takes that."""
    await steward_of(request).connections.sign_out(access, connection_id)


@router.get("/oauth/callback", response_class=RedirectResponse, status_code=303)
async def finish_sign_in(
    request: Request,
    principal: AsPerson,
    state: Annotated[str, Query(max_length=300)],
    code: Told = None,
    iss: Told = None,
    error: Told = None,
    error_description: Told = None,
) -> RedirectResponse:
    """Where an authorization server sends the person back to; leads on to the page of connections."""
    steward = steward_of(request)
    project_id, _, rest = state.partition(".")
    connection_id = rest.partition(".")[0]
    if not is_id(project_id, "prj") or not is_id(connection_id, "con"):
        raise _foreign()
    try:
        access = await to_thread.run_sync(steward.identity.projects.enter, principal, project_id)
    except NotFound:
        raise _foreign() from None
    if access.role < Role.admin:
        raise Denied("Only an admin of the project signs in to its servers.")
    said = {"code": code, "iss": iss, "error": error, "error_description": error_description}
    answer = {name: value for name, value in said.items() if value is not None}
    outcome = "done"
    try:
        await steward.connections.finish_sign_in(access, connection_id, state, answer)
    except StewardError as problem:
        outcome = problem.specific_code
    place = f"{base_of(request)}/p/{project_id}/connections"
    query = urlencode({"signed_in": connection_id, "outcome": outcome})
    return RedirectResponse(f"{place}?{query}", status_code=status.HTTP_303_SEE_OTHER)


@router.get("/oauth/client.json", dependencies=[AsAnyone])
def describe_oauth_client(request: Request) -> dict[str, Any]:
    """What Steward is as an OAuth client; its address serves as a client id where servers take that."""
    base = base_of(request)
    return {
        "client_id": base + _CLIENT,
        "client_name": "Steward",
        "client_uri": base,
        "redirect_uris": [base + _CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def _foreign() -> Invalid:
    return Invalid(
        "This sign-in was not started here, or it is over. Start it again from the connection.",
        code="foreign-state",
    )
