"""Whether a connection works: a real attempt with a time limit, told in plain words and kept for a while."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import sqlalchemy as sa

from steward.connections import _tables as tables
from steward.connections.connector import ConnectorSettings, Surroundings
from steward.connections.documents import Connection, Connections, existing
from steward.connections.network import NetworkPolicies
from steward.core import Clock, Denied, Ids, Misconfigured, NotFound, StewardError, reaching_for
from steward.store import Database, EventLog, Scope, SecretStore

if TYPE_CHECKING:
    from steward.connections.catalogue.sign_in import ServiceLine, ServiceSignIns
    from steward.connections.mcp.sign_in import Line, SignIns

KEPT: Final = 50
_LONGEST: Final = 600


@dataclass(frozen=True)
class Check:
    id: str
    at: datetime
    worked: bool
    words: str
    code: str
    """What kind of failure, for programs; empty when it worked."""
    milliseconds: int
    checked_by: str


@dataclass(frozen=True)
class Opened:
    """A connection ready to be used: its settings, and the values of its secrets for the one who uses it."""

    connection: Connection
    settings: Any
    secrets: Mapping[str, str]
    line: "Line | None" = None
    """The sign-in, for MCP servers that are signed in to."""
    service_line: "ServiceLine | None" = None
    """The same for services of the catalogue and mailboxes."""
    scope: Scope | None = None
    """The project that it belongs to."""

    def __repr__(self) -> str:
        return f"Opened({self.connection.name})"


class Health:
    def __init__(
        self,
        connections: Connections,
        database: Database,
        secrets: SecretStore,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        around: Surroundings,
        signs: "SignIns",
        service_signs: "ServiceSignIns",
        network: NetworkPolicies,
    ) -> None:
        self._connections = connections
        self._database = database
        self._secrets = secrets
        self._events = events
        self._clock = clock
        self._ids = ids
        self.around = around
        self._signs = signs
        self._service_signs = service_signs
        self._network = network

    def open(self, scope: Scope, connection: Connection) -> Opened:
        """Settings and secrets; refused where a program would be started that nobody accepted."""
        settings: ConnectorSettings = connection.parsed()
        if not connection.program_is_accepted:
            raise Denied(
                f"The connection {connection.name!r} would start a program that nobody has accepted yet. Whoever "
                "runs this installation can look at it and accept it under Connections.",
                code="program-not-accepted",
            )
        if connection.program is not None:
            self._network.check_program(scope, connection.name)
        values: dict[str, str] = {}
        for field, name in connection.secrets.items():
            try:
                values[field] = self._secrets.get(scope, name)
            except NotFound:
                raise Misconfigured(
                    f"The connection {connection.name!r} names the secret {name!r}, which is not there; set it "
                    "under Secrets."
                ) from None
        missing = [
            each.title
            for each in connection.connector.secrets
            if each.required and not values.get(each.name)
        ]
        if missing:
            raise Misconfigured(f"The connection {connection.name!r} has no {missing[0]!r}.")
        return Opened(
            connection,
            settings,
            values,
            self._signs.line(scope, connection),
            self._service_signs.line(scope, connection),
            scope,
        )

    async def check(self, scope: Scope, connection_id: str, author: str) -> Check:
        """Tries the connection now, and keeps what came of it."""
        connection = await asyncio.to_thread(self._connections.get, scope, connection_id)
        started = self._clock.monotonic()
        secrets: Mapping[str, str] = {}
        opened: Opened | None = None
        code = ""
        try:
            opened = await asyncio.to_thread(self.open, scope, connection)
            secrets = opened.secrets
            seconds = connection.connector.time.total_seconds()
            async with asyncio.timeout(seconds):
                around = replace(self.around, line=opened.line, service_line=opened.service_line)
                with reaching_for(scope):
                    words = await connection.connector.check(around, opened.settings, secrets)
        except TimeoutError:
            seconds = connection.connector.time.total_seconds()
            words, code = f"No answer within {seconds:g} seconds.", "timeout"
        except StewardError as problem:
            words, code = problem.message, problem.specific_code
        spent = self._clock.monotonic() - started
        for line in (opened.line, opened.service_line) if opened is not None else ():
            if line is not None:
                secrets = {**secrets, **await asyncio.to_thread(line.values)}
        check = Check(
            id=self._ids.new("chk"),
            at=self._clock.now(),
            worked=not code,
            words=without_secrets(words, secrets)[:_LONGEST],
            code=code[:60],
            milliseconds=round(spent * 1000),
            checked_by=author,
        )
        await asyncio.to_thread(self._keep, scope, connection, check)
        return check

    def history(self, scope: Scope, connection_id: str) -> list[Check]:
        """Newest first."""
        table = tables.checks
        with self._database.read(scope) as tx:
            existing(tx, connection_id)
            rows = tx.rows(
                sa.select(table)
                .where(table.c.connection_id == connection_id)
                .order_by(table.c.id.desc())
                .limit(KEPT)
            )
        return [_check(row) for row in rows]

    def histories(
        self, scope: Scope, connections: Sequence[str], most: int
    ) -> dict[str, list[Check]]:
        """The latest checks of several, for lists."""
        return {each: self.history(scope, each)[:most] for each in connections}

    def _keep(self, scope: Scope, connection: Connection, check: Check) -> None:
        table = tables.checks
        state = "working" if check.worked else "failing"
        columns = {name: getattr(check, name) for name in Check.__dataclass_fields__}
        with self._database.write(scope) as tx:
            tx.execute(
                sa.insert(table).values(
                    **{**columns, "worked": int(check.worked)}, connection_id=connection.id
                )
            )
            old = tx.rows(
                sa.select(table.c.id)
                .where(table.c.connection_id == connection.id)
                .order_by(table.c.id.desc())
                .offset(KEPT)
            )
            if old:
                tx.purge(sa.delete(table).where(table.c.id.in_([row.id for row in old])))
            tx.execute(
                sa.update(tables.connections)
                .where(tables.connections.c.id == connection.id)
                .values(state=state, checked_at=check.at)
            )
            if state != connection.state:
                data = {"name": connection.name, "state": state, "by": check.checked_by}
                self._events.append(tx, "connection.health", connection.id, data)


def without_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """The text without any secret, written plainly or as in a URL."""
    for value in sorted(secrets.values(), key=len, reverse=True):
        for form in (value, quote(value, safe="")):
            if form:
                text = text.replace(form, "…")
    return text


def _check(row: sa.Row[Any]) -> Check:
    columns = {name: getattr(row, name) for name in Check.__dataclass_fields__}
    return Check(**{**columns, "worked": bool(row.worked)})
