"""Tools of MCP servers: looked at, accepted by their hashes, weighed and withdrawn."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Request
from pydantic import Field, WithJsonSchema

from steward.api.documents import (
    Input,
    Output,
    Page,
)
from steward.api.guards import AsAdmin, AsViewer
from steward.api.routes.connections import desk_of
from steward.api.routing import Router
from steward.api.types import ConnectionId
from steward.broker import DECLARABLE, Risk, Role, fields_of, propose_roles, without_roles
from steward.connections import Connection, ServerTool
from steward.identity import Access
from steward.tools import accept_tools, confirm_roles, server_tool_name

router = Router(prefix="/projects/{project_id}", tags=["connections"])

ToolName = Annotated[str, Path(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,50}$", examples=["search"])]


ArgumentRole = Annotated[
    Role, WithJsonSchema({"type": "string", "enum": [role.value for role in DECLARABLE]})
]


class ArgumentRoleOut(Output):
    path: str
    description: str
    role: ArgumentRole | None = Field(description="As confirmed; None: not confirmed.")
    proposed: ArgumentRole | None = Field(
        description="From format, type and name; None: no proposal."
    )


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
    arguments_by_role: list[ArgumentRoleOut] = Field(
        description="What each argument is for: as a person confirmed it, and as Steward proposes it."
    )
    roles_confirmed: bool = Field(
        description="Until a person confirms the roles, every argument counts as the strictest."
    )
    accepted_description: str | None
    accepted_by: str | None
    accepted_at: datetime | None


class AcceptToolsIn(Input):
    hashes: dict[str, str] = Field(
        min_length=1, max_length=200, description="Tool → hash of the definition that was shown."
    )
    roles: dict[str, dict[str, ArgumentRole]] = Field(
        default_factory=dict,
        max_length=200,
        description="Tool → argument's path → what it is for, as a person confirmed it.",
    )


class ToolRolesIn(Input):
    hash: str = Field(max_length=64, description="Of the accepted definition that was shown.")
    roles: dict[str, ArgumentRole] = Field(
        max_length=500,
        description="Argument's path → what it is for. Others count as the strictest.",
    )


class ToolRiskIn(Input):
    risk: Risk | None = Field(description="None: as the server's hints have it.")


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
    desk = desk_of(request)
    tools = await desk.look_at_tools(access, connection_id)
    connection = desk.documents.get(access.scope, connection_id)
    return Page(items=[_tool_out(connection, each) for each in tools], next_cursor=None)


@router.post("/connections/{connection_id}/tools/accept")
def accept_server_tools(
    request: Request, access: AsAdmin, connection_id: ConnectionId, body: AcceptToolsIn
) -> Page[ServerToolOut]:
    """Lets agents call tools whose definitions somebody has looked at, by their hashes."""
    accept_tools(desk_of(request), access, connection_id, body.hashes, body.roles)
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
    desk = desk_of(request)
    risk = body.risk.value if body.risk is not None else None
    changed = desk.tools.set_risk(access, connection_id, tool_name, risk)
    return _tool_out(desk.documents.get(access.scope, connection_id), changed)


@router.put("/connections/{connection_id}/tools/{tool_name}/roles")
def confirm_server_tool_roles(
    request: Request,
    access: AsAdmin,
    connection_id: ConnectionId,
    tool_name: ToolName,
    body: ToolRolesIn,
) -> ServerToolOut:
    """Says what the arguments of an accepted tool are for. It holds until the server changes the tool."""
    desk = desk_of(request)
    changed = confirm_roles(desk, access, connection_id, tool_name, body.hash, body.roles)
    return _tool_out(desk.documents.get(access.scope, connection_id), changed)


@router.post("/connections/{connection_id}/tools/{tool_name}/withdraw")
def withdraw_server_tool(
    request: Request, access: AsAdmin, connection_id: ConnectionId, tool_name: ToolName
) -> ServerToolOut:
    """Takes an acceptance back: the tool can no longer be called."""
    desk = desk_of(request)
    changed = desk.tools.withdraw(access, connection_id, tool_name)
    return _tool_out(desk.documents.get(access.scope, connection_id), changed)


def _tools_out(request: Request, access: Access, connection_id: str) -> Page[ServerToolOut]:
    desk = desk_of(request)
    connection = desk.documents.get(access.scope, connection_id)
    tools = desk.tools.listed(access.scope, connection_id)
    return Page(items=[_tool_out(connection, each) for each in tools], next_cursor=None)


def _roles_out(tool: ServerTool) -> list[ArgumentRoleOut]:
    schema = without_roles(tool.shown.arguments)
    proposed, fields = propose_roles(schema), fields_of(schema)
    confirmed = tool.roles if tool.state == "accepted" else None
    return [
        ArgumentRoleOut(
            path=path,
            description=str(fields[path].get("description", "")),
            role=Role(confirmed[path]) if confirmed and path in confirmed else None,
            proposed=role,
        )
        for path, role in proposed.items()
    ]


def _tool_out(connection: Connection, tool: ServerTool) -> ServerToolOut:
    shown = tool.shown
    changed = tool.accepted if tool.state == "changed" else None
    return ServerToolOut(
        name=tool.name,
        tool=server_tool_name(connection, tool.name),
        title=shown.title,
        description=shown.description,
        arguments=dict(shown.arguments),
        hints=dict(shown.hints),
        state="gone" if tool.state == "gone_unseen" else tool.state,
        risk=Risk(tool.risk),
        chosen_risk=Risk(tool.chosen_risk) if tool.chosen_risk else None,
        hash=shown.hash,
        arguments_by_role=_roles_out(tool),
        roles_confirmed=tool.roles is not None,
        accepted_description=changed.description if changed else None,
        accepted_by=tool.accepted_by,
        accepted_at=tool.accepted_at,
    )
