"""Threads and turns as rows, and as what the rest of the room reads of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.agents.chat import _tables as tables
from steward.core import NotFound, copied
from steward.store import Transaction

_T: Final = tables.threads.c
_U: Final = tables.turns.c


@dataclass(frozen=True)
class Thread:
    id: str
    title: str
    branch: str
    settings: Mapping[str, str]
    head: str | None
    turns: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    revision: int


@dataclass(frozen=True)
class Attachment:
    upload: str
    name: str
    size: int


@dataclass(frozen=True)
class Turn:
    """A message and its place in the tree; what came of it stands in the journal of its run."""

    run_id: str
    thread_id: str
    parent: str | None
    message: str
    mentions: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    query_type: str | None
    created_by: str
    created_at: datetime
    siblings: tuple[str, ...] = ()
    """All turns of the same parent, oldest first, itself included."""


def existing_thread(tx: Transaction, thread_id: str, *, lock: bool = False) -> Thread:
    statement = sa.select(tables.threads).where(_T.id == thread_id, _T.deleted_at.is_(None))
    row = tx.first(statement.with_for_update() if lock else statement)
    if row is None:
        raise NotFound("There is no such thread in this project.")
    return thread_of_row(row)


def thread_of_row(row: sa.Row[Any]) -> Thread:
    return Thread(**{name: getattr(row, name) for name in Thread.__dataclass_fields__})


def turn_row(tx: Transaction, thread_id: str, run_id: str) -> sa.Row[Any]:
    row = tx.first(sa.select(tables.turns).where(_U.run_id == run_id, _U.thread_id == thread_id))
    if row is None:
        raise NotFound("There is no such turn in this thread.")
    return row


def turn_of_row(row: sa.Row[Any], siblings: tuple[str, ...] = ()) -> Turn:
    return copied(
        Turn,
        row,
        mentions=tuple(row.mentions),
        attachments=tuple(Attachment(**item) for item in row.attachments),
        siblings=siblings,
    )


def insert_turn(tx: Transaction, turn: Turn) -> None:
    tx.execute(
        sa.insert(tables.turns).values(
            run_id=turn.run_id,
            thread_id=turn.thread_id,
            parent=turn.parent,
            message=turn.message,
            mentions=list(turn.mentions),
            attachments=[vars(item) for item in turn.attachments],
            query_type=turn.query_type,
            created_by=turn.created_by,
            created_at=turn.created_at,
        )
    )
