"""Client of MCP servers: protocol 2026-07-28, and the handshake before it where a server knows no newer one."""

from steward.connections.mcp.client import Answer, Listing, call_tool, list_tools
from steward.connections.mcp.definitions import Definition
from steward.connections.mcp.settings import program_hash

__all__ = [
    "Answer",
    "Definition",
    "Listing",
    "call_tool",
    "list_tools",
    "program_hash",
]
