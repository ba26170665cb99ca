"""The door for programs on the same machine: the protocol over standard input and output."""

import asyncio
import secrets

from mcp.server.stdio import stdio_server

from steward.app import Steward
from steward.flows import Client
from steward.identity import Access, Principal
from steward.mcp.caller import Caller, Context, client_name
from steward.mcp.server import build_server


async def serve_stdio(steward: Steward, principal: Principal, project_id: str) -> None:
    """Answers until the client closes its end. Membership and role are looked up for every request."""
    own = secrets.token_hex(8)

    async def find_caller(context: Context) -> Caller:
        access: Access = await asyncio.to_thread(
            steward.identity.projects.enter, principal, project_id
        )
        return Caller(access, Client(f"stdio:{own}", client_name(context)))

    server = build_server(steward, find_caller)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
