"""Single sign-on: the way to a provider and back, and the providers that an organisation's owners set up."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qs, urlencode

from fastapi import Path, Query, Request, Response, status
from fastapi.responses import RedirectResponse
from pydantic import ConfigDict, Field, ValidationError

from steward.api.context import address_of, base_of, steward_of
from steward.api.documents import IfMatch, Input, Name, Output, Page, revision_from, set_etag
from steward.api.guards import AsAnyone, AsOrganisationOwner, cookie_name
from steward.api.problems import problem
from steward.api.routes.session import is_encrypted, keep_cookie
from steward.api.routing import Router
from steward.api.types import PROJECT_ID, RoleName
from steward.core import (
    Denied,
    Invalid,
    Misconfigured,
    NotFound,
    StewardError,
    copied,
    in_words,
    mistakes,
)
from steward.identity.sign_on import Provider, ProviderDocument, is_loopback

router = Router(tags=["sign-on"])

_PUBLIC: Final = "/sign-on"
_OF_PROJECT: Final = "/projects/{project_id}/sign-on/providers"
_API: Final = "/api/v1"
ProviderId = Annotated[
    str,
    Path(
        pattern=r"^([a-z][a-z0-9-]{0,39}|idp_[0-9a-hjkmnp-tv-z]{26})$",
        examples=["idp_01kdgq3v0z8r5m2x7c4b9n6t1w"],
    ),
]
_LOGOUT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "properties": {"logout_token": {"type": "string", "maxLength": 65536}},
                    "required": ["logout_token"],
                }
            }
        },
    }
}
_LONGEST_LOGOUT: Final = 100_000
Told = Annotated[str | None, Query(max_length=4000)]


class OfferedOut(Output):
    """A button of the sign-in page."""

    id: str
    name: str


class RuleIO(Output):
    """People whose claim has this value get this role in this project."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    claim: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")
    value: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
    project_id: str = Field(pattern=PROJECT_ID)
    role: RoleName


class ProviderOut(Output):
    id: str
    name: str
    issuer: str
    client_id: str
    has_secret: bool
    scopes: list[str]
    rules: list[RuleIO]
    just_in_time: bool
    join_verified_email: bool
    session_hours: int
    enabled: bool
    redirect_uri: str = Field(description="To be entered at the provider, exactly.")
    logout_uri: str = Field(description="Where the provider may ask to sign people out.")
    source: Literal["settings", "organisation"]
    revision: int
    updated_at: datetime | None


class LogoutOut(Output):
    ended: int = Field(description="Sessions that ended.")


class ProviderRequest(Input):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Acme",
                    "issuer": "https://login.acme.example",
                    "client_id": "steward",
                    "client_secret": "kept secret",
                }
            ]
        }
    )

    name: Name
    issuer: str = Field(min_length=1, max_length=500)
    client_id: str = Field(min_length=1, max_length=200)
    client_secret: str | None = Field(
        None,
        min_length=1,
        max_length=2000,
        json_schema_extra={"format": "password"},
        description="Goes in and never comes back; left out, the one that is kept stays.",
    )
    scopes: list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,100}$")]] = Field(
        ["openid", "profile", "email"], max_length=19
    )
    rules: list[RuleIO] = Field([], max_length=200)
    just_in_time: bool = Field(
        True, description="Whether a rule may create an account; off: by invitation only."
    )
    join_verified_email: bool = Field(
        False, description="Whether a verified address may join an account that exists."
    )
    session_hours: int = Field(24, ge=1, le=720)
    enabled: bool = True


class ProviderCheckOut(Output):
    """What a provider said when it was asked."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    algorithms: list[str]
    names_itself: bool


@router.get(_PUBLIC, dependencies=[AsAnyone])
def list_sign_on(request: Request) -> list[OfferedOut]:
    """The providers that the sign-in page offers."""
    found = steward_of(request).sign_on.providers.enabled()
    return [OfferedOut(id=each.id, name=each.document.name) for each in found]


@router.get(
    _PUBLIC + "/{provider_id}/start",
    response_class=RedirectResponse,
    status_code=303,
    dependencies=[AsAnyone],
)
async def start_sign_on(
    request: Request,
    provider_id: ProviderId,
    next_: Annotated[
        str | None, Query(alias="next", max_length=1000, description="A page of this app.")
    ] = None,
) -> RedirectResponse:
    """Sends the browser to the provider; what is needed on the way back stays in its cookie."""
    steward = steward_of(request)
    try:
        redirect_uri = _redirect_uri(request, provider_id)
        started = await steward.sign_on.start(provider_id, redirect_uri, next_)
    except StewardError as problem:
        return _back_to_sign_in(request, problem)
    response = RedirectResponse(started.url, status_code=status.HTTP_303_SEE_OTHER)
    response.set_cookie(
        _cookie(request, started.state),
        started.cookie,
        max_age=int(started.lifetime.total_seconds()),
        httponly=True,
        # It comes back by a link from the provider, which `strict` would not let through.
        samesite="lax",
        secure=is_encrypted(request),
        path=_API + _PUBLIC,
    )
    return response


@router.get(
    _PUBLIC + "/{provider_id}/callback",
    response_class=RedirectResponse,
    status_code=303,
    dependencies=[AsAnyone],
)
async def finish_sign_on(
    request: Request,
    provider_id: ProviderId,
    state: Annotated[str, Query(max_length=300)] = "",
    code: Told = None,
    iss: Told = None,
    error: Told = None,
) -> RedirectResponse:
    """Where a provider sends the person back to; leads on to the page they wanted, or to the sign-in page."""
    said = {"state": state, "code": code, "iss": iss, "error": error}
    name = _cookie(request, state)
    try:
        done = await steward_of(request).sign_on.finish(
            provider_id,
            request.cookies.get(name, ""),
            {key: value for key, value in said.items() if value is not None},
            agent=request.headers.get("user-agent", ""),
            address=address_of(request),
        )
    except StewardError as problem:
        response = _back_to_sign_in(request, problem)
    else:
        response = RedirectResponse(base_of(request) + done.next, status.HTTP_303_SEE_OTHER)
        keep_cookie(request, response, done.session.token, done.session.expires_at)
    if name in request.cookies:
        # It is good once, whatever came of it.
        response.delete_cookie(name, path=_API + _PUBLIC)
    return response


@router.post(
    _PUBLIC + "/{provider_id}/logout",
    dependencies=[AsAnyone],
    openapi_extra=_LOGOUT,
    responses={400: {}},
    response_model=LogoutOut,
)
async def sign_out_by_provider(request: Request, provider_id: ProviderId) -> Any:
    """Back-channel logout: a signed token of the provider ends the sessions that it began."""
    body = (await request.body())[:_LONGEST_LOGOUT].decode("utf-8", "replace")
    try:
        token = parse_qs(body, max_num_fields=20).get("logout_token", [""])[0]
        return LogoutOut(ended=await steward_of(request).sign_on.sign_out(provider_id, token))
    except (Denied, NotFound) as refusal:
        code, detail = refusal.specific_code, refusal.message
    except ValueError:
        code, detail = "sign-on-failed", "The form cannot be read."
    # The specification wants this status, whatever was wrong.
    title = "The sign-out was refused"
    return problem(request.state.request_id, status.HTTP_400_BAD_REQUEST, code, title, detail)


@router.get(_OF_PROJECT)
def list_providers(request: Request, access: AsOrganisationOwner) -> Page[ProviderOut]:
    """The sign-on providers of the organisation; for its owners."""
    found = steward_of(request).sign_on.providers.listed(access)
    return Page(items=[_provider_out(request, each) for each in found], next_cursor=None)


@router.post(_OF_PROJECT, status_code=status.HTTP_201_CREATED)
def add_provider(
    request: Request, response: Response, access: AsOrganisationOwner, body: ProviderRequest
) -> ProviderOut:
    providers = steward_of(request).sign_on.providers
    created = providers.create(access, _document(body), body.client_secret)
    set_etag(response, created.revision)
    return _provider_out(request, created)


@router.put(_OF_PROJECT + "/{provider_id}")
def change_provider(
    request: Request,
    response: Response,
    access: AsOrganisationOwner,
    provider_id: ProviderId,
    body: ProviderRequest,
    if_match: IfMatch = None,
) -> ProviderOut:
    """Replaces everything but the secret, and that too where one is sent."""
    providers = steward_of(request).sign_on.providers
    providers.get(access, provider_id)
    revision, document = revision_from(if_match), _document(body)
    changed = providers.change(access, provider_id, revision, document, body.client_secret)
    set_etag(response, changed.revision)
    return _provider_out(request, changed)


@router.delete(_OF_PROJECT + "/{provider_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_provider(request: Request, access: AsOrganisationOwner, provider_id: ProviderId) -> None:
    """Ends the sessions it began; members stay."""
    steward_of(request).sign_on.providers.delete(access, provider_id)


@router.post(_OF_PROJECT + "/{provider_id}/check")
async def check_provider(
    request: Request, access: AsOrganisationOwner, provider_id: ProviderId
) -> ProviderCheckOut:
    """Asks the provider for its description and its keys."""
    sign_on = steward_of(request).sign_on
    provider = await asyncio.to_thread(sign_on.providers.get, access, provider_id)
    found = await sign_on.check(provider)
    return copied(ProviderCheckOut, found, algorithms=list(found.algorithms))


def _document(body: ProviderRequest) -> ProviderDocument:
    try:
        return ProviderDocument.model_validate(body.model_dump(exclude={"client_secret"}))
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(f"The provider is not valid: {in_words(found)}.", problems=found) from None


def _provider_out(request: Request, provider: Provider) -> ProviderOut:
    document = provider.document
    return copied(
        ProviderOut,
        document,
        id=provider.id,
        has_secret=provider.has_secret,
        redirect_uri=f"{base_of(request)}{_API}{_PUBLIC}/{provider.id}/callback",
        logout_uri=f"{base_of(request)}{_API}{_PUBLIC}/{provider.id}/logout",
        source="settings" if provider.from_settings else "organisation",
        revision=provider.revision,
        updated_at=provider.updated_at,
    )


def _redirect_uri(request: Request, provider_id: str) -> str:
    if steward_of(request).settings.http.public_url is None and not is_loopback(
        request.url.hostname or ""
    ):
        # The name in the request is the visitor's word; a provider must not be sent to it.
        raise Misconfigured(
            "Single sign-on needs STEWARD_HTTP__PUBLIC_URL: the address people use.",
            code="sign-on-no-public-url",
        )
    return f"{base_of(request)}{_API}{_PUBLIC}/{provider_id}/callback"


def _back_to_sign_in(request: Request, problem: StewardError) -> RedirectResponse:
    """The page says in its own words what went wrong; nothing that a provider wrote is shown."""
    query = urlencode({"problem": problem.specific_code})
    return RedirectResponse(f"{base_of(request)}/sign-in?{query}", status.HTTP_303_SEE_OTHER)


def _cookie(request: Request, state: str) -> str:
    """One for each sign-in under way, so that two tabs do not disturb each other."""
    mark = "".join(
        each for each in state[:8] if each.isascii() and (each.isalnum() or each in "-_")
    )
    return f"{cookie_name(steward_of(request).settings.http)}_sign_on_{mark}"
