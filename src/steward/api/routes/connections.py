"""Connections: what a project may reach, and whether it works."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends, Request, Response, status
from pydantic import ConfigDict, Field, SecretStr

from steward.api.context import steward_of
from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Output,
    Page,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsAdmin, AsOperator, AsViewer, InProject
from steward.api.routes.sign_ins import SignInOut, sign_in_out
from steward.api.routing import Router
from steward.api.types import ConnectionId
from steward.connections import Check, Connection, Connector, Desk, Draft, load_connectors
from steward.connections.mcp import program_hash
from steward.core import copied
from steward.identity import Access, Role

router = Router(prefix="/projects/{project_id}", tags=["connections"])

# What starts programs or reads the machine is for a person at the browser, never for a token.
AsAdminInPerson = Annotated[Access, Depends(InProject(Role.admin, session_only=True))]
ConnectionName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$", examples=["warehouse"], max_length=40)
]
_SHOWN_CHECKS = 12


class SecretFieldOut(Output):
    name: str
    title: str
    description: str
    required: bool


class ConnectorOut(Output):
    kind: str
    title: str
    description: str
    use: str
    settings_schema: dict[str, Any]
    secrets: list[SecretFieldOut]
    extra_secrets: str


class CheckOut(Output):
    id: str
    at: datetime
    worked: bool
    words: str
    code: str
    milliseconds: int
    checked_by: str


class ProgramOut(Output):
    """What a connection would start on this machine."""

    command: list[str]
    hash: str
    accepted: bool


class ConnectionOut(Output):
    id: str
    name: str
    kind: str
    title: str
    place: str
    settings: dict[str, Any]
    secrets: dict[str, str]
    scope_hint: str
    state: Literal["unknown", "working", "failing"]
    checked_at: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime
    revision: int
    program: ProgramOut | None
    sign_in: SignInOut | None
    checks: list[CheckOut]


class ConnectionIn(Input):
    # Passwords keep the spaces they begin or end with.
    model_config = ConfigDict(str_strip_whitespace=False)

    name: ConnectionName
    kind: str = Field(max_length=40, examples=["postgresql"])
    settings: dict[str, Any] = Field(max_length=50)
    secrets: dict[str, str] = Field(
        {}, max_length=60, description="Names of secrets that the project has already."
    )
    values: dict[str, SecretStr] = Field(
        {}, max_length=60, description="Values to keep as secrets; they never come back."
    )
    scope_hint: str = Field("", max_length=400, description="What it is for, in words.")


class AcceptProgramIn(Input):
    hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="Of the program that was shown.")


def desk_of(request: Request) -> Desk:
    return steward_of(request).connections


def _connector_out(connector: Connector[Any]) -> ConnectorOut:
    return copied(
        ConnectorOut,
        connector,
        settings_schema=connector.schema(),
    )


def connection_out(
    desk: Desk, access: Access, connection: Connection, checks: list[Check] | None = None
) -> ConnectionOut:
    program = connection.program
    known = {
        name: getattr(connection, name)
        for name in ConnectionOut.model_fields
        if name not in {"title", "program", "checks", "secrets", "sign_in"}
    }
    return ConnectionOut(
        **known,
        title=connection.connector.title,
        # Names of secrets are for those who may list secrets.
        secrets=dict(connection.secrets) if access.role >= Role.editor else {},
        program=None
        if program is None
        else ProgramOut(
            command=list(program),
            hash=program_hash(program),
            accepted=connection.program_is_accepted,
        ),
        sign_in=sign_in_out(desk.sign_in_status(access.scope, connection)),
        checks=[CheckOut.model_validate(each) for each in checks or []],
    )


def _draft(body: ConnectionIn) -> Draft:
    return copied(
        Draft,
        body,
        scope_hint=body.scope_hint.strip(),
        values={name: value.get_secret_value() for name, value in body.values.items()},
    )


@router.get("/connection-kinds")
def list_connection_kinds(_request: Request, _access: AsViewer) -> Page[ConnectorOut]:
    """Every kind of connection with the JSON Schema of its settings and the secrets it needs."""
    items = [_connector_out(each) for _, each in load_connectors()]
    return Page(items=items, next_cursor=None)


@router.get("/connections")
def list_connections(
    request: Request, access: AsViewer, cursor: Cursor = None, limit: Limit = 50
) -> Page[ConnectionOut]:
    """By name, each with its latest checks."""
    desk = desk_of(request)
    items, following = page(
        lambda after, count: desk.documents.listed(access.scope, after, count),
        lambda connection: connection.name,
        cursor,
        limit,
    )
    checks = desk.health.histories(access.scope, [each.id for each in items], _SHOWN_CHECKS)
    return Page(
        items=[connection_out(desk, access, each, checks[each.id]) for each in items],
        next_cursor=following,
    )


@router.post("/connections", status_code=status.HTTP_201_CREATED)
def create_connection(
    request: Request, access: AsAdmin, body: ConnectionIn, response: Response
) -> ConnectionOut:
    """Keeps a connection; given values become secrets of the project."""
    made = desk_of(request).documents.create(access, _draft(body))
    set_etag(response, made.revision)
    return connection_out(desk_of(request), access, made)


@router.get("/connections/{connection_id}")
def read_connection(
    request: Request, access: AsViewer, connection_id: ConnectionId, response: Response
) -> ConnectionOut:
    desk = desk_of(request)
    found = desk.documents.get(access.scope, connection_id)
    set_etag(response, found.revision)
    return connection_out(desk, access, found, desk.health.history(access.scope, connection_id))


@router.put("/connections/{connection_id}")
def change_connection(
    request: Request,
    access: AsAdmin,
    connection_id: ConnectionId,
    body: ConnectionIn,
    response: Response,
    if_match: IfMatch = None,
) -> ConnectionOut:
    """The whole document anew; a changed program must be accepted again."""
    changed = desk_of(request).documents.change(
        access, connection_id, revision_from(if_match), _draft(body)
    )
    set_etag(response, changed.revision)
    return connection_out(desk_of(request), access, changed)


@router.delete("/connections/{connection_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_connection(request: Request, access: AsAdmin, connection_id: ConnectionId) -> None:
    """Nothing uses it from now on; it can be restored."""
    desk_of(request).documents.delete(access, connection_id)


@router.post("/connections/{connection_id}/restore")
def restore_connection(
    request: Request, access: AsAdmin, connection_id: ConnectionId, response: Response
) -> ConnectionOut:
    restored = desk_of(request).documents.restore(access, connection_id)
    set_etag(response, restored.revision)
    return connection_out(desk_of(request), access, restored)


@router.post("/connections/{connection_id}/check")
async def check_connection(
    request: Request, access: AsOperator, connection_id: ConnectionId
) -> CheckOut:
    """Tries the connection now, for a bounded time; a failure is an answer in plain words, not an error."""
    found = await desk_of(request).health.check(access.scope, connection_id, access.user_id)
    return CheckOut.model_validate(found)


@router.post("/connections/{connection_id}/program")
def accept_connection_program(
    request: Request, access: AsAdminInPerson, connection_id: ConnectionId, body: AcceptProgramIn
) -> ConnectionOut:
    """Lets a connection start exactly the program that was shown; for whoever runs the installation."""
    accepted = desk_of(request).accept_program(access, connection_id, body.hash)
    return connection_out(desk_of(request), access, accepted)
