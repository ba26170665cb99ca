"""The MCP door: Steward as a server of the Model Context Protocol; no logic of its own.

How Steward itself calls MCP servers of others is in `connections.mcp`.
"""

from steward.mcp.caller import Caller, client_name
from steward.mcp.server import build_server
from steward.mcp.stdio import serve_stdio

__all__ = ["Caller", "build_server", "client_name", "serve_stdio"]
