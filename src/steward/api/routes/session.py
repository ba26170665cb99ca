"""Signing in and out, and one's own profile."""

from collections.abc import Mapping
from datetime import datetime

from fastapi import Request, Response, status
from pydantic import ConfigDict, Field, model_validator

from steward.api.context import address_of, steward_of
from steward.api.documents import IfMatch, Input, Name, Output, revision_from, set_etag
from steward.api.guards import AsAnyone, AsPerson, AsSettingUp, AsSignedIn, cookie_name
from steward.api.routing import Router
from steward.api.types import RoleName, SessionId, role_name
from steward.core import Invalid, Problem, copied
from steward.identity import NewSession, OpenSession, Origin, Principal, Project, User

router = Router(tags=["session"])

_LOCALE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"


class UserOut(Output):
    id: str
    email: str
    name: str
    locale: str | None
    has_password: bool


class OrganisationOut(Output):
    id: str
    name: str


class ProjectRef(Output):
    id: str
    name: str
    role: RoleName
    is_demo: bool
    organisation: OrganisationOut


class SessionOut(Output):
    user: UserOut
    csrf_token: str
    expires_at: datetime
    second_step_due: bool = Field(
        description="Set up two-step sign-in; nothing else is open to this session before."
    )
    projects: list[ProjectRef]


class SignIn(Input):
    """Either e-mail and password, or the one-time link that `steward up` printed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"email": "ada@example.com", "password": "correct horse battery"}]
        }
    )

    email: str | None = Field(None, max_length=254)
    password: str | None = Field(None, max_length=1000)
    code: str | None = Field(
        None,
        max_length=40,
        description="From an app, or a recovery code; where the answer was `code-needed`.",
    )
    link: str | None = Field(None, max_length=200)

    @model_validator(mode="after")
    def _one_way(self) -> "SignIn":
        by_password = self.email is not None and self.password is not None
        if by_password == (self.link is not None):
            raise ValueError("send either email and password, or link")
        return self


class OpenSessionOut(Output):
    """A browser in which one is signed in."""

    id: str
    current: bool = Field(description="Whether this request came with it.")
    agent: str = Field(description="What the browser called itself at the sign-in.")
    address: str
    provider: str | None = Field(description="Name of the sign-on provider; null: signed in here.")
    created_at: datetime
    used_at: datetime | None = Field(
        description="Last use, to the hour; null where a provider bounds the session."
    )
    expires_at: datetime


class ProfileChange(Input):
    name: Name | None = None
    locale: str | None = Field(
        None, pattern=_LOCALE, description="As in `en-GB`; formats dates and numbers."
    )


class PasswordChange(Input):
    current_password: str | None = Field(None, max_length=1000)
    new_password: str = Field(max_length=1000)


def project_ref(project: Project) -> ProjectRef:
    return ProjectRef(
        id=project.id,
        name=project.name,
        role=role_name(project.role),
        is_demo=project.is_demo,
        organisation=OrganisationOut.model_validate(project.organisation),
    )


def session_out(request: Request, principal: Principal) -> SessionOut:
    identity = steward_of(request).identity
    if principal.csrf_token is None or principal.session_expires_at is None:
        raise Invalid("An API token has no session. Sign in with the browser to have one.")
    return SessionOut(
        user=UserOut.model_validate(identity.users.get(principal.user_id)),
        csrf_token=principal.csrf_token,
        expires_at=principal.session_expires_at,
        second_step_due=principal.owes_second_step,
        projects=[]
        if principal.owes_second_step
        else [project_ref(project) for project in identity.projects.page(principal)],
    )


def start_session(request: Request, response: Response, session: NewSession) -> SessionOut:
    keep_cookie(request, response, session.token, session.expires_at)
    return session_out(request, session.principal)


def keep_cookie(request: Request, response: Response, token: str, expires_at: datetime) -> None:
    """Keeps the browser signed in as long as the session lasts."""
    steward = steward_of(request)
    response.set_cookie(
        cookie_name(steward.settings.http),
        token,
        max_age=int((expires_at - steward.clock.now()).total_seconds()),
        httponly=True,
        samesite="lax",
        secure=is_encrypted(request),
        path="/",
    )


def is_encrypted(request: Request) -> bool:
    """Whether browsers reach us by https, directly or through a proxy."""
    public = steward_of(request).settings.http.public_url or ""
    return request.url.scheme == "https" or public.startswith("https:")


@router.post("/session", status_code=status.HTTP_201_CREATED, dependencies=[AsAnyone])
def sign_in(request: Request, response: Response, body: SignIn) -> SessionOut:
    sessions = steward_of(request).identity.sessions
    if body.link is not None:
        origin = Origin(_agent(request), address_of(request))
        return start_session(request, response, sessions.sign_in_by_link(body.link, origin))
    email, password = body.email or "", body.password or ""
    session = sessions.sign_in(
        email, password, address=address_of(request), agent=_agent(request), code=body.code
    )
    return start_session(request, response, session)


@router.get("/session")
def read_session(request: Request, response: Response, principal: AsSettingUp) -> SessionOut:
    """Who is signed in; the browser keeps its cookie as long as the session lasts."""
    token = request.cookies[cookie_name(steward_of(request).settings.http)]
    if principal.session_expires_at is not None:
        keep_cookie(request, response, token, principal.session_expires_at)
    return session_out(request, principal)


@router.delete("/session", status_code=status.HTTP_204_NO_CONTENT)
def sign_out(request: Request, response: Response, principal: AsSettingUp) -> None:
    steward = steward_of(request)
    steward.identity.sessions.close(principal.session_id or "")
    response.delete_cookie(cookie_name(steward.settings.http), path="/")


@router.get("/me")
def read_profile(request: Request, response: Response, principal: AsSignedIn) -> UserOut:
    user = steward_of(request).identity.users.get(principal.user_id)
    set_etag(response, user.revision)
    return UserOut.model_validate(user)


@router.patch("/me")
def change_profile(
    request: Request,
    response: Response,
    principal: AsPerson,
    body: ProfileChange,
    if_match: IfMatch = None,
) -> UserOut:
    changes = body.model_dump(exclude_unset=True)
    if changes.get("name", "") is None:
        raise Invalid("A name cannot be empty.", problems=[Problem("/name", "must not be null")])
    users = steward_of(request).identity.users
    user: User = users.update(principal.user_id, revision_from(if_match), changes)
    set_etag(response, user.revision)
    return UserOut.model_validate(user)


@router.put("/me/password", status_code=status.HTTP_204_NO_CONTENT)
def change_password(request: Request, principal: AsSettingUp, body: PasswordChange) -> None:
    """Also signs out every other browser of this user."""
    steward_of(request).identity.users.change_password(
        principal.user_id,
        body.current_password,
        body.new_password,
        keep_session=principal.session_id,
        address=address_of(request),
    )


@router.get("/me/sessions")
def list_sessions(request: Request, principal: AsPerson) -> list[OpenSessionOut]:
    """Where one is signed in, the last used first."""
    steward = steward_of(request)
    found = steward.identity.sessions.listed(principal.user_id)
    providers = {each.id: each.document.name for each in steward.sign_on.providers.enabled()}
    return [_open_session(each, principal, providers) for each in found]


@router.delete("/me/sessions", status_code=status.HTTP_204_NO_CONTENT)
def end_other_sessions(request: Request, principal: AsPerson) -> None:
    """Signs out everywhere else; API tokens are revoked one by one."""
    sessions = steward_of(request).identity.sessions
    sessions.end_all(principal.user_id, keep=principal.session_id)


@router.delete("/me/sessions/{session_id}", status_code=status.HTTP_204_NO_CONTENT)
def end_session(request: Request, principal: AsPerson, session_id: SessionId) -> None:
    steward_of(request).identity.sessions.end_one(principal.user_id, session_id)


def _open_session(
    found: OpenSession, principal: Principal, providers: Mapping[str, str]
) -> OpenSessionOut:
    return copied(
        OpenSessionOut,
        found,
        current=found.id == principal.session_id,
        provider=providers.get(found.provider_id) if found.provider_id is not None else None,
    )


def _agent(request: Request) -> str:
    return request.headers.get("user-agent", "")
