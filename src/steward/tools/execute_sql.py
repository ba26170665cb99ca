"""Read-only SQL over the branch's datasets, run in the sandbox and never in the server."""

from typing import Annotated

from pydantic import Field

from steward.broker import (
    CODE,
    PLAIN,
    SELECTOR,
    Cost,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.tools._sandboxed import (
    Job,
    Parameters,
    Sandboxed,
    acts_as,
    estimated,
    execute,
    tabular,
)


class Query(Sandboxed):
    sql: Annotated[str, SELECTOR] = Field(
        min_length=1,
        max_length=100_000,
        description='One SELECT in DuckDB\'s SQL; datasets are tables by their name, "quoted" where needed.',
        json_schema_extra={CODE: "sql"},
    )
    parameters: Annotated[Parameters, SELECTOR] = Field(
        default_factory=dict,
        description="Values for `$name` in the SQL: text, numbers, true, false or null.",
    )
    limit: Annotated[int, PLAIN] = Field(
        200, ge=1, le=100_000, description="Rows to return at most."
    )


async def run(context: ToolContext, arguments: Query) -> Outcome:
    job = Job("sql", arguments.sql, arguments, arguments.limit, arguments.parameters)
    return tabular(await execute(context, job))


def cost(context: ToolContext, arguments: Query) -> Cost:
    return estimated(context, arguments, arguments.limit)


add_tool(
    name="execute_sql",
    title="Run SQL",
    description="Runs one read-only SQL query over datasets and returns rows. Writes nothing.",
    arguments=Query,
    risk=Risk.compute,
    run=run,
    answers="query",
    usual=True,
    effects=Effects(reads=True),
    attempts=2,
    estimate=cost,
    acts_as=acts_as,
)
