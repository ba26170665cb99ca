"""Client of MCP servers: protocol 2026-07-28, and the handshake before it where a server knows no newer one."""

from steward.connections.mcp.client import Answer
from steward.connections.mcp.definitions import Definition
from steward.connections.mcp.settings import program_hash

__all__ = [
    "Answer",
    "Definition",
    "program_hash",
]
