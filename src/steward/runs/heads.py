"""The log of heads: where each run stood whenever it parked, ended or had gone far, signed and chained.

A chain of hashes alone can be written again from its first entry. A line of this log cannot: it is signed with a key
that is not in the database. Each line also names the hash of the line before it, so that none can be taken out.
A project has one log. Its lines are written in the transaction that writes the entries they are about.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.runs import _tables as tables
from steward.runs.canonical import GENESIS, Json, canonical, sha256
from steward.runs.entries import Link
from steward.runs.model import Run, Status
from steward.store import Scope, Signer, Transaction

SCHEMA_VERSION: Final = 1
# Any constant will do: with the project it names the lock under which lines of one log are numbered.
_LOCK: Final = 5_271_010
_PAGE: Final = 1_000
_LAST = "SELECT position, hash FROM run_heads WHERE project_id = ? ORDER BY position DESC LIMIT 1"
_INSERT = (
    "INSERT INTO run_heads (org_id, project_id, position, run_id, seq, body, hash, signature)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_COLUMNS = tables.heads.c

Approvals = Callable[[Transaction, Sequence[str]], Mapping[str, list[Json]]]
"""What the approvals of these runs say, by run, as it is signed; the room that owns approvals knows."""


def no_approvals(_tx: Transaction, _run_ids: Sequence[str]) -> Mapping[str, list[Json]]:
    """For runs that no broker governs."""
    return {}


@dataclass(frozen=True, slots=True)
class Head:
    """Where a run stands and what it says of itself, about to be signed."""

    run: Run
    link: Link
    status: Status
    at: datetime
    removed: str | None = None
    """Why its record is about to be removed; verification then expects it to be gone."""


@dataclass(frozen=True)
class SignedHead:
    """A line of the log as it is stored: nothing of it is believed before its signature is checked."""

    position: int
    run_id: str
    seq: int
    body: str
    hash: str
    signature: str

    @property
    def message(self) -> bytes:
        return self.body.encode("utf-8", "surrogatepass")

    @property
    def document(self) -> dict[str, Any]:
        """What was signed; nothing where somebody made it unreadable, which verification then says."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def claims(run: Run, status: Status, approvals: Sequence[Json]) -> dict[str, Any]:
    """What a run says of itself outside its journal; all of it is signed."""
    return {
        "title": run.title,
        "author": run.created_by,
        "status": status.value,
        "program": run.program,
        "subject": run.subject,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "parent": run.parent_id,
        "parent_key": run.parent_key,
        "root": run.root_id,
        "control_by": run.control_by,
        "forked_from": run.forked_from,
        "approvals": list(approvals),
    }


class HeadLog:
    def __init__(self, signer: Signer, approvals: Approvals = no_approvals) -> None:
        self._signer = signer
        self.approvals = approvals
        self.keys = signer.public
        self.fingerprint = signer.fingerprint

    def sign(self, message: bytes) -> str:
        """Signs something else with the installation's key; the message must say what it is."""
        return self._signer.sign(message)

    def last(self, tx: Transaction) -> "SignedHead | None":
        """The newest line of a project's log."""
        row = tx.first(sa.select(tables.heads).order_by(_COLUMNS.position.desc()).limit(1))
        return None if row is None else _line(row)

    def append(self, tx: Transaction, heads: Sequence[Head]) -> None:
        """Signs heads within a transaction. Nothing else of the transaction may be locked after this."""
        if not heads:
            return
        approvals = self.approvals(tx, sorted({head.run.id for head in heads}))
        by_project: dict[Scope, list[Head]] = {}
        for head in heads:
            by_project.setdefault(head.run.scope, []).append(head)
        for scope in sorted(by_project, key=lambda scope: scope.project_id):
            self._append(tx, scope, by_project[scope], approvals)

    def _append(
        self, tx: Transaction, scope: Scope, heads: Sequence[Head], approvals: Mapping[str, Any]
    ) -> None:
        if tx.dialect == "postgresql":
            tx.execute_raw(
                "SELECT pg_advisory_xact_lock(?, hashtext(?))", (_LOCK, scope.project_id)
            )
        last = tx.execute_raw(_LAST, (scope.project_id,)).first()
        position, previous = (last.position, last.hash) if last else (0, GENESIS)
        rows = []
        for head in heads:
            position += 1
            stated = claims(head.run, head.status, approvals.get(head.run.id, ()))
            if head.removed is not None:
                stated["removed"] = head.removed
            line = self._signed(scope, position, previous, head, stated)
            previous = line.hash
            rows.append(
                (
                    *(scope.org_id, scope.project_id, position, line.run_id, line.seq),
                    *(line.body, line.hash, line.signature),
                )
            )
        tx.execute_raw(_INSERT, rows)

    def _signed(
        self, scope: Scope, position: int, previous: str, head: Head, stated: dict[str, Any]
    ) -> SignedHead:
        body = canonical(
            {
                "v": SCHEMA_VERSION,
                "project": scope.project_id,
                "position": position,
                "previous": previous,
                "run": head.run.id,
                "seq": head.link.seq,
                "head": head.link.hash,
                "at": head.at.isoformat(),
                "claims": stated,
                "signer": self._signer.fingerprint,
            }
        )
        message = body.encode("utf-8", "surrogatepass")
        signature = self._signer.sign(message)
        return SignedHead(position, head.run.id, head.link.seq, body, sha256(body), signature)


def lines_of_run(tx: Transaction, run_id: str) -> list[SignedHead]:
    """The signed heads of one run, oldest first."""
    statement = sa.select(tables.heads).where(_COLUMNS.run_id == run_id)
    return [_line(row) for row in tx.rows(statement.order_by(_COLUMNS.position))]


def lines_of_project(
    read: Callable[[sa.Select[Any]], Sequence[sa.Row[Any]]],
) -> Iterator[SignedHead]:
    """The whole log of a project, oldest line first, fetched page by page."""
    after = 0
    while True:
        statement = sa.select(tables.heads).where(_COLUMNS.position > after)
        rows = read(statement.order_by(_COLUMNS.position).limit(_PAGE))
        yield from (_line(row) for row in rows)
        if len(rows) < _PAGE:
            return
        after = rows[-1].position


def has_gap(tx: Transaction) -> bool:
    """Whether lines were taken out of the middle of a project's log."""
    statement = sa.select(
        sa.func.count(_COLUMNS.position).label("lines"),
        sa.func.max(_COLUMNS.position).label("last"),
    )
    row = tx.execute(statement).one()
    return bool(row.lines != (row.last or 0))


def line_from(row: Mapping[str, Any]) -> SignedHead:
    """A line from a row of a backup."""
    names = ("position", "run_id", "seq", "body", "hash", "signature")
    return SignedHead(*(row[name] for name in names))


def write_lines(lines: Iterable[SignedHead]) -> str:
    """Lines as a capsule carries them."""
    return "".join(f"{line.signature} {line.body}\n" for line in lines)


def read_lines(text: str) -> list[SignedHead]:
    """Lines from a capsule."""
    found = []
    for each in text.splitlines():
        signature, _, body = each.partition(" ")
        said = json.loads(body)
        found.append(
            SignedHead(
                int(said["position"]),
                str(said["run"]),
                int(said["seq"]),
                body,
                sha256(body),
                signature,
            )
        )
    return found


def _line(row: sa.Row[Any]) -> SignedHead:
    return SignedHead(row.position, row.run_id, row.seq, row.body, row.hash, row.signature)
