"""Tools of MCP servers: seen, looked at by a person, accepted by their hash; a changed one must be accepted again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.connections import _tables as tables
from steward.connections.documents import Connection, existing
from steward.connections.mcp.definitions import Definition, risk_of
from steward.core import Clock, Conflict, Invalid, NotFound
from steward.identity import Access, Role
from steward.store import Database, EventLog, Scope

RISKS: Final = ("read", "compute", "write", "external_send", "destructive", "admin", "secret")
ToolState = Literal["new", "accepted", "changed", "gone", "gone_unseen"]
_COLUMNS = tables.tools.c


@dataclass(frozen=True)
class ServerTool:
    """A tool of a server as this project knows it."""

    connection_id: str
    name: str
    seen: Definition | None
    """As the server offered it last; None when it no longer does."""
    accepted: Definition | None
    chosen_risk: str | None
    accepted_by: str | None
    accepted_at: datetime | None
    confirmed: Mapping[str, Any] | None = None
    """The hash of a definition, and what a person said its arguments are for."""

    @property
    def roles(self) -> Mapping[str, str] | None:
        """Role of each argument by its path, while the accepted definition is the one they were confirmed for."""
        if self.confirmed is None or self.accepted is None:
            return None
        held: Mapping[str, str] = self.confirmed["roles"]
        return held if self.confirmed["hash"] == self.accepted.hash else None

    @property
    def state(self) -> ToolState:
        if self.seen is None:
            return "gone" if self.accepted else "gone_unseen"
        if self.accepted is None:
            return "new"
        return "accepted" if self.accepted.hash == self.seen.hash else "changed"

    @property
    def risk(self) -> str:
        """What an admin chose, else what the hints raise it to; a changed tool is judged by both definitions."""
        if self.chosen_risk is not None:
            return self.chosen_risk
        known = [each for each in (self.accepted, self.seen) if each is not None]
        return max((risk_of(each.hints) for each in known), key=RISKS.index)

    @property
    def shown(self) -> Definition:
        found = self.seen or self.accepted
        if found is None:
            raise NotFound(f"Nothing is known of the tool {self.name!r}.")
        return found


class ServerTools:
    def __init__(self, database: Database, events: EventLog, clock: Clock) -> None:
        self._database = database
        self._events = events
        self._clock = clock

    def listed(self, scope: Scope, connection_id: str) -> list[ServerTool]:
        with self._database.read(scope) as tx:
            existing(tx, connection_id)
            rows = tx.rows(
                sa.select(tables.tools)
                .where(_COLUMNS.connection_id == connection_id)
                .order_by(_COLUMNS.name)
            )
        found = [_tool(row) for row in rows]
        return [each for each in found if each.state != "gone_unseen"]

    def callable(self, scope: Scope, connections: Sequence[Connection]) -> list[ServerTool]:
        """Those of the given connections that were accepted and have not changed since, as far as is known."""
        ids = [each.id for each in connections]
        if not ids:
            return []
        with self._database.read(scope) as tx:
            rows = tx.rows(
                sa.select(tables.tools)
                .where(_COLUMNS.connection_id.in_(ids), _COLUMNS.accepted_at.is_not(None))
                .order_by(_COLUMNS.connection_id, _COLUMNS.name)
            )
        return [each for each in map(_tool, rows) if each.state == "accepted"]

    def find(self, scope: Scope, connection_id: str, name: str) -> ServerTool | None:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.tools).where(*_is(connection_id, name)))
        return None if row is None else _tool(row)

    def saw(self, scope: Scope, connection: Connection, tools: Sequence[Definition]) -> None:
        """Keeps what a server offers now; a tool that differs from what was accepted stops being callable."""
        offered = {each.name: each for each in tools}
        with self._database.write(scope) as tx:
            rows = tx.rows(sa.select(tables.tools).where(_COLUMNS.connection_id == connection.id))
            known = {row.name: _tool(row) for row in rows}
            changed = []
            for name in sorted(known.keys() | offered.keys()):
                seen = offered[name].to_json() if name in offered else None
                if name in known:
                    before = known[name].state
                    tx.execute(
                        sa.update(tables.tools).where(*_is(connection.id, name)).values(seen=seen)
                    )
                    accepted = known[name].accepted
                    if before == "accepted" and seen and accepted and seen["hash"] != accepted.hash:
                        changed.append(name)
                else:
                    tx.execute(
                        sa.insert(tables.tools).values(
                            connection_id=connection.id, name=name, seen=seen
                        )
                    )
            if changed:
                data = {"name": connection.name, "tools": changed[:20]}
                self._events.append(tx, "connection.tools_changed", connection.id, data)

    def accept(
        self,
        access: Access,
        connection_id: str,
        hashes: Mapping[str, str],
        roles: Mapping[str, Mapping[str, str]] | None = None,
    ) -> list[ServerTool]:
        """Accepts definitions that a person has seen, by name and hash; one that has changed since is refused.

        `roles`: what the person confirmed each tool's arguments to be for, by tool and path.
        """
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            connection = existing(tx, connection_id)
            for name, shown in sorted(hashes.items()):
                row = tx.first(sa.select(tables.tools).where(*_is(connection_id, name)))
                if row is None or row.seen is None:
                    raise NotFound(f"The server offers no tool {name!r}.")
                if row.seen["hash"] != shown:
                    raise Conflict(f"{name!r} has changed since it was shown. Look at it again.")
                tx.execute(
                    sa.update(tables.tools)
                    .where(*_is(connection_id, name))
                    .values(
                        accepted=row.seen,
                        accepted_by=access.user_id,
                        accepted_at=self._clock.now(),
                        **_confirmed(shown, (roles or {}).get(name)),
                    )
                )
            data = {"name": connection.name, "tools": sorted(hashes)[:20], "by": access.user_id}
            self._events.append(tx, "connection.tools_accepted", connection_id, data)
        return self.listed(access.scope, connection_id)

    def withdraw(self, access: Access, connection_id: str, name: str) -> ServerTool:
        """Takes an acceptance back."""
        return self._changed(
            access, connection_id, name, "tool_withdrawn", accepted=None, accepted_at=None
        )

    def set_risk(
        self, access: Access, connection_id: str, name: str, risk: str | None
    ) -> ServerTool:
        """What an admin says a call can do at worst; None: as the hints have it."""
        if risk is not None and risk not in RISKS:
            raise Invalid(f"{risk!r} is not a risk class; there are {', '.join(RISKS)}.")
        return self._changed(access, connection_id, name, "tool_risk_set", risk=risk)

    def confirm_roles(
        self, access: Access, connection_id: str, name: str, shown: str, roles: Mapping[str, str]
    ) -> ServerTool:
        """What a person says the arguments of an accepted tool are for; holds until the server changes the tool."""
        found = self.find(access.scope, connection_id, name)
        if found is None or found.state != "accepted" or found.shown.hash != shown:
            raise Conflict(f"{name!r} is not accepted as it was shown. Look at it again.")
        confirmed = _confirmed(shown, roles)
        return self._changed(access, connection_id, name, "tool_roles_confirmed", **confirmed)

    def _changed(
        self, access: Access, connection_id: str, name: str, what: str, **values: Any
    ) -> ServerTool:
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            connection = existing(tx, connection_id)
            done = tx.execute(
                sa.update(tables.tools).where(*_is(connection_id, name)).values(**values)
            )
            if done.rowcount == 0:
                raise NotFound(f"The server offers no tool {name!r}.")
            data = {"name": connection.name, "tool": name, "by": access.user_id}
            if "risk" in values:
                data["risk"] = values["risk"]
            self._events.append(tx, f"connection.{what}", connection_id, data)
            row = tx.first(sa.select(tables.tools).where(*_is(connection_id, name)))
        if row is None:
            raise NotFound(f"The server offers no tool {name!r}.")
        return _tool(row)


def _confirmed(shown: str, roles: Mapping[str, str] | None) -> dict[str, Any]:
    return {} if roles is None else {"roles": {"hash": shown, "roles": dict(roles)}}


def _is(connection_id: str, name: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return _COLUMNS.connection_id == connection_id, _COLUMNS.name == name


def _tool(row: sa.Row[Any]) -> ServerTool:
    return ServerTool(
        row.connection_id,
        row.name,
        Definition.from_json(row.seen) if row.seen else None,
        Definition.from_json(row.accepted) if row.accepted else None,
        row.risk,
        row.accepted_by,
        row.accepted_at,
        row.roles,
    )
