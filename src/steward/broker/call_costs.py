"""What calls cost: set aside before, counted after, asked for when it does not suffice."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial

from steward.broker.budgets import Budgets
from steward.broker.grants import Grant
from steward.broker.holdings import Holding, around
from steward.broker.limits import Budget, BudgetExceeded, Foresight, covers, draws_on_periods
from steward.broker.period_draws import Payer
from steward.broker.plans import Plan, cost_from_json
from steward.broker.policy_text import PolicyVerdict
from steward.broker.tool import Cost
from steward.runs import EntryType, Execution, Json, Run, Status, StepFailed, flow_name
from steward.store import Transaction

_LONGEST_REASON = 400
_LONGEST_NAME = 200
_BEGUN = "budget begun"
_OPENED = "budget opened"


class CallCosts:
    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets

    async def begin(self, execution: Execution) -> None:
        """Gives the run its budget; a second time changes nothing."""
        run, budget = execution.run, _budget(execution)
        execution.marks.add(_BEGUN)
        parent_id = run.parent_id
        if parent_id is None:
            # Nobody waits for it: what draws on it first opens it as well.
            execution.take_along(lambda tx: self._budgets.open(tx, run, budget))
            return

        def open_budget(tx: Transaction) -> list[str]:
            self._budgets.open(tx, run, budget)
            return self._budgets.held_by(tx, parent_id)

        found = around(await execution.share(open_budget), run.parent_key or "")
        execution.marks.add(_OPENED)
        if found is not None:
            execution.holdings[""] = (parent_id, found)

    async def hold(self, execution: Execution, key: str, ahead: Foresight) -> Json:
        """Sets aside what calls below a key will take; a breach, if it is not there."""

        begins = _OPENED not in execution.marks

        def take(tx: Transaction) -> Json:
            if begins:
                self._budgets.open(tx, execution.run, _budget(execution))
            try:
                self._budgets.hold(
                    tx,
                    execution.run,
                    key,
                    ahead.cost,
                    _within(execution, key),
                    payer=_payer(execution, key),
                    agents=ahead.agents,
                )
            except BudgetExceeded as breach:
                return breach.to_json()
            return None

        return await self._drawn(execution, take)

    async def reserve(
        self, execution: Execution, key: str, estimate: Cost, *, waits: bool = False
    ) -> Json:
        """`waits` for a call that a person decides about first: meanwhile it uses no time."""
        run, begins = execution.run, _OPENED not in execution.marks
        budget = _budget(execution)

        is_free = not draws_on_periods(estimate)
        is_direct = Grant.from_json(execution.request.grant).direct
        is_first = _BEGUN not in execution.marks
        if is_first and is_free and is_direct and covers(budget, estimate):
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
                    tx,
                    run,
                    key,
                    estimate,
                    waits=waits,
                    payer=_payer(execution, key),
                    within=_within(execution, key),
                )
            except BudgetExceeded as breach:
                # Found out before anything was taken, so that nothing has to be undone for it.
                return breach.to_json()
            return None

        return await self._drawn(execution, take)

    async def _drawn(self, execution: Execution, take: Callable[[Transaction], Json]) -> Json:
        found = await execution.share(take)
        execution.marks.add(_OPENED)
        return found

    async def afford(
        self, execution: Execution, key: str, plan: Plan, ahead: Foresight | None = None
    ) -> None:
        """Asks for a larger budget until the call fits or somebody ends it; `ahead`: what is held for many calls."""
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
            over = await self._reserve_more(execution, key, wait_key, plan, over, answer, ahead)
            attempt += 1

    async def _reserve_more(
        self,
        execution: Execution,
        key: str,
        wait_key: str,
        plan: Plan,
        over: Json,
        answer: Json,
        ahead: Foresight | None,
    ) -> Json:
        granted = Budget.parse(answer.get("limits", {}))

        async def again() -> Json:
            if "budget_id" not in over:
                raise_limit = partial(
                    self._budgets.raise_limit, execution.run, granted, at=over["run_id"]
                )
                await asyncio.to_thread(raise_limit)
            if ahead is not None:
                lacking = await self.hold(execution, key, ahead)
                return {"over": lacking and ahead.breach_of(lacking, plan.tool)}
            estimate = cost_from_json(plan.estimate)
            waits = plan.decision.get("outcome") == PolicyVerdict.ask.value
            return {"over": await self.reserve(execution, key, estimate, waits=waits)}

        asked = {"estimate": plan.estimate, "limits": answer.get("limits", {})}
        found = await execution.step(
            f"{wait_key}/reserve", asked, again, type=EntryType.budget_reserved, of=key
        )
        return found["over"]

    def settle(self, execution: Execution, key: str, cost: Cost) -> None:
        """Counts what a call took, in the transaction that records it."""
        payer, within = _payer(execution, key), _within(execution, key)
        execution.take_along(
            lambda tx: self._budgets.settle(tx, execution.run, key, cost, payer, within)
        )

    def forget_held(self, execution: Execution) -> None:
        """Frees what a cancelled run held for calls that never came."""
        if not execution.replaying:
            execution.take_along(lambda tx: self._budgets.give_back_all(tx, execution.run))

    def forget_lost(self, tx: Transaction, run: Run) -> None:
        """Frees what a run that was set aside holds, and what its calls that never came back had reserved."""
        held = [] if run.parent_id is None else self._budgets.held_by(tx, run.parent_id)
        found = around(held, run.parent_key or "")
        outer = None if found is None or run.parent_id is None else (run.parent_id, found)
        self._budgets.give_back_all(tx, run, outer)

    async def release(self, execution: Execution, key: str) -> None:
        """Gives back what was reserved for a call that did not happen."""

        async def settle() -> Json:
            self.settle(execution, key, Cost())
            return None

        await execution.step(f"{key}/release", {}, settle, type=EntryType.budget_released, of=key)


def _budget(execution: Execution) -> Budget:
    given = execution.request.budget
    return Budget.parse({name: value for name, value in given.items() if name != "on_breach"})


def _within(execution: Execution, key: str) -> Holding | None:
    """What is held for the calls of a list around this one, the innermost; else what a caller of the run holds."""
    found = around([name for name in execution.holdings if name and name != key], key)
    return execution.holdings.get(found or "")


def _payer(execution: Execution, key: str) -> Payer:
    run = execution.run
    flow = flow_name(run.subject, run.program) if run.parent_id is None else None
    return Payer(run.root_id, run.created_by, execution.agent_at(key)[:_LONGEST_NAME], flow)
