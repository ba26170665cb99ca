"""What calls cost: set aside before, counted after, asked for when it does not suffice."""

import asyncio
from datetime import datetime
from functools import partial

from steward.broker.budgets import Budgets
from steward.broker.grants import Grant
from steward.broker.limits import Budget, BudgetExceeded, covers, draws_on_periods
from steward.broker.period_draws import Payer
from steward.broker.plans import Plan, cost_from_json
from steward.broker.policy_text import Verdict
from steward.broker.tool import Cost
from steward.runs import EntryType, Execution, Json, Status, StepFailed, flow_name
from steward.store import Transaction

_LONGEST_REASON = 200
_LONGEST_NAME = 200
_OPENED = "budget opened"


class Spending:
    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets

    async def begin(self, execution: Execution) -> None:
        """Gives the run its budget; a second time changes nothing."""
        budget = _budget(execution)
        execution.marks.add(_OPENED)
        await execution.share(lambda tx: self._budgets.open(tx, execution.run, budget))

    async def reserve(
        self, execution: Execution, key: str, estimate: Cost, *, waits: bool = False
    ) -> Json:
        """`waits` for a call that a person decides about first: meanwhile it uses no time."""
        run, begins = execution.run, _OPENED not in execution.marks
        budget = _budget(execution)

        is_free = not draws_on_periods(estimate)
        is_direct = Grant.from_json(execution.request.grant).direct
        if begins and is_free and is_direct and covers(budget, estimate):
            # The one call of its run: nothing else draws on this budget, so it fits, and is not waited for.
            execution.take_along(
                lambda tx: self._budgets.open_with(tx, run, budget, key, estimate, waits=waits)
            )
            return None

        def take(tx: Transaction) -> Json:
            if begins:
                self._budgets.open(tx, run, budget)
            try:
                self._budgets.reserve(
                    tx, run, key, estimate, waits=waits, payer=_payer(execution, key)
                )
            except BudgetExceeded as breach:
                # Found out before anything was taken, so that nothing has to be undone for it.
                return breach.to_json()
            return None

        return await execution.share(take)

    async def afford(self, execution: Execution, key: str, plan: Plan) -> None:
        """Asks for a larger budget until the call fits or somebody ends it."""
        over, attempt = plan.over_budget, 0
        while over is not None:
            if execution.request.budget.get("on_breach", "ask") == "abort":
                raise StepFailed(key, "budget-exceeded", over["message"])
            wait_key = f"{key}/budget/{attempt}"
            resets_at = over.get("resets_at")
            answer = await execution.wait(
                wait_key,
                {"kind": "budget", "breach": over, "tool": plan.tool},
                status=Status.blocked,
                reason=over["message"][:_LONGEST_REASON],
                # In the next period there is a new budget: the run goes on by itself.
                expires_at=datetime.fromisoformat(resets_at) if resets_at else None,
                of=key,
            )
            goes_on = answer.get("decision") == "raise" or answer.get("expired")
            if not goes_on:
                raise StepFailed(key, "budget-exceeded", over["message"])
            over = await self._reserve_more(execution, key, wait_key, plan, over, answer)
            attempt += 1

    async def _reserve_more(
        self, execution: Execution, key: str, wait_key: str, plan: Plan, over: Json, answer: Json
    ) -> Json:
        granted = Budget.parse(answer.get("limits", {}))

        async def again() -> Json:
            if "budget_id" not in over:
                raise_limit = partial(
                    self._budgets.raise_limit, execution.run, granted, at=over["run_id"]
                )
                await asyncio.to_thread(raise_limit)
            estimate = cost_from_json(plan.estimate)
            waits = plan.decision.get("outcome") == Verdict.ask.value
            return {"over": await self.reserve(execution, key, estimate, waits=waits)}

        asked = {"estimate": plan.estimate, "limits": answer.get("limits", {})}
        found = await execution.step(
            f"{wait_key}/reserve", asked, again, type=EntryType.budget_reserved, of=key
        )
        return found["over"]

    def settle(self, execution: Execution, key: str, cost: Cost) -> None:
        """Counts what a call took, in the transaction that records it."""
        payer = _payer(execution, key)
        execution.take_along(lambda tx: self._budgets.settle(tx, execution.run, key, cost, payer))

    async def release(self, execution: Execution, key: str) -> None:
        """Gives back what was reserved for a call that did not happen."""

        async def settle() -> Json:
            self.settle(execution, key, Cost())
            return None

        await execution.step(f"{key}/release", {}, settle, type=EntryType.budget_released, of=key)


def _budget(execution: Execution) -> Budget:
    given = execution.request.budget
    return Budget.parse({name: value for name, value in given.items() if name != "on_breach"})


def _payer(execution: Execution, key: str) -> Payer:
    run = execution.run
    flow = flow_name(run.subject, run.program) if run.parent_id is None else None
    return Payer(run.root_id, run.created_by, execution.agent_at(key)[:_LONGEST_NAME], flow)
