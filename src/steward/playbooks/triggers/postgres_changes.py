"""Starts it for each row that is inserted, updated or deleted in a PostgreSQL database. None is lost while Steward is down."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlunsplit

from pydantic import Field

from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken
from steward.playbooks.triggers.secret_address import (
    SecretAddressTrigger,
    checked_address,
    secret_address,
)
from steward.runs import Json
from steward.store import Change, Changes, End

_MOST: Final = 500
_PAUSE: Final = 1.0
Operation = Literal["insert", "update", "delete", "truncate"]


@TRIGGERS.register("postgres_changes")
class PostgresChangesTrigger(SecretAddressTrigger):
    title: ClassVar = "When rows change in PostgreSQL"
    starter: ClassVar = {
        "url_secret": "database_url",
        "publication": "orders",
        "slot": "steward_orders",
    }

    type: Literal["postgres_changes"]
    name: Name = "rows"
    publication: str = Field(
        min_length=1,
        max_length=63,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="The publication that names the tables; CREATE PUBLICATION makes one.",
    )
    slot: str = Field(
        min_length=1,
        max_length=63,
        pattern=r"^[a-z0-9_]+$",
        description=(
            "Name of the replication slot. Steward creates it. The server keeps every change until Steward has read it, "
            "so drop the slot when you no longer need this trigger."
        ),
    )
    operations: list[Operation] = Field(
        ["insert", "update", "delete"], min_length=1, max_length=4, description="What counts."
    )

    def place(self) -> Json:
        return {"url_secret": self.url_secret, "publication": self.publication, "slot": self.slot}

    def source(self, looking: Looking) -> Source:
        return _Rows(self, looking)

    def left_behind(self) -> str:
        return (
            f"The PostgreSQL server keeps every change for the replication slot {self.slot!r} until its disk is full. "
            "If you no longer need this trigger, run this command there: "
            f"SELECT pg_drop_replication_slot('{self.slot}')"
        )

    def details(self) -> dict[str, Any]:
        return {"publication": self.publication, "slot": self.slot}


class _Rows(Source):
    """Its cursor is the last change that is stored: the end of a transaction, or a number within one."""

    def __init__(self, trigger: PostgresChangesTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking
        self._changes: Changes | None = None
        self._told: AsyncGenerator[Change | End, None] | None = None

    async def take(self, cursor: Json) -> Taken:
        if self._changes is None:
            self._changes = await self._opened()
            if await self._changes.prepare():
                return self._begun(cursor)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._looking.patience
        while True:
            taken = await self._next(cursor if isinstance(cursor, dict) else {})
            if taken is not None or loop.time() >= deadline:
                return taken or Taken(cursor=cursor or {})
            await asyncio.sleep(min(_PAUSE, max(0.0, deadline - loop.time())))

    def _begun(self, cursor: Json) -> Taken:
        if cursor is None:
            return Taken(cursor={})
        said = (
            f"The replication slot {self._trigger.slot!r} was gone, and Steward made a new one. Changes in between are "
            "not known to Steward. Compare the tables, then drop this event."
        )
        return Taken((Arrival({"slot": self._trigger.slot}, held=said),), {})

    async def _next(self, before: dict[str, Any]) -> Taken | None:
        """The next changes after what is stored; None where the slot holds none."""
        assert self._changes is not None  # noqa: S101
        if self._told is None:
            self._told = self._changes.told()
        stored, within = int(before.get("after", 0)), before.get("within") or (0, 0)
        arrivals: list[Arrival] = []
        cursor, after = before, 0
        async for each in self._told:
            if isinstance(each, End):
                if each.after > stored:
                    cursor, after = {"after": each.after}, each.after
                else:
                    after = stored
            elif each.transaction >= stored and (each.transaction, each.number) > tuple(within):
                cursor = {**cursor, "within": [each.transaction, each.number]}
                if each.operation in self._trigger.operations:
                    arrivals.append(self._arrival(each))
                if len(arrivals) == _MOST:
                    return Taken(tuple(arrivals), cursor, receipt=after)
        self._told = None
        return Taken(tuple(arrivals), cursor, receipt=after) if after else None

    def _arrival(self, change: Change) -> Arrival:
        data: dict[str, Json] = {
            "operation": change.operation,
            "schema": change.schema,
            "table": change.table,
            "row": change.row,
            "old": change.old,
        }
        key = f"{self._trigger.slot}:{change.transaction:X}:{change.number}"
        return Arrival(data, key)

    async def settle(self, taken: Taken) -> None:
        # While a look goes on, its transaction holds the connection; the place is moved at its end.
        if self._changes is not None and self._told is None and taken.receipt:
            await self._changes.move(taken.receipt)

    async def _opened(self) -> Changes:
        trigger, looking = self._trigger, self._looking
        parts, port = await secret_address(
            looking,
            trigger.url_secret,
            ports={"postgresql": 5432, "postgres": 5432},
            example="postgresql://user:password@host/name",
        )
        address = await checked_address(looking, parts, port)
        return Changes(urlunsplit(parts), str(address), trigger.slot, trigger.publication)

    async def close(self) -> None:
        told, self._told = self._told, None
        if told is not None:
            await told.aclose()
        if self._changes is not None:
            await self._changes.close()
