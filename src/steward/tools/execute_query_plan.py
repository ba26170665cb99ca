"""A query as data, compiled to the same SQL every time and run like any other query."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from steward.broker import PLAIN, SELECTOR, Cost, Effects, Outcome, Risk, ToolContext, add_tool
from steward.core import StewardError
from steward.tools._calls import off_loop
from steward.tools._sandboxed import (
    Executed,
    Job,
    Sandboxed,
    acts_as,
    chosen,
    estimated,
    execute,
    tabular,
)

if TYPE_CHECKING:
    from steward.sandbox import QueryPlan

MOST_TIES: Final = 20
"""Rows beyond the edge of a ranking that are looked at."""


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
    plan, sql, wider = await off_loop(_compiled, context, arguments)
    job = Job("sql", wider or sql, arguments, arguments.limit, noun="plan")
    executed = await execute(context, job)
    ties = 0
    if wider is not None and plan.limit is not None:
        executed, ties = _without_ties(executed, plan, plan.limit)
    told: dict[str, Any] = {"ties": ties, "more_ties": ties == MOST_TIES} if ties else {}
    if plan.limit is not None and len(executed.response.rows) == plan.limit:
        told |= await _in_all(context, arguments, plan)
    return tabular(executed, compiled_sql=sql, plan=plan.text(), **told)


async def _in_all(
    context: ToolContext, arguments: ExecuteQueryPlan, plan: "QueryPlan"
) -> dict[str, Any]:
    """How many rows there are where a plan shows the first of them; groups are not counted."""
    if plan.aggregate or plan.pivot or plan.offset:
        return {}
    sql = await off_loop(_counting, context, arguments, plan)
    try:
        found = (await execute(context, Job("sql", sql, arguments, 1, noun="plan"))).response
    except StewardError:
        # Counting may take longer than the first rows did; these are an answer without it.
        return {}
    return {"in_all": found.rows[0][0]} if found.rows else {}


def _counting(context: ToolContext, arguments: ExecuteQueryPlan, plan: "QueryPlan") -> str:
    from steward.sandbox import QueryPlan, compile_plan

    kept = plan.model_dump(by_alias=True, include={"source", "joins", "derive", "filters"})
    counted = QueryPlan.model_validate(
        {**kept, "aggregate": [{"name": "rows", "function": "count"}]}
    )
    schema = {
        each.name: [column.name for column in each.columns]
        for each in chosen(context, arguments.datasets)
    }
    return compile_plan(counted, schema)


def _without_ties(executed: Executed, plan: "QueryPlan", limit: int) -> tuple[Executed, int]:
    """The rows that were asked for, and how many more are equal to the last of them in what they are ordered by."""
    found = executed.response
    if len(found.rows) <= limit:
        return executed, 0
    # What was cut off, if anything, lies beyond what was asked for.
    asked = found.model_copy(update={"rows": found.rows[:limit], "status": "done", "message": ""})
    names = [each.name.casefold() for each in found.columns]
    wanted = [each.column.casefold() for each in plan.order]
    if not set(wanted) <= set(names):
        return replace(executed, response=asked), 0
    places = [names.index(each) for each in wanted]
    edge = [found.rows[limit - 1][at] for at in places]
    ties = sum([row[at] for at in places] == edge for row in found.rows[limit:])
    return replace(executed, response=asked), ties


def _wider(plan: "QueryPlan", most: int) -> "QueryPlan | None":
    """The plan with some rows more than a ranking asks for; None where it is no ranking."""
    if not plan.order or plan.limit is None or plan.offset or plan.limit + MOST_TIES > most:
        return None
    return plan.model_copy(update={"limit": plan.limit + MOST_TIES})


def _compiled(
    context: ToolContext, arguments: ExecuteQueryPlan
) -> "tuple[QueryPlan, str, str | None]":
    """The plan, its SQL, and the SQL that looks beyond the edge of a ranking."""
    from steward.sandbox import QueryPlan, compile_plan

    given = arguments.plan
    plan = QueryPlan.parse(given if isinstance(given, str) else json.dumps(given))
    found = chosen(context, arguments.datasets)
    schema = {each.name: [column.name for column in each.columns] for each in found}
    wider = _wider(plan, arguments.limit)
    sql = compile_plan(plan, schema)
    return plan, sql, None if wider is None else compile_plan(wider, schema)


def _cost(context: ToolContext, arguments: ExecuteQueryPlan) -> Cost:
    return estimated(context, arguments, arguments.limit)


add_tool(
    name="execute_query_plan",
    title="Run a query plan",
    description="Compiles a query plan to SQL, runs it and returns rows with the SQL. Writes nothing.",
    arguments=ExecuteQueryPlan,
    risk=Risk.compute,
    run=run,
    answers="query",
    usual=True,
    effects=Effects(reads=True),
    attempts=2,
    estimate=_cost,
    acts_as=acts_as,
)
