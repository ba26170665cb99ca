"""The name under which flows run SQL: the same call as execute_sql."""

from steward.broker import Effects, Risk, add_tool
from steward.tools._sandboxed import acts_as
from steward.tools.execute_sql import Query, cost, run

add_tool(
    name="query",
    title="Query by SQL",
    description="Runs one read-only SQL query over datasets and returns rows. Writes nothing.",
    arguments=Query,
    risk=Risk.compute,
    run=run,
    answers="query",
    effects=Effects(reads=True),
    attempts=2,
    estimate=cost,
    acts_as=acts_as,
)
