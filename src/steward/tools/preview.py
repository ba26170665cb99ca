"""Some rows of a dataset, filtered and sorted."""

from typing import Annotated, Literal

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
from steward.tools._calls import bench, off_loop, plain, source
from steward.tools._commits import workspace
from steward.versions import Dataset
from steward.workbench import Filter, RowPage, Sort


class RowFilter(Arguments):
    column: str = Field(max_length=500)
    operator: Literal[
        "eq", "ne", "lt", "le", "gt", "ge", "contains", "starts", "empty", "filled"
    ] = Field(description="How the column compares with the value.")
    value: str = Field("", max_length=10_000, description="As text; read as the column's type.")


class RowSort(Arguments):
    column: str = Field(max_length=500)
    descending: bool = False


class PreviewRows(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    at: Annotated[str | None, SELECTOR] = Field(
        None, max_length=200, description="A branch, tag or commit; unset: the run's branch."
    )
    offset: Annotated[int, PLAIN] = Field(0, ge=0, description="Rows to skip.")
    limit: Annotated[int, PLAIN] = Field(20, ge=1, le=1000, description="Rows to return at most.")
    filters: Annotated[list[RowFilter], SELECTOR] = Field(
        [], max_length=20, description="All of them must hold."
    )
    sort: Annotated[list[RowSort], SELECTOR] = Field(
        [], max_length=5, description="The first counts most."
    )


async def run(context: ToolContext, arguments: PreviewRows) -> Outcome:
    def look() -> tuple[Dataset, RowPage]:
        found = workspace(context).dataset(arguments.dataset, arguments.at or context.branch)
        page = bench(context).datasets.rows(
            context.scope,
            found.version,
            offset=arguments.offset,
            limit=arguments.limit,
            filters=[Filter(each.column, each.operator, each.value) for each in arguments.filters],
            sort=[Sort(each.column, each.descending) for each in arguments.sort],
        )
        return found, page

    found, page = await off_loop(look)
    return Outcome(
        value={
            "dataset": found.name,
            "version": found.version,
            "columns": plain(page.columns),
            "rows": page.rows,
            "offset": page.offset,
            "total": page.total,
        },
        summary=f"{len(page.rows)} of {page.total:,} rows of {found.name}",
        sources=(source(found.name, found.version),),
        trusted=False,
        cost=Cost(rows=len(page.rows)),
    )


add_tool(
    name="preview",
    title="Look at rows",
    description="A page of rows of a dataset as text, with filters and order.",
    arguments=PreviewRows,
    risk=Risk.read,
    run=run,
    answers="rows",
    usual=True,
    effects=Effects(reads=True),
    attempts=3,
    estimate=lambda _context, arguments: Cost(rows=arguments.limit),
)
