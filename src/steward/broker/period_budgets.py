"""Budgets of projects, flows, agents and people for a day, week or month, as admins keep them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

import sqlalchemy as sa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from steward.broker._budget_tables import PERIOD_UNITS, period_budgets, period_uses
from steward.broker.limits import Budget, limits_of, shown
from steward.broker.period_draws import count_past, reclaim
from steward.broker.periods import Period, end_of, start_of
from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Problem, Stale
from steward.identity import Access, Members, Role
from steward.runs import Runs
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction

BudgetKind = Literal["project", "flow", "agent", "person"]
_BUDGETS: Final = period_budgets.c
_USES: Final = period_uses.c
_MOST: Final = 200
_MOST_STOPPED: Final = 1_000


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not contain control characters")
    return text


class BudgetLimits(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    usd: Decimal | None = Field(None, ge=0, le=10**9, description="Dollars at most.")
    tokens: int | None = Field(None, ge=0, le=10**15, description="Model tokens at most.")

    @model_validator(mode="after")
    def _limits_something(self) -> "BudgetLimits":
        if self.usd is None and self.tokens is None:
            raise ValueError("a budget limits dollars, tokens or both")
        return self


class PeriodBudget(BudgetLimits):
    """What may be used up in every day, week or month; they begin at midnight UTC."""

    kind: BudgetKind
    name: Annotated[str, Field(max_length=200), AfterValidator(_plain)] = Field(
        "",
        description="Which flow (`playbook:` and its id, or a program), agent (its name) or person (their id).",
    )
    period: Period

    @model_validator(mode="after")
    def _names_what(self) -> "PeriodBudget":
        if (self.kind == "project") != (self.name == ""):
            raise ValueError("name the flow, agent or person; a budget of the project has no name")
        return self


@dataclass(frozen=True)
class KeptBudget:
    """A budget, and what was used of it in the present period."""

    id: str
    revision: int
    document: PeriodBudget
    author: str
    updated_at: datetime
    starts_at: datetime
    resets_at: datetime
    spent: dict[str, Decimal]
    reserved: dict[str, Decimal]

    def left(self, unit: str) -> Decimal | None:
        limit = getattr(self.document, unit)
        if limit is None:
            return None
        return max(Decimal(0), Decimal(limit) - self.spent[unit] - self.reserved[unit])


@dataclass(eq=False, repr=False)
class PeriodBudgets:
    _database: Database
    _events: EventLog
    _clock: Clock
    _ids: Ids
    _members: Members
    _runs: Runs

    def listed(self, scope: Scope) -> list[KeptBudget]:
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(period_budgets).order_by(_BUDGETS.kind, _BUDGETS.id))
            return self._kept(tx, rows)

    def get(self, scope: Scope, budget_id: str) -> KeptBudget:
        with self._database.read(scope) as tx:
            return self._kept(tx, [_existing(tx, budget_id)])[0]

    def add(self, access: Access, document: PeriodBudget) -> KeptBudget:
        """Counts what was spent in the present period before. Calls under way count when they are over."""
        access.require(Role.admin)
        now = self._clock.now()
        budget_id = self._ids.new("bud")
        with self._database.write(access.scope) as tx:
            self._refuse_wrong(tx, document)
            tx.execute(
                sa.insert(period_budgets).values(
                    id=budget_id,
                    revision=1,
                    kind=document.kind,
                    name=document.name,
                    period=document.period,
                    **_limits(document),
                    author=access.user_id,
                    created_at=now,
                    updated_at=now,
                )
            )
            row = _existing(tx, budget_id)
            count_past(tx, row, now)
            told = {"revision": 1, "by": access.user_id}
            self._events.append(tx, "budget.saved", budget_id, told)
            return self._kept(tx, [row])[0]

    def change(
        self, access: Access, budget_id: str, limits: BudgetLimits, expected: int
    ) -> KeptBudget:
        """Other limits for the same; what was used so far stays counted. Runs that now fit continue."""
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            before = _existing(tx, budget_id, lock=True)
            _refuse_stale(before, expected)
            tx.execute(
                sa.update(period_budgets)
                .where(_BUDGETS.id == budget_id)
                .values(
                    revision=before.revision + 1,
                    author=access.user_id,
                    updated_at=self._clock.now(),
                    **_limits(limits),
                )
            )
            told = {"revision": before.revision + 1, "by": access.user_id}
            self._events.append(tx, "budget.saved", budget_id, told)
            changed = self._kept(tx, [_existing(tx, budget_id)])[0]
        self._continue_stopped(access.scope, {"by": access.user_id})
        return changed

    def delete(self, access: Access, budget_id: str, expected: int) -> None:
        """Runs that it stopped continue."""
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            _refuse_stale(_existing(tx, budget_id, lock=True), expected)
            tx.execute(sa.delete(period_uses).where(_USES.budget_id == budget_id))
            tx.execute(sa.delete(period_budgets).where(_BUDGETS.id == budget_id))
            self._events.append(tx, "budget.deleted", budget_id, {"by": access.user_id})
        self._continue_stopped(access.scope, {"by": access.user_id})

    def tidy(self) -> None:
        """Frees what ended runs had set aside and never used, and continues runs that fit now."""
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(_BUDGETS.org_id, _BUDGETS.project_id).distinct())
        for row in rows:
            scope = Scope(row.org_id, row.project_id)
            with self._database.write(scope) as tx:
                reclaim(tx)
            self._continue_stopped(scope, {})

    def _continue_stopped(self, scope: Scope, by: dict[str, str]) -> None:
        """Continues runs that a budget stopped and that is gone or has enough left, the oldest first.

        Not in the transaction that changes the budget: calls lock runs first, and budgets after them.
        """
        left = {
            (kept.id, unit): kept.left(unit) for kept in self.listed(scope) for unit in PERIOD_UNITS
        }
        for run in reversed(self._runs.records.waiting(scope, limit=_MOST_STOPPED)):
            for wait in run.waits or ():
                over = (wait.get("request") or {}).get("breach") if wait["kind"] == "budget" else {}
                if not over or "budget_id" not in over:
                    continue
                place, asked = (over["budget_id"], over["limit"]), Decimal(over["asked"])
                room = left.get(place)
                if room is not None:
                    if asked > room:
                        continue
                    # What one run will take is not promised to the next one.
                    left[place] = room - asked
                # Someone else may have answered, or ended the run.
                with suppress(Conflict):
                    again = {"decision": "raise", "limits": {}, **by}
                    self._runs.records.signal(scope, run.id, wait["key"], again)

    def _refuse_wrong(self, tx: Transaction, document: PeriodBudget) -> None:
        present = tx.rows(sa.select(_BUDGETS.kind, _BUDGETS.name, _BUDGETS.period))
        if len(present) >= _MOST:
            raise Conflict(f"A project has at most {_MOST} budgets. Delete one that is not needed.")
        wanted = (document.kind, document.name, document.period)
        if wanted in [(row.kind, row.name, row.period) for row in present]:
            raise Conflict("There is such a budget already. Change its limits instead.")
        if document.kind == "person" and self._members.role_within(tx, document.name) is None:
            said = "this person is not in the project; invite them first"
            raise Invalid(f"The budget names somebody: {said}.", problems=[Problem("/name", said)])

    def _kept(self, tx: Transaction, rows: Sequence[sa.Row[Any]]) -> list[KeptBudget]:
        now = self._clock.now()
        used = {
            (row.budget_id, row.start): row
            for row in tx.rows(
                sa.select(period_uses).where(
                    _USES.budget_id.in_([row.id for row in rows]),
                    _USES.start >= min(start_of(each, now) for each in ("week", "month")),
                )
            )
        }
        return [_kept(row, used.get((row.id, start_of(row.period, now))), now) for row in rows]


def _kept(row: sa.Row[Any], use: sa.Row[Any] | None, now: datetime) -> KeptBudget:
    def amounts(part: str) -> dict[str, Decimal]:
        return {
            unit: shown(unit, getattr(use, f"{part}_{unit}") if use is not None else 0)
            for unit in PERIOD_UNITS
        }

    document = PeriodBudget(
        kind=row.kind,
        name=row.name,
        period=row.period,
        usd=None if row.limit_usd is None else shown("usd", row.limit_usd),
        tokens=row.limit_tokens,
    )
    return KeptBudget(
        row.id,
        row.revision,
        document,
        row.author,
        row.updated_at,
        start_of(row.period, now),
        end_of(row.period, now),
        amounts("spent"),
        amounts("reserved"),
    )


def _limits(limits: BudgetLimits) -> dict[str, int | None]:
    known = limits_of(Budget(usd=limits.usd, tokens=limits.tokens))
    return {f"limit_{unit}": known[unit] for unit in PERIOD_UNITS}


def _existing(tx: Transaction, budget_id: str, *, lock: bool = False) -> sa.Row[Any]:
    statement = sa.select(period_budgets).where(_BUDGETS.id == budget_id)
    row = tx.first(statement.with_for_update() if lock else statement)
    if row is None:
        raise NotFound("There is no such budget in this project.")
    return row


def _refuse_stale(row: sa.Row[Any], expected: int) -> None:
    if row.revision != expected:
        raise Stale(
            f"The budget is at revision {row.revision} and was read at {expected}. Read it again."
        )
