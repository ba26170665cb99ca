"""`steward mcp`: Steward as an MCP server for a program that starts it, such as a desktop agent."""

import asyncio
from typing import Annotated

import typer

from steward.cli.projects import Here, in_project
from steward.core import Invalid
from steward.identity import Principal, TokenLimits, Via, parse_role


@in_project
def mcp(
    here: Here,
    *,
    role: Annotated[
        str, typer.Option(help="The most that the client may do: viewer, operator, editor …")
    ] = "operator",
) -> None:
    """Serve MCP on standard input and output, for a desktop agent that starts this command."""
    if here.as_json:
        raise Invalid("This command speaks MCP on its output; leave --json out.")
    most = parse_role(role)
    access = here.access
    access.may_grant(most)
    # The protocol's library takes a second to load.
    from steward.mcp import serve_stdio

    person, project_id = access.principal, access.scope.project_id
    limits = TokenLimits("stdio", project_id, most)
    principal = Principal(person.user_id, person.email, person.name, Via.token, limits=limits)
    asyncio.run(serve_stdio(here.steward, principal, project_id))
