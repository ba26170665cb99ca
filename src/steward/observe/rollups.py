"""Facts of many runs added up by the minute, the hour and the day: what pages read.

Each run is added once, in the transaction that stores its facts. Minutes and hours are kept for a while, days for good.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.core import Clock
from steward.observe._tables import abouts, outputs, people, projected, rollups
from steward.observe.facts import minute_of
from steward.store import EVERYWHERE, Database, Scope, Transaction

MINUTE: Final = 1
HOUR: Final = 60
DAY: Final = 1_440
_HOURS: Final = DAY // HOUR
_MOST_ASKED: Final = 500
_C: Final = rollups.c
JOINED: Final = _C.about == abouts.c.about
"""Joins sums with what they are about."""
SUMS: Final = (
    "times",
    "errors",
    "changes",
    "input_tokens",
    "output_tokens",
    "nano_usd",
    "milliseconds",
    "judged",
    "adhered",
)


PAID: Final = ("model", "tool")
"""What costs something: requests to models and calls of tools."""


@dataclass(frozen=True)
class Kept:
    """How long figures are kept by the minute and by the hour."""

    minutes: timedelta
    hours: timedelta


@dataclass(frozen=True, slots=True)
class About:
    """What figures are kept by."""

    kind: str
    name: str
    agent: str
    code: str
    connector: str
    flow: str
    revision: int
    is_root: bool

    @property
    def digest(self) -> int:
        told = "\0".join(str(getattr(self, name)) for name in ABOUT)
        found = hashlib.blake2b(told.encode(), digest_size=8).digest()
        return int.from_bytes(found, signed=True)


ABOUT: Final = tuple(each.name for each in fields(About))


class Rollups:
    def __init__(self, database: Database, clock: Clock, kept: Kept) -> None:
        self._database = database
        self._clock = clock
        self._kept = {MINUTE: kept.minutes, HOUR: kept.hours}
        self._known: dict[str, dict[int, About]] = {}

    def add(self, tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> None:
        """Adds facts by the minute, each with its run and what it is about."""
        oldest = {grain: self._oldest(grain) for grain in self._kept}
        sums: dict[tuple[Any, ...], dict[str, Any]] = {}
        by_person: dict[tuple[Any, ...], dict[str, Any]] = {}
        digests: dict[About, int] = {}
        for row in rows:
            about = About(**{name: row[name] for name in ABOUT})
            digest = digests.get(about)
            if digest is None:
                digest = digests[about] = about.digest
            failed = row["run_id"] if row["kind"] == "run" and row["errors"] else ""
            for grain in (MINUTE, HOUR, DAY):
                at = row["minute"] // grain
                if at < oldest.get(grain, 0):
                    continue
                place = {"grain": grain, "at": at, "about": digest}
                into = _added(sums, place, row, {"last_failed": ""})
                into["last_failed"] = max(into["last_failed"], failed)
            if row["kind"] in PAID:
                place = {"at": row["minute"] // DAY, "person": row["person"], "flow": row["flow"]}
                _added(by_person, place, row)
        if digests:
            known = sorted(digests.items(), key=lambda each: each[1])
            tx.execute(
                insert_into(tx, abouts).on_conflict_do_nothing(),
                [{"about": digest, **asdict(about)} for about, digest in known],
            )
        _store(tx, rollups, sums)
        _store(tx, people, by_person)

    def known(self, tx: Transaction, digests: Sequence[int]) -> Mapping[int, About]:
        """What these are about. It never changes, so it is read once."""
        found = self._known.setdefault(tx.project.project_id, {})
        missing = [digest for digest in digests if digest not in found]
        if len(missing) > _MOST_ASKED:
            wanted = sa.select(abouts)
        else:
            wanted = sa.select(abouts).where(abouts.c.about.in_(missing))
        for row in tx.rows(wanted) if missing else ():
            found[row.about] = About(*(getattr(row, name) for name in ABOUT))
        return found

    def between(self, first: int, last: int) -> sa.ColumnElement[bool]:
        """Rows that make up these hours, both included, with as few of them as possible.

        Nothing has happened after now: the day that is under way is read as one, like those before it.
        """
        if last >= minute_of(self._clock.now()) // HOUR:
            last += _HOURS - 1 - last % _HOURS
        return hours_between(first, last)

    def tidy(self) -> None:
        """Removes minutes and hours that are older than they are kept, and outputs of such hours."""
        with self._database.read(EVERYWHERE) as tx:
            found = tx.rows(sa.select(projected.c.org_id, projected.c.project_id))
        for row in found:
            with self._database.write(Scope(row.org_id, row.project_id)) as tx:
                for grain in self._kept:
                    old = sa.and_(_C.grain == grain, _C.at < self._oldest(grain))
                    tx.execute(sa.delete(rollups).where(old))
                tx.execute(sa.delete(outputs).where(outputs.c.at < self._oldest(HOUR)))

    def _oldest(self, grain: int) -> int:
        return minute_of(self._clock.now() - self._kept[grain]) // grain


def hours_between(first: int, last: int) -> sa.ColumnElement[bool]:
    """Rows that make up these hours, both included, with as few of them as possible: whole days where there are any."""
    first_day, end_day = -(-first // _HOURS), (last + 1) // _HOURS
    if end_day <= first_day:
        return by_hour(first, last)
    parts = [sa.and_(_C.grain == DAY, _C.at.between(first_day, end_day - 1))]
    if first < first_day * _HOURS:
        parts.append(by_hour(first, first_day * _HOURS - 1))
    if end_day * _HOURS <= last:
        parts.append(by_hour(end_day * _HOURS, last))
    return sa.or_(*parts)


def by_day(first: int, last: int) -> sa.ColumnElement[bool]:
    """Of these hours, in whole days."""
    return sa.and_(_C.grain == DAY, _C.at.between(first // _HOURS, last // _HOURS))


def by_hour(first: int, last: int) -> sa.ColumnElement[bool]:
    return sa.and_(_C.grain == HOUR, _C.at.between(first, last))


def summed(
    value: sa.ColumnElement[int], where: sa.ColumnElement[bool] | None = None
) -> sa.Function[int]:
    counted = value if where is None else sa.case((where, value), else_=0)
    return sa.func.coalesce(sa.func.sum(counted), 0)


def _added(
    sums: dict[tuple[Any, ...], dict[str, Any]],
    place: Mapping[str, Any],
    row: Mapping[str, Any],
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    key = tuple(place.values())
    into = sums.get(key)
    if into is None:
        into = sums[key] = {**place, **(about or {}), **dict.fromkeys(SUMS, 0)}
    for name in SUMS:
        into[name] += row[name]
    return into


def _store(
    tx: Transaction, table: sa.Table, sums: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> None:
    if not sums:
        return
    new = insert_into(tx, table)
    renewed: dict[str, Any] = {name: table.c[name] + new.excluded[name] for name in SUMS}
    if "last_failed" in table.c:
        known, added = table.c.last_failed, new.excluded.last_failed
        renewed["last_failed"] = sa.case((known > added, known), else_=added)
    statement = new.on_conflict_do_update(
        index_elements=list(table.primary_key.columns), set_=renewed
    )
    # In one order everywhere: two that add at once cannot wait for each other.
    tx.execute(statement, [dict(sums[place]) for place in sorted(sums)])


def insert_into(tx: Transaction, table: sa.Table) -> Any:
    return (postgresql.insert if tx.dialect == "postgresql" else sqlite.insert)(table)
