"""Guards: every route names exactly one, and the server refuses to start with a route that has none.

A guard says who may call (anyone, anyone signed in, a role in the project), finds out who is calling,
and applies the caller's rate limit. The OpenAPI document and the access tests are made from guards.
"""

import hmac
import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args

from fastapi import Depends, Query, Request, params
from fastapi.routing import APIRoute

from steward.api.context import address_of, context_of, steward_of
from steward.api.routing import DeferredRoute
from steward.api.visibility import Visibility
from steward.core import (
    DEMAND,
    Bug,
    Denied,
    HttpSettings,
    Invalid,
    NotFound,
    Share,
    Unauthenticated,
    is_id,
)
from steward.identity import Access, Principal, Role, Via
from steward.trace import add_to_context

CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard(ABC):
    """Base of the three kinds."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The guard as the OpenAPI document shows it."""


@dataclass(frozen=True)
class Public(Guard):
    counted: bool = True
    """Off where the path itself cannot be guessed and thousands of events may come at once from one address."""

    async def __call__(self, request: Request) -> None:
        # Not by a thread: it only counts, and thousands of events may come at once.
        if self.counted:
            count_against_address(request)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "public"}


@dataclass(frozen=True)
class SignedIn(Guard):
    session_only: bool = False
    """Some things belong to the person alone: a token must not change a password or make tokens."""
    setting_up: bool = False
    """Whether somebody may call it who still has to set up the second step that their organisation requires."""

    def __call__(self, request: Request) -> Principal:
        return identify(request, session_only=self.session_only, setting_up=self.setting_up)

    def as_dict(self) -> dict[str, Any]:
        found = {"kind": "signed_in", "session_only": self.session_only}
        return found | ({"setting_up": True} if self.setting_up else {})


@dataclass(frozen=True)
class InProject(Guard):
    role: Role
    session_only: bool = False
    runner: bool = False
    """Whether runners may call it too, for what is theirs; everything else is closed to them."""
    asked: bool = False
    """Whether a run that waits for the caller may be named, even one that is hidden from them otherwise."""
    organisation: bool = False
    """Whether the caller must own the organisation, not only a project of it."""

    def __call__(self, request: Request, project_id: str) -> Access:
        principal = identify(request, session_only=self.session_only)
        if not is_id(project_id, "prj"):
            raise NotFound("There is no such project, or it is not open to you.")
        access = steward_of(request).identity.projects.enter(principal, project_id)
        if not (self.runner and access.role is Role.runner):
            access.require(self.role)
        if self.organisation:
            steward_of(request).identity.members.require_organisation_owner(access)
        _refuse_hidden(request, access, asked=self.asked)
        DEMAND.asked(Share(access.scope.project_id, access.user_id))
        return access

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "project",
            "role": self.role.name,
            "session_only": self.session_only,
            "runner": self.runner,
            **({"organisation": True} if self.organisation else {}),
        }


@dataclass(frozen=True)
class InNamedProject(Guard):
    """For addresses without a project in them: it is named as a parameter, unless only one can be meant."""

    role: Role

    def __call__(
        self,
        request: Request,
        project_id: Annotated[
            str | None,
            Query(
                max_length=40,
                description="Not needed with a token of one project, or in one project only.",
            ),
        ] = None,
    ) -> Access:
        if project_id is None:
            project_id = _only_project(request, identify(request))
        return InProject(self.role)(request, project_id)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "named_project", "role": self.role.name}


def _only_project(request: Request, principal: Principal) -> str:
    if principal.limits is not None:
        return principal.limits.project_id
    found = steward_of(request).identity.projects.page(principal, limit=2)
    if len(found) != 1:
        raise Invalid("Say which project: add ?project_id= with its id.", code="which-project")
    return found[0].id


AsViewer = Annotated[Access, Depends(InProject(Role.viewer))]
AsOperator = Annotated[Access, Depends(InProject(Role.operator))]
AsEditor = Annotated[Access, Depends(InProject(Role.editor))]
AsAdmin = Annotated[Access, Depends(InProject(Role.admin))]
AsAdminInPerson = Annotated[Access, Depends(InProject(Role.admin, session_only=True))]
AsOwner = Annotated[Access, Depends(InProject(Role.owner))]
AsOrganisationOwner = Annotated[
    Access, Depends(InProject(Role.owner, session_only=True, organisation=True))
]
AsViewerInPerson = Annotated[Access, Depends(InProject(Role.viewer, session_only=True))]
AsViewerOrRunner = Annotated[Access, Depends(InProject(Role.viewer, runner=True))]
AsOperatorOrRunner = Annotated[Access, Depends(InProject(Role.operator, runner=True))]
AsAsked = Annotated[Access, Depends(InProject(Role.operator, runner=True, asked=True))]
AsViewerOfNamed = Annotated[Access, Depends(InNamedProject(Role.viewer))]
AsAnyone = Depends(Public())
AsSender = Depends(Public(counted=False))
AsSignedIn = Annotated[Principal, Depends(SignedIn())]
AsPerson = Annotated[Principal, Depends(SignedIn(session_only=True))]
AsSettingUp = Annotated[Principal, Depends(SignedIn(session_only=True, setting_up=True))]


def count_against_address(request: Request) -> None:
    """Uses one request of what a signed-out address may ask."""
    context_of(request).limiter.take(f"address:{address_of(request)}")


def identify(
    request: Request,
    *,
    session_only: bool = False,
    audience: str | None = None,
    setting_up: bool = False,
) -> Principal:
    """Who is calling, by bearer token or session cookie; checks CSRF for cookies."""
    context = context_of(request)
    try:
        principal = _resolve(request)
        _refuse_wrong_door(principal, audience)
    except Unauthenticated:
        # Guessing credentials counts against the address.
        count_against_address(request)
        raise
    context.limiter.take(principal.id)
    add_to_context(principal=principal.id)
    request.state.principal = principal.id
    if principal.via is Via.session and request.method not in SAFE_METHODS:
        _check_csrf(request, principal)
    if principal.owes_second_step and not setting_up:
        raise Denied(
            "Your organisation requires two-step sign-in. Set up your second step in the browser; everything else opens afterwards.",
            code="second-step-required",
        )
    if session_only and principal.via is not Via.session:
        raise Denied("An API token cannot do this; sign in with the browser.", code="session-only")
    return principal


def _refuse_hidden(request: Request, access: Access, *, asked: bool) -> None:
    """What belongs to a playbook that is hidden from the caller is hidden too, however it is named."""
    path, query = request.path_params, request.query_params
    named = [path.get("run_id"), *(query.get(name) for name in ("run_id", "other", "parent"))]
    runs = [each for each in named if each is not None and is_id(each, "run")]
    schedule = _named(path.get("schedule_id"), "sch")
    approval = _named(path.get("approval_id"), "apr")
    if runs or schedule or approval:
        seeing = Visibility(steward_of(request), access)
        seeing.refuse_hidden(runs=runs, schedule=schedule, approval=approval, asked=asked)


def _named(value: Any, prefix: str) -> str | None:
    return value if isinstance(value, str) and is_id(value, prefix) else None


def guard_of(route: APIRoute | DeferredRoute) -> Guard:
    """The one guard among what a route depends on, directly or through others."""
    found = [*_guards(route.endpoint), *_named_guards(route.dependencies)]
    if len(found) != 1:
        raise Bug(
            f"{route.endpoint.__name__} at {route.path} names {len(found)} guards instead of one."
        )
    return found[0]


def cookie_name(settings: HttpSettings) -> str:
    """Cookies ignore ports: two installations on one machine must not sign each other out."""
    return "steward" if settings.public_url else f"steward_{settings.port}"


def _resolve(request: Request) -> Principal:
    identity = steward_of(request).identity
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        if scheme.lower() != "bearer":
            raise Unauthenticated("Use 'Authorization: Bearer <token>'.")
        return identity.tokens.resolve(token.strip())
    cookie = request.cookies.get(cookie_name(steward_of(request).settings.http))
    if not cookie:
        raise Unauthenticated("Sign in, or send an API token as 'Authorization: Bearer <token>'.")
    return identity.sessions.resolve(cookie)


def _refuse_wrong_door(principal: Principal, audience: str | None) -> None:
    """A token that was given for one door is worth nothing at another."""
    limits = principal.limits
    if limits is not None and limits.audience is not None and limits.audience != audience:
        raise Unauthenticated(
            f"This token is for {limits.audience} alone. Create an API token under API tokens.",
            code="wrong-audience",
        )


def _check_csrf(request: Request, principal: Principal) -> None:
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), (principal.csrf_token or "").encode()):
        raise Denied(
            "The X-CSRF-Token header is missing or wrong. It is the csrf_token of GET /session.",
            code="csrf",
        )


@cache
def _guards(call: Any) -> list[Guard]:
    if isinstance(call, Guard):
        return [call]
    given = inspect.signature(call).parameters.values()
    marks = [mark for each in given for mark in (each.default, *get_args(each.annotation)[1:])]
    return _named_guards([mark for mark in marks if isinstance(mark, params.Depends)])


def _named_guards(marks: Sequence[params.Depends]) -> list[Guard]:
    return [guard for mark in marks if mark.dependency for guard in _guards(mark.dependency)]
