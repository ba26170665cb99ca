"""Connections: what a project may reach, whether it works, what was found on this machine, tools of MCP servers."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Request, Response, status
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
from steward.api.types import ConnectionId
from steward.broker.tool import Risk
from steward.connections import Check, Connection, Connector, Desk, Draft, load_connectors
from steward.connections.discovery.desk import told_wrong
from steward.connections.discovery.proposal import Proposal
from steward.connections.mcp.settings import program_hash
from steward.connections.tools import ServerTool
from steward.identity import Access, Role
from steward.tools._mcp import full_name

router = APIRouter(prefix="/projects/{project_id}", tags=["connections"])

# What starts programs or reads the machine is for a person at the browser, never for a token.
AsAdminInPerson = Annotated[Access, Depends(InProject(Role.admin, session_only=True))]
ProposalId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", examples=["0" * 32])]
ToolName = Annotated[str, Path(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,50}$", examples=["search"])]
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


class ProposalOut(Output):
    id: str
    kind: str
    title: str
    name: str
    found_in: str
    settings: dict[str, Any]
    masked: dict[str, str]
    missing: list[str]
    note: str
    refused: str


class AcceptIn(Input):
    name: ConnectionName | None = None
    settings: dict[str, Any] = Field({}, max_length=20, description="What was missing, no more.")
    scope_hint: str = Field("", max_length=400)


class ServerToolOut(Output):
    name: str
    tool: str
    title: str
    description: str
    arguments: dict[str, Any]
    hints: dict[str, bool]
    state: Literal["new", "accepted", "changed", "gone"]
    risk: Risk
    chosen_risk: Risk | None
    hash: str
    accepted_description: str | None
    accepted_by: str | None
    accepted_at: datetime | None


class AcceptToolsIn(Input):
    hashes: dict[str, str] = Field(
        min_length=1, max_length=200, description="Tool → hash of the definition that was shown."
    )


class ToolRiskIn(Input):
    risk: Risk | None = Field(description="None: as the server's hints have it.")


class AcceptProgramIn(Input):
    hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="Of the program that was shown.")


def _desk(request: Request) -> Desk:
    return steward_of(request).connections


def _connector_out(connector: Connector[Any]) -> ConnectorOut:
    return ConnectorOut(
        kind=connector.kind,
        title=connector.title,
        description=connector.description,
        use=connector.use,
        settings_schema=connector.schema(),
        secrets=[SecretFieldOut.model_validate(each) for each in connector.secrets],
        extra_secrets=connector.extra_secrets,
    )


def _connection_out(
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
        sign_in=sign_in_out(desk.sign_ins.status(access.scope, connection)),
        checks=[CheckOut.model_validate(each) for each in checks or []],
    )


def _draft(body: ConnectionIn) -> Draft:
    return Draft(
        name=body.name,
        kind=body.kind,
        settings=body.settings,
        secrets=body.secrets,
        scope_hint=body.scope_hint.strip(),
        values={name: value.get_secret_value() for name, value in body.values.items()},
    )


def _proposal_out(found: Proposal) -> ProposalOut:
    proposal = told_wrong(found)
    known = load_connectors()
    title = known.get(proposal.kind).title if proposal.kind in known else "Model"
    return ProposalOut(
        **{
            name: getattr(proposal, name)
            for name in ("id", "kind", "name", "found_in", "note", "refused", "masked")
        },
        title=title,
        settings=dict(proposal.settings),
        missing=list(proposal.missing),
    )


def _tool_out(connection: Connection, tool: ServerTool) -> ServerToolOut:
    shown = tool.shown
    changed = tool.accepted if tool.state == "changed" else None
    return ServerToolOut(
        name=tool.name,
        tool=full_name(connection, tool.name),
        title=shown.title,
        description=shown.description,
        arguments=dict(shown.arguments),
        hints=dict(shown.hints),
        state="gone" if tool.state == "gone_unseen" else tool.state,
        risk=Risk(tool.risk),
        chosen_risk=Risk(tool.chosen_risk) if tool.chosen_risk else None,
        hash=shown.hash,
        accepted_description=changed.description if changed else None,
        accepted_by=tool.accepted_by,
        accepted_at=tool.accepted_at,
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
    desk = _desk(request)
    items, following = page(
        lambda after, count: desk.documents.listed(access.scope, after, count),
        lambda connection: connection.name,
        cursor,
        limit,
    )
    checks = desk.health.histories(access.scope, [each.id for each in items], _SHOWN_CHECKS)
    return Page(
        items=[_connection_out(desk, access, each, checks[each.id]) for each in items],
        next_cursor=following,
    )


@router.post("/connections", status_code=status.HTTP_201_CREATED)
def create_connection(
    request: Request, access: AsAdmin, body: ConnectionIn, response: Response
) -> ConnectionOut:
    """Keeps a connection; given values become secrets of the project."""
    made = _desk(request).documents.create(access, _draft(body))
    set_etag(response, made.revision)
    return _connection_out(_desk(request), access, made)


@router.get("/connections/{connection_id}")
def read_connection(
    request: Request, access: AsViewer, connection_id: ConnectionId, response: Response
) -> ConnectionOut:
    desk = _desk(request)
    found = desk.documents.get(access.scope, connection_id)
    set_etag(response, found.revision)
    return _connection_out(desk, access, found, desk.health.history(access.scope, connection_id))


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
    changed = _desk(request).documents.change(
        access, connection_id, revision_from(if_match), _draft(body)
    )
    set_etag(response, changed.revision)
    return _connection_out(_desk(request), access, changed)


@router.delete("/connections/{connection_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_connection(request: Request, access: AsAdmin, connection_id: ConnectionId) -> None:
    """Nothing uses it from now on; it can be restored."""
    _desk(request).documents.delete(access, connection_id)


@router.post("/connections/{connection_id}/restore")
def restore_connection(
    request: Request, access: AsAdmin, connection_id: ConnectionId, response: Response
) -> ConnectionOut:
    restored = _desk(request).documents.restore(access, connection_id)
    set_etag(response, restored.revision)
    return _connection_out(_desk(request), access, restored)


@router.post("/connections/{connection_id}/check")
async def check_connection(
    request: Request, access: AsOperator, connection_id: ConnectionId
) -> CheckOut:
    """Tries the connection now, for a bounded time; a failure is an answer in plain words, not an error."""
    found = await _desk(request).health.check(access.scope, connection_id, access.user_id)
    return CheckOut.model_validate(found)


@router.post("/connections/{connection_id}/program")
def accept_connection_program(
    request: Request, access: AsAdminInPerson, connection_id: ConnectionId, body: AcceptProgramIn
) -> ConnectionOut:
    """Lets a connection start exactly the program that was shown; for whoever runs the installation."""
    accepted = _desk(request).accept_program(access, connection_id, body.hash)
    return _connection_out(_desk(request), access, accepted)


@router.get("/connection-proposals")
def list_connection_proposals(request: Request, access: AsAdminInPerson) -> Page[ProposalOut]:
    """What is configured on this machine already, secrets masked; for whoever runs the installation."""
    found = _desk(request).discovery.proposals(access)
    return Page(items=[_proposal_out(each) for each in found], next_cursor=None)


@router.post("/connection-proposals/look")
def look_for_connections(request: Request, access: AsAdminInPerson) -> Page[ProposalOut]:
    """Looks again."""
    found = _desk(request).discovery.proposals(access, again=True)
    return Page(items=[_proposal_out(each) for each in found], next_cursor=None)


@router.post("/connection-proposals/{proposal_id}/accept", status_code=status.HTTP_201_CREATED)
def accept_connection_proposal(
    request: Request,
    access: AsAdminInPerson,
    proposal_id: ProposalId,
    body: AcceptIn,
    response: Response,
) -> ConnectionOut:
    """Makes the connection of it; its secrets go into the project's store."""
    made = _desk(request).discovery.accept(
        access,
        proposal_id,
        name=body.name,
        settings=body.settings,
        scope_hint=body.scope_hint,
    )
    set_etag(response, made.revision)
    return _connection_out(_desk(request), access, made)


@router.post("/connection-proposals/{proposal_id}/dismiss", status_code=status.HTTP_204_NO_CONTENT)
def dismiss_connection_proposal(
    request: Request, access: AsAdminInPerson, proposal_id: ProposalId
) -> None:
    """Hides it in this project."""
    _desk(request).discovery.dismiss(access, proposal_id)


@router.post("/connection-proposals/{proposal_id}/bring-back")
def bring_back_connection_proposal(
    request: Request, access: AsAdminInPerson, proposal_id: ProposalId
) -> ProposalOut:
    """Shows a dismissed one again."""
    return _proposal_out(_desk(request).discovery.bring_back(access, proposal_id))


@router.get("/connections/{connection_id}/tools")
def list_server_tools(
    request: Request, access: AsViewer, connection_id: ConnectionId
) -> Page[ServerToolOut]:
    """What an MCP server offers, as it was seen last, and what of it was accepted."""
    return _tools_out(request, access, connection_id)


@router.post("/connections/{connection_id}/tools/look")
async def look_at_server_tools(
    request: Request, access: AsAdmin, connection_id: ConnectionId
) -> Page[ServerToolOut]:
    """Asks the server what it offers now. Nothing becomes callable by it."""
    desk = _desk(request)
    tools = await desk.look_at_tools(access, connection_id)
    connection = desk.documents.get(access.scope, connection_id)
    return Page(items=[_tool_out(connection, each) for each in tools], next_cursor=None)


@router.post("/connections/{connection_id}/tools/accept")
def accept_server_tools(
    request: Request, access: AsAdmin, connection_id: ConnectionId, body: AcceptToolsIn
) -> Page[ServerToolOut]:
    """Lets agents call tools whose definitions somebody has looked at, by their hashes."""
    _desk(request).tools.accept(access, connection_id, body.hashes)
    return _tools_out(request, access, connection_id)


@router.put("/connections/{connection_id}/tools/{tool_name}/risk")
def set_server_tool_risk(
    request: Request,
    access: AsAdmin,
    connection_id: ConnectionId,
    tool_name: ToolName,
    body: ToolRiskIn,
) -> ServerToolOut:
    """What a call can do at worst, by an admin's judgement."""
    desk = _desk(request)
    risk = body.risk.value if body.risk is not None else None
    changed = desk.tools.set_risk(access, connection_id, tool_name, risk)
    return _tool_out(desk.documents.get(access.scope, connection_id), changed)


@router.post("/connections/{connection_id}/tools/{tool_name}/withdraw")
def withdraw_server_tool(
    request: Request, access: AsAdmin, connection_id: ConnectionId, tool_name: ToolName
) -> ServerToolOut:
    """Takes an acceptance back: the tool can no longer be called."""
    desk = _desk(request)
    changed = desk.tools.withdraw(access, connection_id, tool_name)
    return _tool_out(desk.documents.get(access.scope, connection_id), changed)


def _tools_out(request: Request, access: Access, connection_id: str) -> Page[ServerToolOut]:
    desk = _desk(request)
    connection = desk.documents.get(access.scope, connection_id)
    tools = desk.tools.listed(access.scope, connection_id)
    return Page(items=[_tool_out(connection, each) for each in tools], next_cursor=None)
