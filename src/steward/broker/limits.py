"""What a run may use and has used: in the words of people, and in the whole units that are stored."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steward.broker.periods import PERIOD_WORDS
from steward.broker.tool import Cost
from steward.core import Denied, Invalid, in_words, mistakes

_PER_DOLLAR: Final = 10**9
_MOST: Final = 10**18
"""The largest amount of one call or limit, in stored units; sums stay below 64 bits."""


class Budget(BaseModel):
    """Limits of a run; None is no limit of its own, those of the runs above it hold all the same."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    usd: Decimal | None = Field(None, ge=0, le=10**9, description="Dollars at most.")
    tokens: int | None = Field(None, ge=0, le=_MOST, description="Model tokens at most.")
    seconds: float | None = Field(
        None,
        ge=0,
        le=10**9,
        description="Time in calls at most; waiting for people does not count.",
    )
    rows: int | None = Field(None, ge=0, le=_MOST, description="Rows at most.")
    bytes: int | None = Field(None, ge=0, le=_MOST, description="Bytes at most.")
    on_breach: Literal["ask", "abort"] = Field(
        "ask", description="Whether the run asks a person for more or ends."
    )

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Budget":
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            found = mistakes(error, "/budget")
            raise Invalid(f"The budget is not valid: {in_words(found)}.", problems=found) from None


class BudgetExceeded(Denied):
    """A call would take more than is left; a person may grant more to `run_id`."""

    code = "budget-exceeded"
    title = "The budget does not cover this"

    def __init__(
        self,
        run_id: str,
        limit: str,
        *,
        asked: Decimal,
        left: Decimal,
        total: Decimal,
    ) -> None:
        super().__init__(self._said(run_id, limit, asked, left, total))
        self.run_id = run_id
        self.limit = limit
        self.asked = asked
        self.left = left
        self.total = total

    def _said(self, run_id: str, limit: str, asked: Decimal, left: Decimal, total: Decimal) -> str:
        whose = f"The budget of run {run_id} allows {_words(limit, total)}"
        return (
            f"{whose}; {_words(limit, left)} are left and this call may need {_words(limit, asked)}. "
            "Grant more, or make the call smaller."
        )

    def to_json(self) -> dict[str, Any]:
        amounts = {"asked": self.asked, "left": self.left, "total": self.total}
        shown = {name: f"{amount:f}" for name, amount in amounts.items()}
        return {"run_id": self.run_id, "limit": self.limit, "message": self.message, **shown}


_OWNERS: Final = {
    "project": "this project",
    "flow": "this flow",
    "person": "the person who started this run",
}


class PeriodBudgetExceeded(BudgetExceeded):
    """A call would take more than a budget of a day, week or month has left."""

    def __init__(
        self,
        run_id: str,
        limit: str,
        *,
        asked: Decimal,
        left: Decimal,
        total: Decimal,
        budget_id: str,
        kind: str,
        name: str,
        period: str,
        resets_at: datetime,
    ) -> None:
        self.budget_id = budget_id
        self.period = period
        self.owner = _OWNERS.get(kind) or f"the agent {name}"
        self.resets_at = resets_at
        super().__init__(run_id, limit, asked=asked, left=left, total=total)

    def _said(
        self,
        run_id: str,  # noqa: ARG002
        limit: str,
        asked: Decimal,
        left: Decimal,
        total: Decimal,
    ) -> str:
        return (
            f"The {PERIOD_WORDS[self.period]} budget of {self.owner} is {_words(limit, total)}: "
            f"{_words(limit, left)} are left and this call may need {_words(limit, asked)}. "
            f"It resets on {self.resets_at:%Y-%m-%d at %H:%M} UTC. "
            "An admin can raise it on the page Overview, tab Budgets."
        )

    def to_json(self) -> dict[str, Any]:
        whose = f"the {PERIOD_WORDS[self.period]} budget of {self.owner}"
        about = {"budget_id": self.budget_id, "resets_at": self.resets_at.isoformat()}
        return {**super().to_json(), **about, "whose": whose}


@dataclass(frozen=True)
class Foresight:
    """What a list of items, or branches side by side, will cost: by past runs, or by an estimate."""

    cost: Cost
    parts: int
    """How many there are now."""
    runs: int
    """Past runs that it is the average of; 0 for an estimate: no item ran before."""
    agents: Mapping[str, Cost] = field(default_factory=dict)
    """What each agent will use of it."""

    def breach_of(self, over: dict[str, Any], what: str) -> dict[str, Any]:
        """A breach in words about all of them."""
        limit = over["limit"]
        asked, left, total = (Decimal(over[name]) for name in ("asked", "left", "total"))
        past = "the last run" if self.runs == 1 else f"the last {self.runs} runs"
        known = (
            f"by what they cost in {past}"
            if self.runs
            else "by an estimate from the prices of the models: none of them ran before"
        )
        whose, advice = "", "Raise the limit, or run it with fewer items."
        if "whose" in over:
            resets_at = datetime.fromisoformat(over["resets_at"])
            whose = f" in {over['whose']}"
            advice = (
                f"It resets on {resets_at:%Y-%m-%d at %H:%M} UTC. An admin can raise it on the page Overview, tab "
                "Budgets."
            )
        message = (
            f"{what} may need {_words(limit, asked)} for {self.parts:,} items, {known}. "
            f"{_words(limit, left)} of {_words(limit, total)} are left{whose}. No item has started. {advice}"
        )
        return {**over, "message": message, "parts": self.parts}


@dataclass(frozen=True)
class Reservation:
    run_id: str
    key: str
    estimate: Cost
    settled: bool = False
    """True when this call was counted already: a repetition after a crash."""


@dataclass(frozen=True)
class Usage:
    """One limit of a run, in the words of `Budget`: dollars, tokens, seconds, rows, bytes."""

    limit: Decimal | None
    spent: Decimal
    reserved: Decimal
    left: Decimal | None
    """What this run can still take: the least of what it and the runs above it have left."""


@dataclass(frozen=True)
class BudgetStatus:
    run_id: str
    usage: Mapping[str, Usage]

    def to_json(self) -> dict[str, Any]:
        return {
            name: {
                each.name: None if (value := getattr(usage, each.name)) is None else str(value)
                for each in fields(usage)
            }
            for name, usage in self.usage.items()
        }


def limits_of(budget: Budget) -> dict[str, int | None]:
    return {
        "usd": None if budget.usd is None else int(budget.usd * _PER_DOLLAR),
        "tokens": budget.tokens,
        "rows": budget.rows,
        "bytes": budget.bytes,
        "time": None if budget.seconds is None else int(budget.seconds * 1000),
    }


def amounts_of(cost: Cost) -> dict[str, int]:
    """In stored units, rounded up."""
    try:
        usd = int((cost.usd * _PER_DOLLAR).to_integral_value(ROUND_CEILING))
        time = math.ceil(round(cost.seconds * 1000, 3))
    except (ArithmeticError, ValueError):
        raise Invalid("A cost is not a finite number.") from None
    amounts = {"usd": usd, "tokens": cost.tokens, "rows": cost.rows, "bytes": cost.bytes}
    return {unit: _within_bounds(amount) for unit, amount in (amounts | {"time": time}).items()}


def draws_on_periods(cost: Cost) -> bool:
    """Whether a call takes something that budgets of days, weeks and months count."""
    return cost.usd > 0 or cost.tokens > 0


def covers(budget: Budget, cost: Cost) -> bool:
    """Whether an untouched budget suffices for one call."""
    limits, asked = limits_of(budget), amounts_of(cost)
    return all(limit is None or asked[unit] <= limit for unit, limit in limits.items())


def cost_of(amounts: Mapping[str, int]) -> Cost:
    """The cost that was stored so."""
    return Cost(
        usd=Decimal(amounts["usd"]) / _PER_DOLLAR,
        tokens=amounts["tokens"],
        rows=amounts["rows"],
        bytes=amounts["bytes"],
        seconds=amounts["time"] / 1000,
    )


def _within_bounds(amount: int) -> int:
    if not 0 <= amount <= _MOST:
        raise Invalid("An amount of a budget is negative or beyond all bounds.")
    return amount


def milliseconds(duration: timedelta) -> int:
    """Rounded up; a clock set back counts as no time."""
    return max(0, -(-duration // timedelta(milliseconds=1)))


def name_of(unit: str) -> str:
    return "seconds" if unit == "time" else unit


def shown(unit: str, amount: int) -> Decimal:
    scale = {"usd": _PER_DOLLAR, "time": 1000}.get(unit, 1)
    return Decimal(amount) / scale


def _words(limit: str, amount: Decimal) -> str:
    if limit != "usd":
        return f"{amount:f} {limit}"
    whole, _, cents = f"{amount:f}".partition(".")
    return f"${whole}.{cents.rstrip('0'):0<2}"
