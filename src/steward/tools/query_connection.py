"""A read-only question to a database that the project is connected to."""

from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    PLAIN,
    SELECTOR,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.connections import Opened
from steward.core import StewardError
from steward.tools._calls import bench, off_loop
from steward.tools._connections import connection_of, opened, said_plainly, source, target_of

MOST_ROWS = 1_000


class QueryConnection(Arguments):
    connection: Annotated[str, TARGET] = Field(
        min_length=1, max_length=50, description="Name of the connection."
    )
    sql: Annotated[str, SELECTOR] = Field(
        min_length=1,
        max_length=50_000,
        description="One SELECT in the database's own dialect.",
    )
    limit: Annotated[int, PLAIN] = Field(100, ge=1, le=MOST_ROWS, description="Most rows to bring.")


_COLUMN: Final = {"name": "example", "type": "VARCHAR"}
_GIVES: Final = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": {"type": "object"}, "examples": [[_COLUMN]]},
        "rows": {"type": "array", "items": {"type": "array"}, "examples": [[["Example"]]]},
        "counts": {"type": "object", "examples": [{"rows": 1}]},
        "more": {"type": "boolean", "examples": [False]},
    },
    "required": ["columns", "rows", "counts", "more"],
}


async def run(context: ToolContext, arguments: QueryConnection) -> Outcome:
    connection = await connection_of(context, arguments.connection, "database")
    found = await opened(context, connection)
    asked = await off_loop(_asked, context, found, arguments.sql, arguments.limit)
    return Outcome(
        value={
            "columns": [
                {"name": name, "type": kind}
                for name, kind in zip(asked.columns, asked.types, strict=True)
            ],
            "rows": [list(row) for row in asked.rows],
            "counts": {"rows": len(asked.rows)},
            "more": asked.more,
        },
        summary=f"{len(asked.rows):,} rows{' and more' if asked.more else ''} from {connection.name}",
        sources=(source(connection),),
        # Rows are other people's words, whatever the database.
        trusted=False,
        cost=Cost(rows=len(asked.rows)),
    )


def _asked(context: ToolContext, found: Opened, sql: str, limit: int) -> Any:
    bringing = bench(context).bringing
    target = target_of(context, found)
    try:
        # An admin made the connection, and may let the project reach a private address.
        return bringing.query_source(target, found.connection.name, sql, limit, private=True)
    except StewardError as problem:
        raise said_plainly(problem, found) from None


add_tool(
    name="query_connection",
    title="Ask a connected database",
    description=(
        "Runs one SELECT in a database that the project is connected to and returns up to a thousand rows. "
        "Nothing is changed there: the session is read-only, and functions come from a list."
    ),
    arguments=QueryConnection,
    risk=Risk.read,
    run=run,
    effects=Effects(reads=True, network=True),
    gives=_GIVES,
    timeout=timedelta(minutes=2),
    estimate=lambda _context, arguments: Cost(rows=arguments.limit),
    destination=lambda arguments: f"connection:{arguments.connection}",
)
