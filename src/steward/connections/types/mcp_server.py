"""An MCP server, whose tools become tools here once somebody has accepted them."""

from steward.connections.connector import SecretField, Secrets, Surroundings, add_connector
from steward.connections.mcp.settings import LOADING, McpSettings


async def check(around: Surroundings, settings: McpSettings, secrets: Secrets) -> str:
    # Loaded late: the SDK is large and most installations start without a server to ask.
    from steward.connections.mcp.client import list_tools

    found = await list_tools(around.http, settings, secrets, line=around.line)
    count = len(found.tools)
    tools = "one tool" if count == 1 else f"{count} tools"
    return f"{found.server} offers {tools} (protocol {found.protocol})."


add_connector(
    kind="mcp",
    title="MCP server",
    description="Tools of an MCP server, each accepted by a person before agents may call it.",
    use="mcp",
    settings=McpSettings,
    check=check,
    place=lambda settings: settings.place,
    secrets=(
        SecretField("token", "Bearer token", "For servers reached by http, without a sign-in."),
        SecretField("client_secret", "Client secret", "For a client registered by hand."),
    ),
    extra_secrets=rf"env\.(?!{LOADING}$)[A-Za-z_][A-Za-z0-9_]{{0,80}}|header\.[A-Za-z][A-Za-z0-9-]{{0,60}}",
    command=lambda settings: settings.program,
)
