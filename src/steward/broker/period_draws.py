"""What calls take from the budgets of periods: set aside before, counted after, in the transaction of the call.

A call draws on every budget that it belongs to: its project, the flow of its root run, the agent that makes it and the
person who started the run. Rows are locked in the order of their ids, after those of the runs, so that no two calls
wait for each other.

What is held for a list of items is set aside here, too; its calls take theirs out of it. In the budget of an agent only
the share is held that this agent used in past runs, and only its own calls take from that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.broker._budget_tables import (
    PERIOD_UNITS,
    budget_entries,
    period_budgets,
    period_uses,
)
from steward.broker.holdings import HELD
from steward.broker.limits import PeriodBudgetExceeded, shown
from steward.broker.periods import end_of, start_of
from steward.core import Bug
from steward.runs import TESTS, Status, flow_name, runs_table
from steward.store import Prepared, Transaction

_BUDGETS: Final = period_budgets.c
_USES: Final = period_uses.c
_RUNS: Final = runs_table.c
_LISTED: Final = Prepared(sa.select(period_budgets).order_by(_BUDGETS.id))
_THIS: Final = sa.and_(
    _USES.budget_id == sa.bindparam("of_budget"), _USES.start == sa.bindparam("since")
)
_LOCKED: Final = Prepared(sa.select(period_uses).where(_THIS).with_for_update())
_NEW_USE: Final = {
    name: Prepared(insert(period_uses).on_conflict_do_nothing())
    for name, insert in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_MOVE: Final = Prepared(
    sa.update(period_uses)
    .where(_THIS)
    .values(
        **{
            f"{part}_{unit}": _USES[f"{part}_{unit}"]
            + sa.bindparam(f"{part}_of_{unit}", type_=sa.BigInteger())
            for part in ("reserved", "spent")
            for unit in PERIOD_UNITS
        }
    )
)
_NO_SHARES: Final[Mapping[str, Mapping[str, int]]] = {}
_ROOT: Final = Prepared(
    sa.select(_RUNS.subject, _RUNS.program).where(_RUNS.id == sa.bindparam("root"))
)


@dataclass(frozen=True)
class Payer:
    """On whose account a call is made."""

    root_id: str
    person: str
    agent: str = ""
    flow: str | None = None
    """None for a run below another: it is the flow of the root."""


Place = Mapping[str, Any]
"""A budget in which something is set aside, with the start of the period; for the share of an agent in what is held also
its `agent`, the `share` and what was `taken` from that."""
Shares = Mapping[str, Mapping[str, int]]
"""What agents will use of what is held, or use of it now, by their names."""


@dataclass(frozen=True)
class Ahead:
    """What was held for a call before: in which budgets, and how much of it the call takes from each."""

    freed: Sequence[tuple[Place, Mapping[str, int]]] = ()

    @property
    def places(self) -> list[Place]:
        return [place for place, _ in self.freed]

    def less(self, asked: Mapping[str, int], budget_id: str, start: datetime) -> Mapping[str, int]:
        """What a budget must have left for the call."""
        sought = _place(budget_id, start)
        for place, freed in self.freed:
            if sought.items() <= place.items():
                return {unit: asked[unit] - freed[unit] for unit in PERIOD_UNITS}
        return asked


NOTHING_AHEAD: Final = Ahead()


def draw(
    tx: Transaction,
    run_id: str,
    payer: Payer,
    asked: Mapping[str, int],
    now: datetime,
    ahead: Ahead = NOTHING_AHEAD,
    shares: Shares = _NO_SHARES,
) -> list[Place]:
    """Sets an estimate aside in all budgets of the payer, or raises PeriodBudgetExceeded and takes nothing.

    `shares`: of what is held for many calls, what agents will use is set aside in their budgets.
    """
    if not _costs(asked):
        return []
    own = [(row, asked) for row in _matching(tx, payer)]
    others = [(row, shares[row.name]) for row in _of_agents(tx, shares, payer.agent)]
    found = [(row, start_of(row.period, now), amounts) for row, amounts in (*own, *others)]
    _lock(tx, [*ahead.places, *(_place(row.id, start) for row, start, _ in found)])

    def breaches() -> Iterator[PeriodBudgetExceeded]:
        for row, start, amounts in found:
            wanted = ahead.less(amounts, row.id, start)
            breach = _breach(run_id, row, _use(tx, row.id, start), wanted, now)
            if breach is not None:
                yield breach

    if any(breaches()):
        reclaim(tx)
        for breach in breaches():
            raise breach
    for row, start, amounts in found:
        _move(tx, row.id, start, {f"reserved_of_{unit}": amounts[unit] for unit in PERIOD_UNITS})
    return [
        *(_place(row.id, start) for row, start, _ in found[: len(own)]),
        *(
            {
                **_place(row.id, start),
                "agent": row.name,
                "share": {unit: amounts[unit] for unit in PERIOD_UNITS},
                "taken": dict.fromkeys(PERIOD_UNITS, 0),
            }
            for row, start, amounts in found[len(own) :]
        ),
    ]


def freed_at(
    places: Sequence[Place], freed: Mapping[str, int], more: Shares
) -> list[tuple[Place, Mapping[str, int]]]:
    """How much less is held in each budget once so much more is drawn; of an agent's share only by that agent."""
    return [
        (place, freed if "agent" not in place else _freed_share(place, more.get(place["agent"])))
        for place in places
    ]


def left_at(
    places: Sequence[Place], left: Mapping[str, int]
) -> list[tuple[Place, Mapping[str, int]]]:
    """What of what is held was not taken, in each budget."""
    return [(place, left if "agent" not in place else _left_share(place)) for place in places]


def drawn_further(places: Sequence[Place], more: Shares) -> list[Place]:
    """The places, with what agents have now taken from their shares."""

    def further(place: Place) -> Place:
        amounts = more.get(place.get("agent", ""))
        if "agent" not in place or amounts is None:
            return place
        taken = {unit: place["taken"][unit] + amounts[unit] for unit in PERIOD_UNITS}
        return {**place, "taken": taken}

    return [further(place) for place in places]


def untaken(places: Sequence[Place]) -> Shares:
    """How much less than their shares agents took, as negative amounts."""
    return {
        place["agent"]: {unit: place["taken"][unit] - place["share"][unit] for unit in PERIOD_UNITS}
        for place in places
        if "agent" in place
    }


def free(tx: Transaction, amounts: Sequence[tuple[Place, Mapping[str, int]]]) -> None:
    """Sets less aside where something is held; with negative amounts, more again."""
    moved = [(place, each) for place, each in amounts if _costs(each)]
    _lock(tx, [place for place, _ in moved])
    for place, each in moved:
        less = {f"reserved_of_{unit}": -each[unit] for unit in PERIOD_UNITS}
        _move(tx, place["budget"], datetime.fromisoformat(place["start"]), less)


def count(
    tx: Transaction,
    payer: Payer | None,
    drawn: Sequence[Place],
    estimate: Mapping[str, int],
    spent: Mapping[str, int],
    now: datetime,
) -> None:
    """Counts what a call did cost and frees what was set aside for it.

    A budget that was made after the call began counts what the call cost, too.
    """
    places = {each["budget"]: datetime.fromisoformat(each["start"]) for each in drawn}
    for budget_id, start in sorted(places.items()):
        freed = {f"reserved_of_{unit}": -estimate[unit] for unit in PERIOD_UNITS}
        _move(tx, budget_id, start, {**freed, **_spent(spent)})
    if payer is not None and _costs(spent):
        for row in _matching(tx, payer):
            if row.id not in places:
                start = start_of(row.period, now)
                _use(tx, row.id, start)
                _move(tx, row.id, start, _spent(spent))


def reclaim(tx: Transaction) -> None:
    """Frees what runs that are over had set aside for calls that never came back, such as after a crash."""
    over = [status.value for status in Status if status.is_final]
    rows = tx.rows(
        sa.select(budget_entries).where(
            budget_entries.c.run_id == _RUNS.id,
            budget_entries.c.drawn.is_not(None),
            budget_entries.c.state != "settled",
            _RUNS.status.in_(over),
        )
    )
    for row in rows:
        # Calls took theirs out of what was held for them.
        taken = row.actual if row.state == "held" else dict.fromkeys(PERIOD_UNITS, 0)
        left = {unit: max(0, row.estimate[unit] - taken[unit]) for unit in PERIOD_UNITS}
        free(tx, left_at(row.drawn, left))
        tx.execute(
            sa.update(budget_entries)
            .where(budget_entries.c.run_id == row.run_id, budget_entries.c.key == row.key)
            .values(drawn=None)
        )


def count_past(tx: Transaction, budget: sa.Row[Any], now: datetime) -> None:
    """What was spent in the present period before a budget was made."""
    root, start = runs_table.alias("root"), start_of(budget.period, now)
    rows = tx.rows(
        sa.select(
            budget_entries.c.actual,
            budget_entries.c.agent,
            _RUNS.created_by,
            root.c.subject,
            root.c.program,
        ).where(
            budget_entries.c.run_id == _RUNS.id,
            root.c.id == _RUNS.root_id,
            budget_entries.c.created_at >= start,
            budget_entries.c.state == "settled",
            # What was held for a list is counted with the calls that took it.
            budget_entries.c.key.not_like(f"%{HELD}"),
        )
    )
    spent = dict.fromkeys(PERIOD_UNITS, 0)
    for row in rows:
        payer = Payer("", row.created_by, row.agent, flow_name(row.subject, row.program))
        if _is_of(budget, payer, payer.flow or ""):
            for unit in PERIOD_UNITS:
                spent[unit] += row.actual[unit]
    _use(tx, budget.id, start)
    _move(tx, budget.id, start, _spent(spent))


def _costs(amounts: Mapping[str, int]) -> bool:
    return any(amounts[unit] for unit in PERIOD_UNITS)


def _spent(spent: Mapping[str, int]) -> dict[str, int]:
    return {f"spent_of_{unit}": spent[unit] for unit in PERIOD_UNITS}


def _matching(tx: Transaction, payer: Payer) -> list[sa.Row[Any]]:
    listed = tx.rows(_LISTED)
    if not listed:
        return []
    flow = payer.flow
    if flow is None:
        row = tx.first(_ROOT, {"root": payer.root_id})
        flow = flow_name(row.subject, row.program) if row is not None else ""
    return [row for row in listed if _is_of(row, payer, flow)]


def _of_agents(tx: Transaction, shares: Shares, payer: str) -> list[sa.Row[Any]]:
    """Budgets of agents who will use a share; the payer's own is drawn as a whole."""
    if not any(_costs(each) for each in shares.values()):
        return []
    return [
        row
        for row in tx.rows(_LISTED)
        if row.kind == "agent" and row.name in shares and row.name != payer
    ]


def _left_share(place: Place) -> Mapping[str, int]:
    return {unit: max(0, place["share"][unit] - place["taken"][unit]) for unit in PERIOD_UNITS}


def _freed_share(place: Place, more: Mapping[str, int] | None) -> Mapping[str, int]:
    if more is None:
        return dict.fromkeys(PERIOD_UNITS, 0)
    before = _left_share(place)
    taken = {unit: place["taken"][unit] + more[unit] for unit in PERIOD_UNITS}
    after = _left_share({**place, "taken": taken})
    return {unit: before[unit] - after[unit] for unit in PERIOD_UNITS}


def _is_of(budget: sa.Row[Any], payer: Payer, flow: str) -> bool:
    match budget.kind:
        case "flow":
            # A test may spend no more than the flow that it tests.
            return bool(budget.name == flow.removesuffix(f":{TESTS}"))
        case "agent":
            return bool(budget.name == payer.agent)
        case "person":
            return bool(budget.name == payer.person)
        case _:
            return True


def _place(budget_id: str, start: datetime) -> dict[str, str]:
    return {"budget": budget_id, "start": start.isoformat()}


def _lock(tx: Transaction, places: Iterable[Place]) -> None:
    for budget_id, start in sorted({(each["budget"], each["start"]) for each in places}):
        _use(tx, budget_id, datetime.fromisoformat(start))


def _use(tx: Transaction, budget_id: str, start: datetime) -> sa.Row[Any]:
    """What was used since the start of a period, locked."""
    place = {"of_budget": budget_id, "since": start}
    row = tx.first(_LOCKED, place)
    if row is None:
        unused = dict.fromkeys(
            (f"{part}_{unit}" for part in ("reserved", "spent") for unit in PERIOD_UNITS), 0
        )
        tx.execute(_NEW_USE[tx.dialect], {"budget_id": budget_id, "start": start, **unused})
        row = tx.first(_LOCKED, place)
    if row is None:
        raise Bug(f"The use of budget {budget_id} was not kept.")
    return row


def _move(tx: Transaction, budget_id: str, start: datetime, amounts: Mapping[str, int]) -> None:
    nothing = dict.fromkeys(
        (f"{part}_of_{unit}" for part in ("reserved", "spent") for unit in PERIOD_UNITS), 0
    )
    tx.execute(_MOVE, {"of_budget": budget_id, "since": start, **nothing, **amounts})


def _breach(
    run_id: str, budget: sa.Row[Any], use: sa.Row[Any], asked: Mapping[str, int], now: datetime
) -> PeriodBudgetExceeded | None:
    for unit in PERIOD_UNITS:
        limit: int | None = getattr(budget, f"limit_{unit}")
        if limit is None or not asked[unit]:
            continue
        left = limit - getattr(use, f"reserved_{unit}") - getattr(use, f"spent_{unit}")
        if asked[unit] > left:
            return PeriodBudgetExceeded(
                run_id,
                unit,
                asked=shown(unit, asked[unit]),
                left=shown(unit, max(0, left)),
                total=shown(unit, limit),
                budget_id=budget.id,
                kind=budget.kind,
                name=budget.name,
                period=budget.period,
                resets_at=end_of(budget.period, now),
            )
    return None
