"""Budgets of a project and of its flows, agents and people, for a day, week or month."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Body, Request, Response, status
from pydantic import Field

from steward.api.context import context_of
from steward.api.documents import IfMatch, Output, revision_from, set_etag
from steward.api.guards import AsAdmin, AsViewer
from steward.api.routing import Router
from steward.api.types import BudgetId
from steward.app import BudgetDesk, SeenBudget, Steward
from steward.broker import BudgetLimits, PeriodBudget
from steward.core import copied
from steward.identity import Access

router = Router(prefix="/projects/{project_id}", tags=["budgets"])


class BudgetUseOut(Output):
    limit: float | None
    spent: float
    reserved: float = Field(description="Set aside for calls that are under way.")
    left: float | None


class ExpectedUseOut(Output):
    usd: float = Field(description="From the last whole weeks.")
    low: float | None = Field(
        description="With `high`: the range that four of five past forecasts were in; null with fewer than ten of them."
    )
    high: float | None


class BudgetOut(Output):
    id: str
    revision: int
    kind: Literal["project", "flow", "agent", "person"]
    name: str = Field(description="The flow, agent or person; empty for the project.")
    title: str
    period: Literal["day", "week", "month"]
    usd: BudgetUseOut
    tokens: BudgetUseOut
    expected: ExpectedUseOut | None = Field(
        description="Dollars when it resets; null without a week of history."
    )
    starts_at: datetime
    resets_at: datetime
    updated_at: datetime


class BudgetsOut(Output):
    items: list[BudgetOut]


_EXAMPLE: dict[str, Any] = {"kind": "project", "period": "month", "usd": "50"}
BudgetIn = Annotated[PeriodBudget, Body(examples=[_EXAMPLE])]
LimitsIn = Annotated[BudgetLimits, Body(examples=[{"usd": "80"}])]


@router.get("/budgets")
async def list_budgets(request: Request, access: AsViewer) -> BudgetsOut:
    """Budgets with what is used of them. Budgets of people are for them and for admins."""
    context = context_of(request)

    def read() -> BudgetsOut:
        return BudgetsOut(items=[_out(each) for each in _desk(context.steward, access).listed()])

    return await context.in_turn(access, read)


@router.post("/budgets", status_code=status.HTTP_201_CREATED)
async def create_budget(
    request: Request, response: Response, access: AsAdmin, body: BudgetIn
) -> BudgetOut:
    """Adds a budget. What was spent in the present period already counts."""
    return await _answer(request, response, access, lambda desk: desk.add(body))


@router.get("/budgets/{budget_id}")
async def get_budget(
    request: Request, response: Response, access: AsViewer, budget_id: BudgetId
) -> BudgetOut:
    return await _answer(request, response, access, lambda desk: desk.get(budget_id))


@router.put("/budgets/{budget_id}")
async def change_budget(
    request: Request,
    response: Response,
    access: AsAdmin,
    budget_id: BudgetId,
    body: LimitsIn,
    if_match: IfMatch = None,
) -> BudgetOut:
    """Sets other limits. A limit below what is spent stops spending at once."""
    expected = revision_from(if_match)
    return await _answer(
        request, response, access, lambda desk: desk.change(budget_id, body, expected)
    )


@router.delete("/budgets/{budget_id}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_budget(
    request: Request, access: AsAdmin, budget_id: BudgetId, if_match: IfMatch = None
) -> None:
    """Deletes a budget. Nothing is stopped by it any more."""
    expected = revision_from(if_match)
    context = context_of(request)
    await context.in_turn(
        access, lambda: _desk(context.steward, access).delete(budget_id, expected)
    )


def _desk(steward: Steward, access: Access) -> BudgetDesk:
    return BudgetDesk(
        steward.governing.period_budgets,
        steward.observations.budgets,
        steward.identity,
        steward.playbooks,
        steward.clock,
        access,
    )


async def _answer(
    request: Request, response: Response, access: Access, act: Callable[[BudgetDesk], SeenBudget]
) -> BudgetOut:
    context = context_of(request)
    found = await context.in_turn(access, lambda: _out(act(_desk(context.steward, access))))
    set_etag(response, found.revision)
    return found


def _out(seen: SeenBudget) -> BudgetOut:
    kept = seen.kept

    def use(unit: str) -> BudgetUseOut:
        limit, left = getattr(kept.document, unit), kept.left(unit)
        return BudgetUseOut(
            limit=None if limit is None else float(limit),
            spent=float(kept.spent[unit]),
            reserved=float(kept.reserved[unit]),
            left=None if left is None else float(left),
        )

    return copied(
        BudgetOut,
        kept,
        kind=kept.document.kind,
        name=kept.document.name,
        title=seen.title,
        period=kept.document.period,
        usd=use("usd"),
        tokens=use("tokens"),
        expected=None
        if seen.expected is None
        else ExpectedUseOut(usd=seen.expected.usd, low=seen.expected.low, high=seen.expected.high),
    )
