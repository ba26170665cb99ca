"""Some rows of a dataset, filtered and sorted."""

from typing import Annotated, Final, Literal

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
from steward.core import Bug
from steward.tables import literal, quote
from steward.tools._calls import bench, off_loop, plain, source
from steward.tools._commits import workspace
from steward.tools._pushed import push, stays_acts_as
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
    at = arguments.at or context.branch
    chosen = await off_loop(workspace(context).dataset, arguments.dataset, at)
    if chosen.stays:
        return await _pushed(context, arguments, chosen)

    def look() -> tuple[Dataset, RowPage]:
        found = chosen
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


_COMPARED: Final = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


async def _pushed(context: ToolContext, arguments: PreviewRows, found: Dataset) -> Outcome:
    """The page as its database gives it; only there is it known how many rows there are now."""
    wanted = " AND ".join(_condition(each) for each in arguments.filters)
    order = ", ".join(
        f"{quote(each.column)}{' DESC' if each.descending else ''}" for each in arguments.sort
    )
    sql = (
        f"SELECT * FROM {quote(found.name)}"
        + (f" WHERE {wanted}" if wanted else "")
        + (f" ORDER BY {order}" if order else "")
        + f" LIMIT {arguments.limit:d} OFFSET {arguments.offset:d}"
    )
    pushed = await push(context, sql, [found], arguments.limit)
    if pushed is None:
        raise Bug("A dataset that stays elsewhere was not asked there.")
    rows, stays = pushed.asked.rows, pushed.read["connection"]
    return Outcome(
        value={
            "dataset": found.name,
            "version": found.version,
            "columns": plain(found.columns),
            "rows": [[None if cell is None else str(cell) for cell in row] for row in rows],
            "offset": arguments.offset,
            "total": found.rows,
            "read": dict(pushed.read),
        },
        summary=f"{len(rows)} rows of {found.name}, which stays at {stays}",
        sources=(pushed.source, source(found.name, found.version)),
        trusted=False,
        cost=Cost(rows=len(rows)),
    )


def _condition(asked: RowFilter) -> str:
    column = quote(asked.column)
    if asked.operator in ("empty", "filled"):
        return f"{column} IS {'NOT ' if asked.operator == 'filled' else ''}NULL"
    if asked.operator in _COMPARED:
        return f"{column} {_COMPARED[asked.operator]} {literal(asked.value)}"
    found = f"strpos(lower(CAST({column} AS VARCHAR)), lower({literal(asked.value)}))"
    return f"{found} {'= 1' if asked.operator == 'starts' else '> 0'}"


def _acts_as(context: ToolContext, arguments: PreviewRows) -> tuple[str, ...]:
    at = arguments.at or context.branch
    return stays_acts_as(context, arguments.dataset, at)


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
    acts_as=_acts_as,
)
