"""Playbooks and their revisions as rows, and as lists and pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import sqlalchemy as sa

from steward.core import NotFound
from steward.flows import NODES, Flow
from steward.playbooks import _tables as tables
from steward.playbooks.compiling import compiled
from steward.playbooks.documents import read
from steward.playbooks.model import Playbook
from steward.playbooks.trigger import TRIGGERS
from steward.store import Prepared, Transaction

_COLUMNS: Final = tables.playbooks.c
_REVISIONS: Final = tables.revisions.c
_BY_ID: Final = Prepared(sa.select(tables.playbooks).where(_COLUMNS.id == sa.bindparam("wanted")))
_NUMBERED: Final = Prepared(
    sa.select(tables.revisions).where(
        _REVISIONS.playbook_id == sa.bindparam("of_playbook"),
        _REVISIONS.number == sa.bindparam("wanted"),
    )
)


class State(StrEnum):
    draft = "draft"
    active = "active"
    archived = "archived"


@dataclass(frozen=True)
class Card:
    """A playbook as lists show it."""

    id: str
    slug: str
    name: str
    folder: str
    tags: Sequence[str]
    goal: str
    state: State
    head: int
    deployed: int | None
    owner: str
    allowed: Mapping[str, Any]
    armed: Mapping[str, Any]
    created_by: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    version: int

    @property
    def title(self) -> str:
        return self.name or self.slug

    @property
    def history(self) -> list[int]:
        """Revisions in the order in which they were deployed, those that were rolled back left out."""
        return list(self.armed.get("history", ()))

    @property
    def deployment(self) -> int | None:
        """The number of the deployment that is in force; None where it was deployed before these were kept."""
        found: int | None = self.armed.get("deployment")
        return found

    @property
    def canary(self) -> Mapping[str, Any] | None:
        """A deployment that gets a share of the runs: `deployment`, `revision`, `percent`."""
        return self.armed.get("canary") if self.state is State.active else None

    @property
    def previous(self) -> int | None:
        """What was deployed before what is deployed now."""
        if self.state is not State.active:
            return None
        return next((each for each in reversed(self.history) if each != self.deployed), None)


@dataclass(frozen=True)
class Revision:
    number: int
    hash: str
    text: str
    message: str
    author: str
    created_at: datetime
    source: str | None = None
    layout: Mapping[str, Any] | None = None

    @property
    def written(self) -> str:
        """As people wrote it, comments and order kept."""
        return self.text if self.source is None else self.source

    @property
    def playbook(self) -> Playbook:
        return _playbook(self.text, tuple(TRIGGERS))

    @property
    def flow(self) -> Flow:
        """What it runs."""
        return _flow(self.text, tuple(TRIGGERS), tuple(NODES))


@lru_cache(maxsize=64)
def _playbook(text: str, _triggers: tuple[Any, ...]) -> Playbook:
    """Read once: a revision never changes. Types that a plug-in brings or takes make it another one."""
    return read(text)[0]


@lru_cache(maxsize=64)
def _flow(text: str, triggers: tuple[Any, ...], _nodes: tuple[Any, ...]) -> Flow:
    return compiled(_playbook(text, triggers))


def playbook_row(tx: Transaction, playbook_id: str) -> sa.Row[Any] | None:
    return tx.first(_BY_ID, {"wanted": playbook_id})


def row_of(tx: Transaction, playbook_id: str) -> sa.Row[Any]:
    """The row of a playbook, whoever may see it."""
    row = playbook_row(tx, playbook_id)
    if row is None:
        raise NotFound("There is no such playbook.")
    return row


def numbered(tx: Transaction, playbook_id: str, number: int) -> sa.Row[Any]:
    row = tx.first(_NUMBERED, {"of_playbook": playbook_id, "wanted": number})
    if row is None:
        raise NotFound(f"The playbook has no revision {number}.")
    return row


def card_of_row(row: sa.Row[Any]) -> Card:
    fields = {name: getattr(row, name) for name in Card.__dataclass_fields__ if name != "state"}
    fields["slug"] = row.slug.partition("#")[0]
    fields["tags"] = row.tags.splitlines()
    return Card(state=State(row.state), **fields)


def revision_of_row(row: sa.Row[Any]) -> Revision:
    return Revision(**{name: getattr(row, name) for name in Revision.__dataclass_fields__})
