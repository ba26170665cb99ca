"""Looks for operations of the project's connected services by words: there are too many to be listed."""

from typing import Annotated

from pydantic import Field

from steward.broker import SELECTOR, Arguments, Effects, Outcome, Risk, ToolContext, add_tool
from steward.tools._calls import off_loop
from steward.tools._connections import desk_of
from steward.tools._services import WORD, operation_tool_name, search


class SearchOperations(Arguments):
    text: Annotated[str, SELECTOR] = Field(
        min_length=1, max_length=300, description="What the operation should do, in a few words."
    )
    connection: Annotated[str | None, SELECTOR] = Field(
        None, max_length=50, description="Only operations of this connection."
    )
    limit: Annotated[int, SELECTOR] = Field(10, ge=1, le=50, description="At most this many.")


async def run(context: ToolContext, arguments: SearchOperations) -> Outcome:
    found = await off_loop(
        search,
        desk_of(context),
        context.scope,
        arguments.text,
        arguments.limit,
        arguments.connection,
    )
    return Outcome(
        value={
            "operations": [
                {
                    "tool": operation_tool_name(connection, operation.name),
                    "title": operation.title,
                    "description": operation.description[:200],
                    "risk": operation.risk,
                    "required": list(operation.arguments.get("required", ())),
                }
                for connection, operation in found
            ]
        },
        summary=f"{len(found)} operations found",
        sources=(f"{WORD}:descriptions",),
        # Titles and descriptions are the services' own words.
        trusted=False,
    )


add_tool(
    name="search_operations",
    title="Search operations of connected services",
    description=(
        "Finds operations of the services that the project is connected to, by words. A plan that names one of "
        "them by its tool name can call it."
    ),
    arguments=SearchOperations,
    risk=Risk.read,
    run=run,
    effects=Effects(reads=True),
    idempotent=True,
    attempts=2,
)
