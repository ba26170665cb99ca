"""OAuth for programs that speak MCP: metadata, registration, consent of a person, tokens (RFC 6749, 7591, 7636, 8414, 9207, 9728)."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import Depends, Path, Request, status
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field
from starlette.responses import Response

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import (
    AsAnyone,
    AsPerson,
    AsViewerInPerson,
    InProject,
    count_against_address,
)
from steward.api.routing import Router
from steward.api.types import RoleName, role_name
from steward.core import Invalid, Misconfigured, RateLimited, StewardError, copied
from steward.identity import Access, Client, ClientDocuments, Issued, Role, checked_challenge
from steward.identity.sign_on import is_loopback

outside = Router(outside=True, include_in_schema=False, dependencies=[AsAnyone])
router = Router(tags=["programs"])

MCP_PATH: Final = "/mcp"
RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
PAGE: Final = "/allow-client"
_LONGEST_BODY: Final = 20_000
_ROLES: Final = (Role.viewer, Role.operator)
_TOLD: Final = frozenset(
    {
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "invalid_redirect_uri",
        "invalid_target",
        "unsupported_grant_type",
    }
)
GrantId = Annotated[str, Path(pattern=r"^cgr_[0-9a-hjkmnp-tv-z]{26}$")]
AsGranting = Annotated[Access, Depends(InProject(Role.viewer, session_only=True))]


class AuthorizationRequest(Input):
    """What a program asks for, as it wrote it into the address of the page."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "client_id": "mcl_01kdgq3v0z8r5m2x7c4b9n6t1w",
                    "redirect_uri": "http://127.0.0.1:3334/callback",
                    "response_type": "code",
                    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
                    "code_challenge_method": "S256",
                }
            ]
        }
    )

    client_id: str = Field(min_length=1, max_length=500)
    redirect_uri: str = Field(min_length=1, max_length=1000)
    response_type: str = Field("", max_length=50)
    code_challenge: str = Field("", max_length=200)
    code_challenge_method: str = Field("", max_length=20)
    resource: str | None = Field(None, max_length=1000)
    scope: str | None = Field(None, max_length=500)
    state: str | None = Field(None, max_length=2000)


class AskingOut(Output):
    """Which program asks, and how to say no."""

    name: str
    host: str = Field(description="Where the answer goes.")
    is_local: bool = Field(description="Whether the answer stays on the person's own machine.")
    documented_at: str | None = Field(
        None, description="The host that vouches for the program; none for one that named itself."
    )
    roles: list[RoleName]
    refusal: str


class AllowRequest(AuthorizationRequest):
    role: RoleName


class AllowedOut(Output):
    redirect_to: str


class ConnectedProgramOut(Output):
    id: str
    name: str
    role: RoleName
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime


@outside.get(RESOURCE_METADATA)
@outside.get(f"{RESOURCE_METADATA}{MCP_PATH}")
def describe_resource(request: Request) -> JSONResponse:
    base = base_of(request)
    return JSONResponse(
        {
            "resource": f"{base}{MCP_PATH}",
            "authorization_servers": [base],
            "bearer_methods_supported": ["header"],
            "scopes_supported": [role.name for role in _ROLES],
            "resource_name": "Steward",
        }
    )


@outside.get("/.well-known/oauth-authorization-server")
@outside.get(f"/.well-known/oauth-authorization-server{MCP_PATH}")
def describe_server(request: Request) -> JSONResponse:
    base = base_of(request)
    return JSONResponse(
        {
            "issuer": base,
            "authorization_endpoint": f"{base}{PAGE}",
            "token_endpoint": f"{base}/oauth/token",
            "registration_endpoint": f"{base}/oauth/register",
            "revocation_endpoint": f"{base}/oauth/revoke",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": [role.name for role in _ROLES],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
    )


@outside.post("/oauth/register")
async def register_client(request: Request) -> JSONResponse:
    try:
        asked = await _json(request)
        addresses = asked.get("redirect_uris")
        if not isinstance(addresses, list) or not all(isinstance(each, str) for each in addresses):
            raise Invalid("Name redirect_uris as a list of addresses.", code="invalid_redirect_uri")
        given = asked.get("client_name")
        named = given.strip()[:100] if isinstance(given, str) else ""
        grants = steward_of(request).identity.client_grants
        client = await asyncio.to_thread(grants.register, named, addresses)
    except StewardError as problem:
        return _oauth_error(problem)
    body = {
        "client_id": client.id,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    return JSONResponse(body, status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


@outside.post("/oauth/token")
async def exchange_token(request: Request) -> JSONResponse:
    grants = steward_of(request).identity.client_grants
    try:
        form = await _form(request)
        _require_resource(request, form.get("resource"))
        match form.get("grant_type"):
            case "authorization_code":
                issued = await asyncio.to_thread(
                    grants.redeem,
                    _part(form, "code"),
                    _part(form, "client_id"),
                    _part(form, "redirect_uri"),
                    _part(form, "code_verifier"),
                )
            case "refresh_token":
                issued = await asyncio.to_thread(
                    grants.renew, _part(form, "refresh_token"), _part(form, "client_id")
                )
            case _:
                raise Invalid(
                    "grant_type is authorization_code or refresh_token.",
                    code="unsupported_grant_type",
                )
    except StewardError as problem:
        # Guessing counts twice against the address.
        count_against_address(request)
        return _oauth_error(problem)
    return JSONResponse(_issued(issued), headers={"Cache-Control": "no-store"})


@outside.post("/oauth/revoke")
async def revoke_token(request: Request) -> Response:
    try:
        token = _part(await _form(request), "token")
        await asyncio.to_thread(steward_of(request).identity.client_grants.revoke, token)
    except StewardError as problem:
        return _oauth_error(problem)
    return Response(status_code=status.HTTP_200_OK)


@router.post("/oauth/requests")
async def look_at_request(
    request: Request,
    principal: AsPerson,  # noqa: ARG001
    body: AuthorizationRequest,
) -> AskingOut:
    """What a program asks for, checked, before the person decides; nothing is granted by it."""
    client = await _checked(request, body)
    parts = urlsplit(body.redirect_uri)
    return AskingOut(
        name=client.name,
        host=parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:",
        is_local=is_loopback(parts.hostname or ""),
        documented_at=urlsplit(client.id).netloc if ClientDocuments.is_address(client.id) else None,
        roles=[role_name(role) for role in _ROLES],
        refusal=_redirect(request, body, {"error": "access_denied"}),
    )


@router.post("/projects/{project_id}/programs", status_code=status.HTTP_201_CREATED)
async def allow_program(request: Request, access: AsGranting, body: AllowRequest) -> AllowedOut:
    """Lets a program act for the caller in this project; the answer is where the browser goes next."""
    client = await _checked(request, body)
    code = await asyncio.to_thread(
        steward_of(request).identity.client_grants.allow,
        access,
        client,
        body.redirect_uri,
        body.code_challenge,
        Role[body.role],
    )
    return AllowedOut(redirect_to=_redirect(request, body, {"code": code}))


@router.get("/projects/{project_id}/programs")
def list_programs(
    request: Request, access: AsViewerInPerson, cursor: Cursor = None, limit: Limit = 50
) -> Page[ConnectedProgramOut]:
    """Programs that may act for the caller in this project."""
    grants = steward_of(request).identity.client_grants
    items, following = page(
        lambda after, count: grants.page(access, after=after, limit=count),
        lambda grant: grant.id,
        cursor,
        limit,
    )
    shown = [
        copied(ConnectedProgramOut, grant, name=grant.client_name, role=role_name(grant.role))
        for grant in items
    ]
    return Page(items=shown, next_cursor=following)


@router.delete("/projects/{project_id}/programs/{grant_id}", status_code=status.HTTP_204_NO_CONTENT)
def disconnect_program(request: Request, access: AsViewerInPerson, grant_id: GrantId) -> None:
    steward_of(request).identity.client_grants.remove(access, grant_id)


def base_of(request: Request) -> str:
    public_url = steward_of(request).settings.http.public_url
    if public_url is None and not is_loopback(request.url.hostname or ""):
        # The name in the request is the visitor's word; a program must not be sent to it.
        raise Misconfigured(
            "OAuth needs STEWARD_HTTP__PUBLIC_URL: the address people use.",
            code="oauth-no-public-url",
        )
    return (public_url or str(request.base_url)).rstrip("/")


async def _checked(request: Request, asked: AuthorizationRequest) -> Client:
    steward = steward_of(request)
    if asked.response_type != "code" or asked.code_challenge_method != "S256":
        raise Invalid(
            "The program must ask for a code with PKCE (S256). Update the program.",
            code="invalid_request",
        )
    checked_challenge(asked.code_challenge)
    _require_resource(request, asked.resource)
    if ClientDocuments.is_address(asked.client_id):
        client = await steward.client_documents.find(asked.client_id)
    else:
        client = await asyncio.to_thread(steward.identity.client_grants.client, asked.client_id)
    if not client.redirects_to(asked.redirect_uri):
        raise Invalid(
            "The program asks to be answered at an address that it did not register. "
            "Do not go on; it may not be the program that it says it is.",
            code="invalid_redirect",
        )
    return client


def _require_resource(request: Request, resource: str | None) -> None:
    wanted = f"{base_of(request)}{MCP_PATH}"
    if resource is not None and resource.rstrip("/") not in {wanted, base_of(request)}:
        raise Invalid(f"Tokens of this server are for {wanted} alone.", code="invalid_target")


def _redirect(request: Request, asked: AuthorizationRequest, told: dict[str, str]) -> str:
    parts = told | {"iss": base_of(request)}
    if asked.state is not None:
        parts["state"] = asked.state
    joined = "&" if urlsplit(asked.redirect_uri).query else "?"
    return f"{asked.redirect_uri}{joined}{urlencode(parts)}"


async def _body(request: Request) -> bytes:
    body = await request.body()
    if len(body) > _LONGEST_BODY:
        raise Invalid("The body is too large.", code="invalid_request")
    return body


async def _json(request: Request) -> dict[str, Any]:
    try:
        await _body(request)
        found = await request.json()
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Invalid("Send a JSON object.", code="invalid_request")
    return found


async def _form(request: Request) -> dict[str, str]:
    try:
        text = (await _body(request)).decode("ascii")
        fields = parse_qs(text, max_num_fields=30, errors="strict")
    except ValueError:
        fields = {}
    if any(len(values) != 1 for values in fields.values()):
        raise Invalid("A parameter is there twice.", code="invalid_request")
    return {name: values[0] for name, values in fields.items()}


def _part(form: dict[str, str], name: str) -> str:
    if not form.get(name):
        raise Invalid(f"{name} is missing.", code="invalid_request")
    return form[name]


def _issued(issued: Issued) -> dict[str, Any]:
    return {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in,
        "refresh_token": issued.refresh_token,
        "scope": issued.role.name,
    }


def _oauth_error(problem: StewardError) -> JSONResponse:
    """An error in the shape of OAuth."""
    if isinstance(problem, RateLimited):
        headers = {"Retry-After": str(problem.retry_after_seconds)}
        return JSONResponse({"error": "temporarily_unavailable"}, 429, headers=headers)
    code = problem.specific_code if problem.specific_code in _TOLD else "invalid_request"
    found = 401 if code == "invalid_client" else 400
    body = {"error": code, "error_description": problem.message}
    return JSONResponse(body, found, headers={"Cache-Control": "no-store"})
