"""Turns as rows: the tree that a thread is, and the ways through it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.agents import _tables as tables
from steward.core.errors import NotFound
from steward.store import Transaction

_U = tables.turns.c


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


def turn_row(tx: Transaction, thread_id: str, run_id: str) -> sa.Row[Any]:
    row = tx.first(sa.select(tables.turns).where(_U.run_id == run_id, _U.thread_id == thread_id))
    if row is None:
        raise NotFound("There is no such turn in this thread.")
    return row


def turn_of_row(row: sa.Row[Any], siblings: tuple[str, ...] = ()) -> Turn:
    return Turn(
        run_id=row.run_id,
        thread_id=row.thread_id,
        parent=row.parent,
        message=row.message,
        mentions=tuple(row.mentions),
        attachments=tuple(Attachment(**item) for item in row.attachments),
        query_type=row.query_type,
        created_by=row.created_by,
        created_at=row.created_at,
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


Tree = Mapping[str, str | None]
"""Of each turn its parent, oldest turn first."""


def tree_of(tx: Transaction, thread_id: str) -> Tree:
    statement = sa.select(_U.run_id, _U.parent).where(_U.thread_id == thread_id)
    return {row.run_id: row.parent for row in tx.rows(statement.order_by(_U.run_id))}


def require_known(tree: Tree, run_id: str) -> None:
    if run_id not in tree:
        raise NotFound("There is no such turn in this thread.")


def way_to(tree: Tree, leaf: str) -> list[str]:
    way: list[str] = []
    at: str | None = leaf
    while at is not None:
        way.append(at)
        at = tree[at]
    return way[::-1]


def newest_below(tree: Tree, run_id: str) -> str:
    # Children come oldest first, so the newest one of each turn is what remains.
    newest = {parent: child for child, parent in tree.items() if parent is not None}
    while run_id in newest:
        run_id = newest[run_id]
    return run_id


def siblings_of(tree: Tree, run_id: str) -> tuple[str, ...]:
    parent = tree[run_id]
    return tuple(each for each, above in tree.items() if above == parent)
