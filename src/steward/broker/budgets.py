"""Budgets: what a run may use is set aside before each call and counted after it, up to the root run.

A call draws on its own run's budget and on those of all runs above it, in one transaction, root first:
fifty children in as many processes cannot take together what their parent does not have. An estimate is
the most a call may cost; what a call costs beyond its estimate is counted when it is settled and stops
the next call. Reserving and settling are counted once for a run and a key, however often they are repeated.

What a list of items is estimated to cost is held before the first of them. Their calls take what they need out of that
first, in every budget in which it is held, and give back what they did not use; so nothing is set aside twice.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Protocol

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.broker._budget_tables import UNITS, budget_entries, budgets
from steward.broker.holdings import Holding, around
from steward.broker.limits import (
    Budget,
    BudgetExceeded,
    BudgetStatus,
    Reservation,
    Usage,
    amounts_of,
    cost_of,
    limits_of,
    milliseconds,
    name_of,
    shown,
)
from steward.broker.period_draws import (
    Ahead,
    Payer,
    Shares,
    count,
    draw,
    drawn_further,
    free,
    freed_at,
    left_at,
    untaken,
)
from steward.broker.tool import Cost
from steward.core import Bug, Clock, Invalid, NotFound
from steward.store import Database, Prepared, Scope, Transaction

_COLUMNS: Final = budgets.c
_UNUSED: Final = dict.fromkeys((*UNITS, "time"), 0)
_NOTHING_USED: Final = {
    **dict.fromkeys((f"{part}_{unit}" for part in ("reserved", "spent") for unit in UNITS), 0),
    **dict.fromkeys(("spent_time", "open_calls", "busy_time"), 0),
    "busy_since": None,
}
_MOST_KEY: Final = 400


def _amount(part: str, unit: str) -> sa.BindParameter[int]:
    return sa.bindparam(f"{part}_of_{unit}", type_=sa.BigInteger())


def _more(part: str, units: Sequence[str]) -> dict[str, sa.ColumnElement[int]]:
    """Columns of one part, each larger by the parameter of its unit."""
    return {f"{part}_{unit}": _COLUMNS[f"{part}_{unit}"] + _amount(part, unit) for unit in units}


_THIS: Final = _COLUMNS.run_id == sa.bindparam("of_run")
_OWN: Final = Prepared(sa.select(budgets).where(_THIS))
_CHAIN: Final = (
    sa.select(budgets)
    .where(_COLUMNS.run_id.in_(sa.bindparam("runs", expanding=True)))
    .order_by(_COLUMNS.depth)
)
_READ_CHAIN: Final = Prepared(_CHAIN)
_LOCK_CHAIN: Final = Prepared(_CHAIN.with_for_update())
_ENTRY: Final = Prepared(
    sa.select(budget_entries).where(
        budget_entries.c.run_id == sa.bindparam("of_run"),
        budget_entries.c.key == sa.bindparam("of_key"),
    )
)
_NEW: Final = {
    name: Prepared(insert(budgets).on_conflict_do_nothing(index_elements=[_COLUMNS.run_id]))
    for name, insert in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_NEW_ENTRY: Final = Prepared(sa.insert(budget_entries))
_SETTLE_ENTRY: Final = Prepared(
    sa.update(budget_entries)
    .where(
        budget_entries.c.run_id == sa.bindparam("of_run"),
        budget_entries.c.key == sa.bindparam("of_key"),
    )
    .values(state="settled", actual=sa.bindparam("taken"))
)
_DRAW_ENTRY: Final = Prepared(
    sa.update(budget_entries)
    .where(
        budget_entries.c.run_id == sa.bindparam("of_run"),
        budget_entries.c.key == sa.bindparam("of_key"),
    )
    .values(actual=sa.bindparam("taken"), drawn=sa.bindparam("places"))
)
_UNSETTLED: Final = Prepared(
    sa.select(budget_entries.c.key, budget_entries.c.state).where(
        budget_entries.c.run_id == sa.bindparam("of_run"), budget_entries.c.state != "settled"
    )
)
_HELD_BY: Final = Prepared(
    sa.select(budget_entries).where(
        budget_entries.c.run_id == sa.bindparam("of_run"), budget_entries.c.state == "held"
    )
)
_TAKE: Final = Prepared(
    sa.update(budgets)
    .where(
        _THIS,
        *(
            sa.or_(
                _COLUMNS[f"limit_{unit}"].is_(None),
                _COLUMNS[f"reserved_{unit}"] + _COLUMNS[f"spent_{unit}"] + _amount("reserved", unit)
                <= _COLUMNS[f"limit_{unit}"],
            )
            for unit in UNITS
        ),
    )
    .values(
        **_more("reserved", UNITS),
        open_calls=_COLUMNS.open_calls + sa.bindparam("calls", type_=sa.Integer()),
        busy_since=sa.bindparam("since"),
    )
)
_GIVE_BACK: Final = Prepared(
    sa.update(budgets)
    .where(_THIS)
    .values(
        **_more("reserved", UNITS),
        **_more("spent", UNITS),
        open_calls=sa.bindparam("calls"),
        busy_time=sa.bindparam("busy"),
        busy_since=sa.bindparam("since"),
        spent_time=sa.bindparam("time"),
    )
)
_ADD: Final = Prepared(sa.update(budgets).where(_THIS).values(**_more("spent", (*UNITS, "time"))))


class Drawing(Protocol):
    """Who draws on a budget: a run."""

    @property
    def id(self) -> str: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def parent_id(self) -> str | None: ...


class Budgets:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def open(self, tx: Transaction, run: Drawing, budget: Budget) -> None:
        """Gives a run its budget when it starts, under that of its parent; a second time changes nothing."""
        _open(tx, run, budget)

    def open_with(
        self,
        tx: Transaction,
        run: Drawing,
        budget: Budget,
        key: str,
        estimate: Cost,
        *,
        waits: bool,
    ) -> None:
        """Gives a run without a parent its budget with the first call's estimate set aside, which it must cover."""
        asked, now = amounts_of(estimate), self._clock.now()
        begun = {} if waits else {"open_calls": 1, "busy_since": now}
        taken = {f"reserved_{unit}": asked[unit] for unit in UNITS}
        if run.parent_id is None and _open(tx, run, budget, **taken, **begun):
            _record(tx, run.id, key, now, state="waiting" if waits else "open", estimate=asked)
        else:
            _open(tx, run, budget)
            self.reserve(tx, run, key, estimate, waits=waits)

    def reserve(
        self,
        tx: Transaction,
        run: Drawing,
        key: str,
        estimate: Cost,
        *,
        waits: bool = False,
        payer: Payer | None = None,
        within: Holding | None = None,
    ) -> Reservation:
        """Sets the estimate aside in the run and all above it, or raises BudgetExceeded and takes nothing.

        It is set aside in the budgets of the payer too: those of a day, week or month.
        A call that `waits` for a person uses no time until it is made; what it then took is counted when it is settled.
        `within`: what is held there is taken first.
        """
        return self._reserve(
            tx, run, key, estimate, "waiting" if waits else "open", payer=payer, within=within
        )

    def hold(
        self,
        tx: Transaction,
        run: Drawing,
        key: str,
        estimate: Cost,
        within: Holding | None = None,
        payer: Payer | None = None,
        agents: Mapping[str, Cost] | None = None,
    ) -> Reservation:
        """As `reserve`, for calls that are still to come; `settle` gives back what they did not take.

        `agents` are those who will make the calls, each with what it will use of the estimate.
        """
        shares = {name: amounts_of(cost) for name, cost in (agents or {}).items()}
        return self._reserve(
            tx, run, key, estimate, "held", payer=payer, within=within, shares=shares
        )

    def held_by(self, tx: Transaction, run_id: str) -> list[str]:
        """The keys for which a run holds something."""
        return [row.key for row in tx.rows(_HELD_BY, {"of_run": run_id})]

    def give_back_all(self, tx: Transaction, run: Drawing, outer: Holding | None = None) -> None:
        """Once a run is over: what it set aside for calls that never came, or never came back, is free again.

        `outer` is what a caller holds for all of it: there it is held again.
        """
        rows = tx.rows(_UNSETTLED, {"of_run": run.id})
        held = [row.key for row in rows if row.state == "held"]
        calls = [row.key for row in rows if row.state != "held"]
        # The inner ones first: they were taken out of the outer ones.
        for key in [*calls, *sorted(held, key=len, reverse=True)]:
            found = around([each for each in held if each != key], key)
            self.settle(tx, run, key, Cost(), within=outer if found is None else (run.id, found))

    def _reserve(
        self,
        tx: Transaction,
        run: Drawing,
        key: str,
        estimate: Cost,
        state: str,
        *,
        payer: Payer | None = None,
        within: Holding | None = None,
        shares: Shares | None = None,
    ) -> Reservation:
        asked = amounts_of(estimate)
        agent = payer.agent if payer is not None else ""
        # A call is its agent's as a whole; what is held for many is shared out.
        used = {agent: asked} if shares is None else shares
        chain = _chain(tx, run, lock=True)
        known = _entry(tx, run.id, key)
        if known is not None:
            return _reservation(known)
        now = self._clock.now()
        held = _held(tx, within)
        freed = _freed(held, asked)
        wanted = {row.run_id: _less(asked, freed, row, held) for row in chain}
        for row in chain:
            _refuse_beyond(row, wanted[row.run_id], now)
        places = held.drawn or () if held is not None else ()
        ahead = Ahead(freed_at(places, freed, used))
        drawn = []
        if payer is not None:
            drawn = draw(tx, run.id, payer, asked, now, ahead, shares or {})
        is_idle = state != "open"
        for row in chain:
            since = row.busy_since if is_idle else row.busy_since or now
            _take(tx, row, wanted[row.run_id], since, waits=is_idle)
        _draw_from(tx, held, asked, used)
        _record(
            tx,
            run.id,
            key,
            now,
            state=state,
            actual=_UNUSED if state == "held" else None,
            estimate=asked,
            agent=agent,
            drawn=drawn or None,
        )
        return Reservation(run.id, key, estimate)

    def settle(
        self,
        tx: Transaction,
        run: Drawing,
        key: str,
        actual: Cost,
        payer: Payer | None = None,
        within: Holding | None = None,
    ) -> None:
        """Counts what the call did cost and frees the rest of what was set aside for it.

        `within`: what it did not use is held there again.
        """
        spent = amounts_of(actual)
        chain = _chain(tx, run, lock=True)
        known = _entry(tx, run.id, key)
        now = self._clock.now()
        held = _held(tx, within)
        if known is None:
            # Nothing was set aside, but what was used was used.
            if any(spent.values()):
                agent = payer.agent if payer is not None else ""
                _hold_again(tx, chain, held, spent, {agent: spent})
                for row in chain:
                    _add(tx, row, spent)
                values = {"state": "settled", "estimate": _UNUSED, "actual": spent, "agent": agent}
                _record(tx, run.id, key, now, **values)
                if payer is not None:
                    count(tx, payer, (), _UNUSED, spent, now)
            return
        if known.state == "settled":
            return
        if known.state == "held":
            # What the calls below it took is counted with them; outside, the whole of it counts.
            taken = known.actual
            left = {unit: max(0, known.estimate[unit] - taken[unit]) for unit in UNITS}
            for row in chain:
                _set_free(tx, row, left)
            places = known.drawn or ()
            free(tx, left_at(places, left))
            _hold_again(tx, chain, held, _difference(taken, known.estimate), untaken(places))
            tx.execute(_SETTLE_ENTRY, {"of_run": run.id, "of_key": key, "taken": taken})
            return
        more = _difference(spent, known.estimate)
        _hold_again(tx, chain, held, more, {known.agent: more})
        for row in chain:
            _give_back(tx, row, known, spent, now)
        tx.execute(_SETTLE_ENTRY, {"of_run": run.id, "of_key": key, "taken": spent})
        count(tx, payer, known.drawn or (), known.estimate, spent, now)

    def raise_limit(self, run: Drawing, limits: Budget, *, at: str | None = None) -> None:
        """Raises limits to what a person granted, never lowers one; repeating it changes nothing.

        `at` names the run above whose budget was the one in the way, as BudgetExceeded tells it.
        """
        granted = limits_of(limits)
        with self._database.write(run.scope) as tx:
            row = next((r for r in _chain(tx, run, lock=True) if r.run_id == (at or run.id)), None)
            if row is None:
                raise Invalid(f"Run {run.id!r} does not draw on the budget of {at!r}.")
            raised = {
                f"limit_{unit}": amount
                for unit, amount in granted.items()
                if amount is not None
                and (present := getattr(row, f"limit_{unit}")) is not None
                and amount > present
            }
            if raised:
                tx.execute(sa.update(budgets).where(_COLUMNS.run_id == row.run_id).values(**raised))

    def spent_usd(self, scope: Scope, run_ids: Sequence[str]) -> int:
        """What these runs and all below them have spent, in billionths of a dollar."""
        wanted = sa.select(sa.func.coalesce(sa.func.sum(_COLUMNS.spent_usd), 0).label("spent"))
        with self._database.read(scope) as tx:
            row = tx.first(wanted.where(_COLUMNS.run_id.in_(list(run_ids))))
        return 0 if row is None else int(row.spent)

    def costs(self, scope: Scope, run_ids: Collection[str]) -> dict[str, Decimal]:
        """What each of these runs, with all below it, has spent in dollars; those that have begun."""
        wanted = sa.select(_COLUMNS.run_id, _COLUMNS.spent_usd)
        with self._database.read(scope) as tx:
            rows = tx.rows(wanted.where(_COLUMNS.run_id.in_(sorted(run_ids))))
        return {row.run_id: shown("usd", row.spent_usd) for row in rows}

    def status(self, run: Drawing) -> BudgetStatus:
        """What is used and left, for pages; with `left["seconds"]` a call's time can be bounded."""
        with self._database.read(run.scope) as tx:
            chain = _chain(tx, run, lock=False)
        now = self._clock.now()
        own = chain[-1]
        usage = {}
        for unit in (*UNITS, "time"):
            spent, reserved = _used(own, unit, now)
            lefts = [left for row in chain if (left := _left(row, unit, now)) is not None]
            limit: int | None = getattr(own, f"limit_{unit}")
            usage[name_of(unit)] = Usage(
                limit=None if limit is None else shown(unit, limit),
                spent=shown(unit, spent),
                reserved=shown(unit, reserved),
                left=shown(unit, max(0, min(lefts))) if lefts else None,
            )
        return BudgetStatus(run.id, usage)


def _open(tx: Transaction, run: Drawing, budget: Budget, **begun: Any) -> bool:
    """Whether the run had no budget yet and now has this one."""
    above: list[str] = []
    if run.parent_id is not None:
        above = [*_existing(tx, run.parent_id).ancestors, run.parent_id]
    if run.id in above:
        raise Bug("A run cannot draw on itself.")
    row = {
        "run_id": run.id,
        "ancestors": above,
        "depth": len(above),
        **{f"limit_{unit}": amount for unit, amount in limits_of(budget).items()},
        **_NOTHING_USED,
        **begun,
    }
    return tx.execute(_NEW[tx.dialect], row).rowcount == 1


def _existing(tx: Transaction, run_id: str) -> sa.Row[Any]:
    row = tx.first(_OWN, {"of_run": run_id})
    if row is None:
        raise _without_budget(run_id)
    return row


def _without_budget(run_id: str) -> NotFound:
    return NotFound(f"Run {run_id!r} has no budget in this project; open one when it starts.")


def _chain(tx: Transaction, run: Drawing, *, lock: bool) -> Sequence[sa.Row[Any]]:
    """The budgets a call draws on, root first. Always locked in this order, so nobody waits in a ring."""
    above: list[str] = [] if run.parent_id is None else _existing(tx, run.id).ancestors
    found = tx.rows(_LOCK_CHAIN if lock else _READ_CHAIN, {"runs": [*above, run.id]})
    if not found or found[-1].run_id != run.id:
        raise _without_budget(run.id)
    return found


def _entry(tx: Transaction, run_id: str, key: str) -> sa.Row[Any] | None:
    return tx.first(_ENTRY, {"of_run": run_id, "of_key": key})


def _record(tx: Transaction, run_id: str, key: str, now: datetime, **values: Any) -> None:
    if len(key) > _MOST_KEY:
        raise Invalid("The key of a call is too long.")
    row = {"run_id": run_id, "key": key, "created_at": now, "actual": None}
    row |= {"agent": "", "drawn": None, **values}
    tx.execute(_NEW_ENTRY, row)


def _reservation(entry: sa.Row[Any]) -> Reservation:
    estimate = cost_of(entry.estimate)
    return Reservation(entry.run_id, entry.key, estimate, settled=entry.state == "settled")


def _refuse_beyond(row: sa.Row[Any], asked: Mapping[str, int], now: datetime) -> None:
    for unit, amount in asked.items():
        left = _left(row, unit, now)
        # Used up is used up: beyond its limit a run makes no further call, not even a free one.
        if left is not None and amount > left:
            raise BudgetExceeded(
                row.run_id,
                name_of(unit),
                asked=shown(unit, amount),
                left=shown(unit, max(0, left)),
                total=shown(unit, getattr(row, f"limit_{unit}")),
            )


def _take(
    tx: Transaction,
    row: sa.Row[Any],
    asked: Mapping[str, int],
    since: datetime | None,
    *,
    waits: bool,
) -> None:
    """Takes under the condition that it is still there: the lock says so, the database checks."""
    wanted = {f"reserved_of_{unit}": asked[unit] for unit in UNITS}
    calls = 0 if waits else 1
    taken = tx.execute(_TAKE, {"of_run": row.run_id, "since": since, "calls": calls, **wanted})
    if taken.rowcount != 1:
        raise Bug(f"The budget of run {row.run_id} changed although it was locked.")


def _held(tx: Transaction, within: Holding | None) -> sa.Row[Any] | None:
    """What is held for a call, if it still is."""
    entry = None if within is None else _entry(tx, *within)
    return entry if entry is not None and entry.state == "held" else None


def _freed(held: sa.Row[Any] | None, more: Mapping[str, int]) -> dict[str, int]:
    """How much less is held once so much more is drawn from it; negative where something comes back."""
    if held is None:
        return dict.fromkeys(UNITS, 0)
    before = {unit: max(0, held.estimate[unit] - held.actual[unit]) for unit in UNITS}
    after = {unit: max(0, held.estimate[unit] - held.actual[unit] - more[unit]) for unit in UNITS}
    return _difference(before, after)


def _less(
    asked: Mapping[str, int], freed: Mapping[str, int], row: sa.Row[Any], held: sa.Row[Any] | None
) -> Mapping[str, int]:
    """What a budget must have for a call: less by what it holds for it already."""
    if held is None or not _holds(row, held):
        return asked
    return {**asked, **{unit: asked[unit] - freed[unit] for unit in UNITS}}


def _holds(row: sa.Row[Any], held: sa.Row[Any]) -> bool:
    """Whether a budget is that of the run which holds something, or of one above it.

    The rows are those that a call draws on: all of them above the run that holds it are in its chain, too.
    """
    return bool(row.run_id == held.run_id or held.run_id not in row.ancestors)


def _draw_from(
    tx: Transaction, held: sa.Row[Any] | None, more: Mapping[str, int], used: Shares
) -> None:
    if held is not None:
        places = held.drawn or ()
        free(tx, freed_at(places, _freed(held, more), used))
        taken = {unit: held.actual[unit] + more[unit] for unit in (*UNITS, "time")}
        place = {"of_run": held.run_id, "of_key": held.key}
        further = drawn_further(places, used) or None
        tx.execute(_DRAW_ENTRY, {**place, "taken": taken, "places": further})


def _hold_again(
    tx: Transaction,
    chain: Sequence[sa.Row[Any]],
    held: sa.Row[Any] | None,
    more: Mapping[str, int],
    used: Shares,
) -> None:
    """Counts in what is held that a call took more, or less, than was drawn for it."""
    if held is None:
        return
    freed = _freed(held, more)
    for row in chain:
        if _holds(row, held):
            _set_free(tx, row, freed)
    _draw_from(tx, held, more, used)


def _set_free(tx: Transaction, row: sa.Row[Any], freed: Mapping[str, int]) -> None:
    columns = {f"reserved_{unit}": _COLUMNS[f"reserved_{unit}"] - freed[unit] for unit in UNITS}
    tx.execute(sa.update(budgets).where(_COLUMNS.run_id == row.run_id).values(**columns))


def _difference(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {unit: one[unit] - other[unit] for unit in one}


def _give_back(
    tx: Transaction,
    row: sa.Row[Any],
    entry: sa.Row[Any],
    spent: Mapping[str, int],
    now: datetime,
) -> None:
    changes: dict[str, Any] = {
        **{f"reserved_of_{unit}": -entry.estimate[unit] for unit in UNITS},
        **{f"spent_of_{unit}": spent[unit] for unit in UNITS},
        "of_run": row.run_id,
        "calls": row.open_calls - 1,
        "busy": row.busy_time + spent["time"],
        "since": row.busy_since,
        "time": row.spent_time,
    }
    if entry.state == "waiting":
        # It was in no busy period: what it took by its own account is added.
        changes |= {"calls": row.open_calls, "busy": row.busy_time}
        changes["time"] = row.spent_time + spent["time"]
    elif row.open_calls == 1:
        # Calls side by side share their time; a call cut off by a crash and repeated days later does
        # not count the days: its period is never longer than what its calls took together.
        elapsed = milliseconds(now - row.busy_since)
        changes["time"] = row.spent_time + min(elapsed, row.busy_time + spent["time"])
        changes |= {"since": None, "busy": 0}
    tx.execute(_GIVE_BACK, changes)


def _add(tx: Transaction, row: sa.Row[Any], spent: Mapping[str, int]) -> None:
    used = {f"spent_of_{unit}": spent[unit] for unit in (*UNITS, "time")}
    tx.execute(_ADD, {"of_run": row.run_id, **used})


def _used(row: sa.Row[Any], unit: str, now: datetime) -> tuple[int, int]:
    """Spent and set aside; the time of calls that still run is spent as it passes."""
    if unit == "time":
        running = 0 if row.busy_since is None else milliseconds(now - row.busy_since)
        return row.spent_time + running, 0
    return getattr(row, f"spent_{unit}"), getattr(row, f"reserved_{unit}")


def _left(row: sa.Row[Any], unit: str, now: datetime) -> int | None:
    limit: int | None = getattr(row, f"limit_{unit}")
    return None if limit is None else limit - sum(_used(row, unit, now))
