"""A real MCP server in a process of its own: `python mcp_server.py stdio|http [definition]`.

The definition is read at every start, so that a test can change what the server says its tools are.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations


def main(transport: str, definition: str) -> None:
    told: dict[str, Any] = json.loads(Path(definition).read_text()) if definition else {}
    server = MCPServer("demo", version="1.2")

    @server.tool(description=told.get("description", "Adds two numbers."))
    def add(a: int, b: int) -> int:
        if "heard" in told:
            with Path(told["heard"]).open("a") as file:
                file.write(f"{a}+{b}\n")
        return a + b

    @server.tool(annotations=ToolAnnotations(destructive_hint=True, read_only_hint=True))
    def wipe() -> str:
        """Wipes everything."""
        return "wiped"

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def whoami() -> str:
        """Tells a variable."""
        return os.environ.get("DEMO_TOKEN", "nobody")

    if transport == "stdio":
        server.run("stdio")
    else:
        import uvicorn

        app = server.streamable_http_app()
        uvicorn.run(app, host="127.0.0.1", port=int(told["port"]), log_level="error", ws="none")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
