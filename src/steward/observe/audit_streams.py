"""The event log sent on as it grows, to a webhook or a syslog server: at least once, in order for each project.

How far a stream got is kept for each project and moves on only when a batch was taken. One worker at a time sends the
events of a project; if it dies, another one sends the batch again.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from steward.connections import Http, Syslog, SyslogMessage, SyslogServer, sign, signing_key
from steward.core import AuditStream, Clock, Event, Misconfigured, StewardError, Unavailable
from steward.observe import _tables as tables
from steward.observe.audit_export import AuditExport
from steward.observe.audit_lines import SEAL, AuditFormat, kind_of, severity_of
from steward.store import EVERYWHERE, Database, EventLog, Scope

_C: Final = tables.audit_cursors.c
_BATCH: Final = 100
_LEASE: Final = timedelta(minutes=2)
_LONGEST_PAUSE: Final = 300
_ROUND_SECONDS: Final = 5.0
_SWEEP_ROUNDS: Final = 12
_SYSLOG: Final = {"syslog+tls": 6514, "syslog": 601}
SCHEMES: Final = {"https": True, "http": False, "syslog+tls": True, "syslog": False}
"""How addresses of streams begin, and whether what is sent there is encrypted."""
_ALERT, _NOTICE, _INFORMATION = 4, 5, 6
_log = structlog.get_logger("steward.audit")


@dataclass(frozen=True)
class _Turn:
    """A project whose events of one stream this process sends for now."""

    stream: str
    scope: Scope
    cursor: int
    epoch: int
    failures: int


def sent_until(database: Database, scope: Scope, streams: Collection[str]) -> int | None:
    """The cursor until which every stream has sent the events of a project; None where there is no stream."""
    if not streams:
        return None
    with database.read(scope) as tx:
        rows = tx.rows(sa.select(_C.stream, _C.cursor))
    cursors: dict[str, int] = {row.stream: row.cursor for row in rows}
    return min(cursors.get(name, 0) for name in streams)


class AuditStreams:
    def __init__(
        self,
        database: Database,
        events: EventLog,
        clock: Clock,
        export: AuditExport,
        streams: dict[str, AuditStream],
        scopes: Callable[[], Sequence[Scope]],
        http: Http,
        syslog: Syslog,
    ) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._export = export
        self._streams = streams
        self._scopes = scopes
        self._http = http
        self._syslog = syslog
        self._seen = -1
        self._rounds = 0
        for name, stream in streams.items():
            check_stream(name, stream)

    async def serve(self) -> None:
        """Until it is cancelled; at once over where there is no stream."""
        while self._streams:
            try:
                await self.round()
            except StewardError as problem:
                _log.warning("events_not_sent", error=problem.message)
            await asyncio.sleep(_ROUND_SECONDS)

    async def round(self) -> int:
        """Sends what is new; how many events that were."""
        newest = await asyncio.to_thread(self._events.newest)
        self._rounds += 1
        if newest == self._seen and self._rounds % _SWEEP_ROUNDS:
            return 0
        sent, is_open = 0, False
        for name in self._streams:
            turns, waits = await asyncio.to_thread(self._due, name)
            is_open = is_open or waits
            for turn in turns:
                count, went_well = await self._send_all(turn)
                sent, is_open = sent + count, is_open or not went_well
        self._seen = -1 if is_open else newest
        return sent

    def failing(self) -> dict[str, int]:
        """For each stream, projects whose last batch was not taken."""
        failed = sa.select(_C.stream, sa.func.count().label("projects")).where(_C.failures > 0)
        with self._database.read(EVERYWHERE) as tx:
            found = {row.stream: row.projects for row in tx.rows(failed.group_by(_C.stream))}
        return {name: found.get(name, 0) for name in self._streams}

    def _due(self, name: str) -> tuple[list[_Turn], bool]:
        """Projects with something to send, and whether others wait for a later try or for another worker."""
        now = self._clock.now()
        kept = sa.select(tables.audit_cursors).where(_C.stream == name)
        with self._database.read(EVERYWHERE) as tx:
            rows = {row.project_id: row for row in tx.rows(kept)}
        turns, waits = [], False
        for scope in self._scopes():
            row = rows.get(scope.project_id)
            if row is not None and row.next_at > now:
                waits = True
                continue
            turn = _Turn(
                name, scope, *((row.cursor, row.epoch, row.failures) if row else (0, 0, 0))
            )
            if self._events.after(scope, turn.cursor, 1):
                turns.append(turn)
        return turns, waits

    def _claimed(self, turn: _Turn) -> _Turn | None:
        now = self._clock.now()
        mine = {"epoch": turn.epoch + 1, "next_at": now + _LEASE}
        with self._database.write(turn.scope) as tx:
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            new = {"stream": turn.stream, "cursor": 0, "epoch": 0, "failures": 0, "next_at": now}
            tx.execute(
                insert(tables.audit_cursors)
                .values(**new)
                .on_conflict_do_nothing(index_elements=["stream", "project_id"])
            )
            taken = tx.execute(
                sa.update(tables.audit_cursors)
                .where(_C.stream == turn.stream, _C.epoch == turn.epoch, _C.next_at <= now)
                .values(**mine)
            )
        if not taken.rowcount:
            return None
        return _Turn(turn.stream, turn.scope, turn.cursor, turn.epoch + 1, turn.failures)

    async def _send_all(self, due: _Turn) -> tuple[int, bool]:
        """Batch after batch until nothing is left; how many events, and whether all were taken."""
        turn = await asyncio.to_thread(self._claimed, due)
        if turn is None:
            return 0, True
        sent, cursor = 0, turn.cursor
        while True:
            found = await asyncio.to_thread(self._events.after, turn.scope, cursor, _BATCH)
            if not found:
                await asyncio.to_thread(self._note, turn, cursor, 0, timedelta(0))
                return sent, True
            try:
                await self._send(turn, cursor, found)
            except StewardError as problem:
                failures = turn.failures + 1
                pause = timedelta(seconds=min(2**failures, _LONGEST_PAUSE))
                await asyncio.to_thread(self._note, turn, cursor, failures, pause)
                _log.warning("events_not_taken", stream=turn.stream, error=problem.message)
                return sent, False
            cursor, sent = found[-1].cursor or cursor, sent + len(found)
            if not await asyncio.to_thread(self._note, turn, cursor, 0, _LEASE):
                # Another worker took over meanwhile and may have sent this batch, too.
                return sent, True

    def _note(self, turn: _Turn, cursor: int, failures: int, pause: timedelta) -> bool:
        kept = sa.update(tables.audit_cursors).where(
            _C.stream == turn.stream, _C.epoch == turn.epoch
        )
        values = {"cursor": cursor, "failures": failures, "next_at": self._clock.now() + pause}
        with self._database.write(turn.scope) as tx:
            return bool(tx.execute(kept.values(**values)).rowcount)

    async def _send(self, turn: _Turn, after: int, events: Sequence[Event]) -> None:
        stream = self._streams[turn.stream]
        form = AuditFormat(stream.format)
        lines = await asyncio.to_thread(
            lambda: list(self._export.sealed(turn.scope, form, events, after))
        )
        if urlsplit(stream.url).scheme not in _SYSLOG:
            name = f"{turn.stream}-{turn.scope.project_id}-{events[-1].cursor}"
            await self._post(stream, name, form, "".join(lines).encode())
        else:
            await self._syslog.send(_server_of(stream.url), _messages(events, lines))

    async def _post(
        self, stream: AuditStream, message_id: str, form: AuditFormat, body: bytes
    ) -> None:
        headers = {"content-type": form.media_type}
        if stream.secret is not None:
            key = signing_key(stream.secret.get_secret_value())
            headers |= sign(key, message_id, self._clock.now(), body)
        answer = await self._http.request("POST", stream.url, headers=headers, body=body)
        if not 200 <= answer.status < 300:
            raise Unavailable(f"The webhook answered {answer.status}.")


def check_stream(name: str, stream: AuditStream) -> None:
    """Refuses at start what could never be sent."""
    address = urlsplit(stream.url)
    if not address.hostname or address.scheme not in SCHEMES:
        raise Misconfigured(
            f"STEWARD_AUDIT__STREAMS: the url of {name!r} must begin with https://, syslog+tls:// or "
            "syslog:// and name a host."
        )
    if stream.secret is not None:
        signing_key(stream.secret.get_secret_value())


def _server_of(url: str) -> SyslogServer:
    address = urlsplit(url)
    port = address.port or _SYSLOG[address.scheme]
    return SyslogServer(address.hostname or "", port, SCHEMES[address.scheme])


def _messages(events: Sequence[Event], lines: Sequence[str]) -> list[SyslogMessage]:
    """Each event as a message, and the seal as the last one."""
    found = [
        SyslogMessage(_severity(kind_of(event)), event.time, kind_of(event), line.rstrip("\n"))
        for event, line in zip(events, lines, strict=False)
    ]
    return [*found, SyslogMessage(_INFORMATION, events[-1].time, SEAL, lines[-1].rstrip("\n"))]


def _severity(kind: str) -> int:
    return {7: _ALERT, 5: _NOTICE}.get(severity_of(kind), _INFORMATION)
