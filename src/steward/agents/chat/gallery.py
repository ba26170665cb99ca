"""Everything that the turns of a thread produced: charts, tables, reports and files, newest first."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from steward.agents.chat.threads import Threads, Turn
from steward.core import Invalid, NotFound
from steward.output import spreadsheet_safe
from steward.runs import Call, Json, Projection, Runs, project
from steward.store import Scope

Kind = Literal["chart", "table", "report", "file"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SHOWN_ROWS: Final = 5
MOST_TURNS: Final = 40
"""Turns looked into for one page: a page may hold less than was asked for, and still others follow."""
_REPORTS: Final = ("text/html", "application/pdf", "text/markdown")


@dataclass(frozen=True)
class Exhibit:
    """One thing that a call of a turn made."""

    run_id: str
    message: str
    created_at: datetime
    branch: int
    step: str
    step_title: str
    key: str
    tool: str
    kind: Kind
    name: str
    media_type: str
    size: int | None
    digest: str | None
    """Of a file; a table lies in the journal."""
    columns: Sequence[str]
    rows: Sequence[Sequence[Json]]
    """The first ones of a table."""
    rows_in_all: int | None
    undone: bool


@dataclass(frozen=True)
class Shown:
    exhibits: Sequence[Exhibit]
    before: str | None
    """Ask with this for what was made before; None at the end."""


class Gallery:
    def __init__(self, threads: Threads, runs: Runs) -> None:
        self._threads = threads
        self._runs = runs

    def shown(
        self,
        scope: Scope,
        thread_id: str,
        *,
        kind: Kind | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> Shown:
        """Of all branches of the conversation; what was made last comes first."""
        run_id, count = _position(before) if before is not None else (None, None)
        turns = self._threads.turns.newest(scope, thread_id, until=run_id, limit=MOST_TURNS + 1)
        found: list[Exhibit] = []
        for turn in turns[:MOST_TURNS]:
            made = self._of(scope, turn)
            known = made[:count] if turn.run_id == run_id and count is not None else made
            for number, exhibit in reversed(list(enumerate(known))):
                if kind is not None and exhibit.kind != kind:
                    continue
                if len(found) == limit:
                    return Shown(found, f"{turn.run_id} {number + 1}")
                found.append(exhibit)
        following = f"{turns[MOST_TURNS].run_id} " if len(turns) > MOST_TURNS else None
        return Shown(found, following)

    def table(self, scope: Scope, thread_id: str, run_id: str, key: str) -> tuple[str, bytes]:
        """Name and CSV of all recorded rows of one table, with formulas defused."""
        name, value = self._recorded(scope, thread_id, run_id, key)
        return f"{name}.csv", _csv(_columns(value), value["rows"])

    def rows(
        self, scope: Scope, thread_id: str, run_id: str, key: str, begin: int, count: int
    ) -> list[list[Json]]:
        """Some recorded rows of one table, as lists in the order of its columns."""
        _, value = self._recorded(scope, thread_id, run_id, key)
        columns = _columns(value)
        return [
            [row.get(name) for name in columns] if isinstance(row, Mapping) else list(row)
            for row in value["rows"][begin : begin + count]
        ]

    def _recorded(
        self, scope: Scope, thread_id: str, run_id: str, key: str
    ) -> tuple[str, Mapping[str, Any]]:
        turn = self._threads.turns.get(scope, thread_id, run_id)
        told = project(self._runs.journal.entries(scope, turn.run_id), self._runs.payload)
        for call in _done(told):
            if call.key == key and (value := _table(call)) is not None:
                step = told.step_of(call.key)
                return step.id if step is not None else (call.tool or "rows"), value
        raise NotFound("The turn has no such table.")

    def _of(self, scope: Scope, turn: Turn) -> list[Exhibit]:
        told = project(self._runs.journal.entries(scope, turn.run_id), self._runs.payload)
        return [exhibit for call in _done(told) for exhibit in _exhibits(turn, call, told)]


def _done(told: Projection) -> Iterator[Call]:
    return (call for call in told.calls.values() if call.tool is not None and call.state == "done")


def _exhibits(turn: Turn, call: Call, told: Projection) -> Iterator[Exhibit]:
    step = told.step_of(call.key)
    value = _table(call)
    for made in ([None] if value is not None else []) + list(call.artifacts):
        yield Exhibit(
            run_id=turn.run_id,
            message=turn.message,
            created_at=turn.created_at,
            branch=step.branch if step else 0,
            step=step.id if step else "",
            step_title=step.title if step else "",
            key=call.key,
            tool=call.tool or "",
            kind="table" if made is None else kind_of(made["media_type"]),
            name=call.summary if made is None else made["name"],
            media_type="text/csv" if made is None else made["media_type"],
            size=None if made is None else made["size"],
            digest=None if made is None else made["digest"],
            columns=_columns(value) if made is None and value is not None else (),
            rows=value["rows"][:SHOWN_ROWS] if made is None and value is not None else (),
            rows_in_all=len(value["rows"]) if made is None and value is not None else None,
            undone=call.undone,
        )


def kind_of(media_type: str) -> Kind:
    if "vegalite" in media_type or media_type.startswith("image/"):
        return "chart"
    return "report" if media_type.partition(";")[0] in _REPORTS else "file"


def _table(call: Call) -> Mapping[str, Any] | None:
    value = call.value
    if not isinstance(value, dict) or "spec" in value:
        return None
    rows, columns = value.get("rows"), value.get("columns")
    if not isinstance(rows, list) or not isinstance(columns, list) or not columns:
        return None
    return value if all(isinstance(row, list | dict) for row in rows) else None


def _columns(value: Mapping[str, Any]) -> list[str]:
    return [
        str(column["name"] if isinstance(column, dict) and "name" in column else column)
        for column in value["columns"]
    ]


def _csv(columns: Sequence[str], rows: Sequence[Any]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([spreadsheet_safe(name) for name in columns])
    for row in rows:
        cells = [row.get(name) for name in columns] if isinstance(row, dict) else row
        writer.writerow(["" if cell is None else spreadsheet_safe(cell) for cell in cells])
    return text.getvalue().encode()


def _position(text: str) -> tuple[str, int | None]:
    run_id, _, count = text.partition(" ")
    if count and not (count.isascii() and count.isdigit() and len(count) < 9):
        raise Invalid("The cursor is not one of ours; start again without it.")
    return run_id, int(count) if count else None
