"""A check written as SQL: it passes when it finds nothing, and whatever it finds stops the flow in plain words."""

from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import CODE, PLAIN, SELECTOR, Effects, Outcome, Risk, ToolContext, add_tool
from steward.core import Invalid
from steward.tools._sandboxed import (
    Job,
    Parameters,
    Sandboxed,
    acts_as,
    cost_of,
    estimated,
    execute,
)

_MOST: Final = 100
_SAID: Final = 5
_LONGEST: Final = 200


class CheckSql(Sandboxed):
    sql: Annotated[str, SELECTOR] = Field(
        min_length=1,
        max_length=100_000,
        description="One SELECT in DuckDB's SQL that returns a row for everything that is wrong; its first column "
        "says what.",
        json_schema_extra={CODE: "sql"},
    )
    parameters: Annotated[Parameters, SELECTOR] = Field(
        default_factory=dict,
        description="Values for `$name` in the SQL: text, numbers, true, false or null.",
    )
    message: Annotated[str, PLAIN] = Field(
        "The check did not pass",
        min_length=1,
        max_length=200,
        description="How the failure begins; what was found follows.",
    )


async def run(context: ToolContext, arguments: CheckSql) -> Outcome:
    job = Job("sql", arguments.sql, arguments, _MOST, arguments.parameters)
    executed = await execute(context, job)
    rows = executed.response.rows
    if rows:
        raise Invalid(_failure(arguments.message, rows), code="check-failed")
    return Outcome(
        value={"passed": True},
        summary="The check passed",
        sources=executed.sources,
        cost=cost_of(executed),
    )


def _failure(message: str, rows: list[list[Any]]) -> str:
    said = [str(row[0])[:_LONGEST] for row in rows[:_SAID]]
    more = len(rows) - len(said)
    count = f"{more}" if len(rows) < _MOST else f"at least {more}"
    return f"{message}: {'; '.join(said)}{f'; and {count} more' if more else ''}."


add_tool(
    name="check_sql",
    title="Check by SQL",
    description="Runs one read-only SQL query that must find nothing: every row it returns is a problem and fails "
    "the call.",
    arguments=CheckSql,
    risk=Risk.compute,
    run=run,
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: estimated(context, arguments, _MOST),
    acts_as=acts_as,
)
