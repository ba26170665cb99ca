"""A query as data, compiled to the same SQL every time and run like any other query."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from steward.broker.roles import PLAIN, SELECTOR
from steward.broker.tool import TOOLS, Cost, Effects, Outcome, Risk, Tool, ToolContext
from steward.tools._calls import off_loop
from steward.tools._sandboxed import Job, Sandboxed, chosen, estimated, execute, tabular

if TYPE_CHECKING:
    from steward.sandbox.query_plan import QueryPlan


class ExecuteQueryPlan(Sandboxed):
    plan: Annotated[dict[str, Any] | str, SELECTOR] = Field(
        description=(
            "The plan as an object, or as JSON or YAML text: source, and any of joins, derive, filters, group, "
            "aggregate, compute, having, window, pivot, select, order, limit."
        )
    )
    limit: Annotated[int, PLAIN] = Field(
        200, ge=1, le=100_000, description="Rows to return at most."
    )


async def run(context: ToolContext, arguments: ExecuteQueryPlan) -> Outcome:
    plan, sql = await off_loop(_compiled, context, arguments)
    job = Job("sql", sql, arguments, arguments.limit, noun="plan")
    executed = await execute(context, job)
    return tabular(executed, compiled_sql=sql, plan=plan.text())


def _compiled(context: ToolContext, arguments: ExecuteQueryPlan) -> "tuple[QueryPlan, str]":
    from steward.sandbox.compile_plan import compile_plan
    from steward.sandbox.query_plan import QueryPlan

    given = arguments.plan
    plan = QueryPlan.parse(given if isinstance(given, str) else json.dumps(given))
    found = chosen(context, arguments.datasets)
    schema = {each.name: [column.name for column in each.columns] for each in found}
    return plan, compile_plan(plan, schema)


def _cost(context: ToolContext, arguments: ExecuteQueryPlan) -> Cost:
    return estimated(context, arguments, arguments.limit)


TOOLS.add(
    "execute_query_plan",
    Tool(
        name="execute_query_plan",
        title="Run a query plan",
        description="Compiles a query plan to SQL, runs it and returns rows with the SQL. Writes nothing.",
        arguments=ExecuteQueryPlan,
        risk=Risk.compute,
        run=run,
        effects=Effects(reads=True),
        attempts=2,
        estimate=_cost,
    ),
)
