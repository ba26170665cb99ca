"""Read-only SQL over the branch's datasets, run in the sandbox and never in the server."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from steward.broker.tool import TOOLS, Arguments, Cost, Effects, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Invalid, Problem, StewardError, TooLarge, Unavailable
from steward.data.tables import Table
from steward.data.versions import Dataset
from steward.tools._calls import bench, off_loop, plain, service, source
from steward.tools._commits import inputs, workspace

if TYPE_CHECKING:
    from steward.sandbox.contract import Request, Response

_PART = re.compile(r"[0-9a-f]{64}")
_MOST_DATASETS = 200


class Query(Arguments):
    sql: str = Field(
        min_length=1,
        max_length=100_000,
        description='One SELECT in DuckDB\'s SQL; datasets are tables by their name, "quoted" where needed.',
    )
    datasets: list[str] | None = Field(
        None,
        min_length=1,
        max_length=50,
        description="Datasets it reads; unset: all of the branch.",
    )
    limit: int = Field(200, ge=1, le=10_000, description="Rows to return at most.")


async def run(context: ToolContext, arguments: Query) -> Outcome:
    sandbox = service(context, "sandbox", "SQL of agents and people")
    found, request = await off_loop(_request, context, arguments)
    response: Response = await sandbox.execute(request)
    _refuse_failed(response)
    by_name = {each.name: each for each in found}
    used = [by_name[name] for name in dict.fromkeys(response.tables) if name in by_name]
    rows = response.rows
    return Outcome(
        value={
            "columns": plain(response.columns),
            "rows": rows,
            "truncated": response.message if response.status == "too_large" else None,
            "sql": response.sql,
        },
        summary=f"{len(rows):,} rows from {len(used)} datasets",
        # What the answer says it read is a claim; where it names nothing, it may come from anywhere.
        sources=tuple(source(each.name, each.version) for each in used or found),
        trusted=False,
        cost=Cost(rows=len(rows), bytes=sum(each.bytes for each in used)),
    )


def _request(context: ToolContext, arguments: Query) -> "tuple[list[Dataset], Request]":
    from steward.sandbox.contract import Column, Limits, Request
    from steward.sandbox.contract import Dataset as Readable

    place = workspace(context)
    found = (
        list(place.datasets(context.branch))
        if arguments.datasets is None
        else inputs(context, arguments.datasets)
    )
    if len(found) > _MOST_DATASETS:
        raise Invalid(f"The branch has {len(found)} datasets; name those that the query reads.")
    versions = bench(context).versions
    readable: list[Readable] = []
    for each in found:
        table = versions.table(context.scope, each.version, each.name, ordered=False)
        readable.append(
            Readable(
                name=each.name,
                source=table.source,
                files=parts_of(table),
                columns=[Column(name=column.name, type=column.type) for column in each.columns],
            )
        )
    limits = Limits(rows=arguments.limit)
    request = Request(kind="sql", code=arguments.sql, datasets=readable, limits=limits)
    return found, request


def parts_of(table: Table) -> list[str]:
    """The files that a table's FROM item reads: its only texts that are paths named by a digest."""
    import sqlglot

    tokens = sqlglot.tokenize(table.source, read="duckdb")
    texts = (token.text for token in tokens if token.token_type.name == "STRING")
    paths = (Path(text) for text in texts if text.startswith("/"))
    return sorted({str(path) for path in paths if _PART.fullmatch(path.name)})


def _refuse_failed(response: "Response") -> None:
    # Too much still has its first rows, and says so.
    if response.status == "done" or (response.status == "too_large" and response.rows):
        return
    problems = [
        Problem(
            "/sql",
            each.message + (f" (line {each.line}, column {each.column})" if each.line else ""),
        )
        for each in response.refusals
    ]
    said = response.message or "; ".join(problem.message for problem in problems)
    raise _failure(response.status, said, problems)


def _failure(status: str, said: str, problems: list[Problem]) -> StewardError:
    match status:
        case "refused":
            return Invalid(f"The query was refused: {said}", code="sql-refused", problems=problems)
        case "timeout" | "out_of_memory" | "too_large":
            reason = status.replace("_", " ")
            return TooLarge(
                f"The query needs too much ({reason}): {said} Read less, or aggregate.",
                code=f"sql-{status.replace('_', '-')}",
            )
        case "failed":
            return Invalid(f"The query failed: {said}", code="sql-failed", problems=problems)
        case _:
            return Unavailable(f"The query was ended ({status}): {said}", code="sql-ended")


def _cost(context: ToolContext, arguments: Query) -> Cost:
    known: dict[str, Any] = {e.name: e for e in workspace(context).datasets(context.branch)}
    names = arguments.datasets or list(known)
    return Cost(
        rows=arguments.limit, bytes=sum(known[name].bytes for name in names if name in known)
    )


TOOLS.add(
    "query",
    Tool(
        name="query",
        title="Query by SQL",
        description="Runs one read-only SQL query over datasets and returns rows. Writes nothing.",
        arguments=Query,
        risk=Risk.compute,
        run=run,
        effects=Effects(reads=True),
        attempts=2,
        estimate=_cost,
    ),
)
