"""What was applied to a project: by whom, with which content, and what it replaced."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from steward.core import Clock
from steward.projects import _tables as tables
from steward.runs import Json
from steward.store import Database, Scope

_A = tables.applies.c
State = Literal["applying", "applied", "failed", "undone"]


@dataclass(frozen=True)
class Applied:
    number: int
    author: str
    state: State
    hashes: Mapping[str, str]
    replaced: list[Json]
    created_at: datetime


class Applies:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def last(self, scope: Scope) -> Applied | None:
        """The newest that counts."""
        return self._first(scope, _A.state == "applied")

    def of_call(self, scope: Scope, call: str) -> Applied | None:
        return self._first(scope, _A.call == call)

    def begin(
        self, scope: Scope, author: str, call: str, hashes: Mapping[str, str], replaced: list[Json]
    ) -> Applied:
        with self._database.write(scope) as tx:
            newest = tx.first(sa.select(sa.func.max(_A.number)))
            number = (newest[0] if newest is not None else None) or 0
            values = {"number": number + 1, "call": call, "author": author, "state": "applying"}
            values |= {
                "hashes": dict(hashes),
                "replaced": replaced,
                "created_at": self._clock.now(),
            }
            tx.execute(sa.insert(tables.applies).values(**values))
        return Applied(number + 1, author, "applying", hashes, replaced, self._clock.now())

    def mark(self, scope: Scope, number: int, state: State) -> None:
        with self._database.write(scope) as tx:
            tx.execute(sa.update(tables.applies).where(_A.number == number).values(state=state))

    def _first(self, scope: Scope, which: sa.ColumnElement[bool]) -> Applied | None:
        statement = sa.select(tables.applies).where(which).order_by(_A.number.desc()).limit(1)
        with self._database.read(scope) as tx:
            row: Any = tx.first(statement)
        if row is None:
            return None
        names = Applied.__dataclass_fields__
        return Applied(**{name: getattr(row, name) for name in names})
