"""Proposals: found at start-up and on demand, shown to whoever keeps the installation, accepted one by one.

The environment and the home folder belong to the person who runs Steward, not to its users. So only a keeper sees
what was found there: an admin of the project who owns the organisation of the installation's first owner.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from steward.connections import _tables as tables
from steward.connections.connector import load_connectors
from steward.connections.discovery import dbt, environment, mcp_clients, ollama, pgpass
from steward.connections.discovery.proposal import MODEL, Proposal
from steward.connections.documents import Connection, Connections, Draft, parse_settings
from steward.connections.keepers import Keepers
from steward.core import (
    Clock,
    Invalid,
    NotFound,
    Problem,
    discoverable_environment,
    folder_of_this_user,
)
from steward.identity import Access, Role
from steward.store import Database, EventLog


class Discovery:
    def __init__(
        self,
        connections: Connections,
        keepers: Keepers,
        database: Database,
        events: EventLog,
        clock: Clock,
        *,
        enabled: bool = True,
        variables: Callable[[], Mapping[str, str]] = discoverable_environment,
        home: Callable[[], Path | None] = folder_of_this_user,
    ) -> None:
        self._connections = connections
        self._keepers = keepers
        self._database = database
        self._events = events
        self._clock = clock
        self.enabled = enabled
        self._variables = variables
        self._home = home
        self._lock = threading.Lock()
        self._found: tuple[Proposal, ...] | None = None

    def look(self) -> tuple[Proposal, ...]:
        """Looks again; takes a moment and changes nothing. Finds nothing where it is switched off."""
        if not self.enabled:
            return ()
        variables = self._variables()
        found = list(environment.find(variables))
        home = self._home()
        if home is not None:
            for source in (pgpass, dbt, mcp_clients):
                found += source.find(home)
        found += asyncio.run(ollama.find(variables))
        with self._lock:
            self._found = tuple({each.id: each for each in found}.values())
        return self._found

    def look_in_background(self) -> None:
        """For start-up, which does not wait for it."""
        if self.enabled:
            threading.Thread(target=self.look, name="discovery", daemon=True).start()

    def proposals(self, access: Access, *, again: bool = False) -> list[Proposal]:
        """What was found and is neither connected nor dismissed in this project."""
        self._keepers.require_sight(access)
        found = self._found if self._found is not None and not again else self.look()
        with self._database.read(access.scope) as tx:
            rows = tx.rows(sa.select(tables.dismissals.c.proposal_id))
        dismissed = {row.proposal_id for row in rows}
        known = self._connections.listed(access.scope)
        return [each for each in found if each.id not in dismissed and not _connected(each, known)]

    def accept(
        self,
        access: Access,
        proposal_id: str,
        *,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        scope_hint: str = "",
    ) -> Connection:
        """Makes the connection: the secrets go into the project's store. What was missing comes in `settings`."""
        access.require(Role.admin)
        found = self._one(access, proposal_id)
        if found.kind == MODEL:
            raise Invalid(found.note, code="set-in-settings")
        if found.refused:
            raise Invalid(found.refused, code="not-acceptable")
        extra = dict(settings or {})
        # What was found is what was shown: only what is missing may be given beside it.
        beyond = sorted(extra.keys() - set(found.missing))
        if beyond:
            raise Invalid(
                f"{beyond[0]!r} was found on this machine; accept it as it is, and change the connection afterwards.",
                problems=[Problem(f"/settings/{each}", "not missing") for each in beyond],
            )
        return self._connections.create(
            access,
            Draft(
                name=name or self._free_name(access, found.name),
                kind=found.kind,
                settings={**found.settings, **extra},
                scope_hint=scope_hint or f"Found in {found.found_in}"[:400],
                values=found.values,
            ),
        )

    def dismiss(self, access: Access, proposal_id: str) -> None:
        """Hides a proposal in this project; `bring_back` shows it again."""
        found = self._one(access, proposal_id)
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.insert(tables.dismissals).values(
                    proposal_id=proposal_id,
                    dismissed_by=access.user_id,
                    dismissed_at=self._clock.now(),
                )
            )
            data = {"kind": found.kind, "by": access.user_id}
            self._events.append(tx, "connection.proposal_dismissed", proposal_id, data)

    def bring_back(self, access: Access, proposal_id: str) -> Proposal:
        self._keepers.require_sight(access)
        with self._database.write(access.scope) as tx:
            gone = tx.execute(
                sa.delete(tables.dismissals).where(tables.dismissals.c.proposal_id == proposal_id)
            )
            if gone.rowcount == 0:
                raise NotFound("There is no such dismissed proposal.")
            data = {"by": access.user_id}
            self._events.append(tx, "connection.proposal_brought_back", proposal_id, data)
        return self._one(access, proposal_id)

    def _one(self, access: Access, proposal_id: str) -> Proposal:
        for each in self.proposals(access):
            if each.id == proposal_id:
                return each
        raise NotFound("There is no such proposal now. Look again for what is configured.")

    def _free_name(self, access: Access, wanted: str) -> str:
        taken = {each.name for each in self._connections.listed(access.scope)}
        names = (wanted, *(f"{wanted}_{number}" for number in range(2, 1000)))
        return next(name for name in names if name not in taken)


def _connected(proposal: Proposal, connections: Sequence[Connection]) -> bool:
    """Whether there is a connection with these settings, whatever it is called."""
    if proposal.kind == MODEL or proposal.missing:
        return False
    connector = load_connectors().get(proposal.kind)
    try:
        wanted = parse_settings(connector, proposal.settings).model_dump(mode="json")
    except Invalid:
        return False
    return any(each.kind == proposal.kind and each.settings == wanted for each in connections)


def told_wrong(proposal: Proposal) -> Proposal:
    """The proposal with what is wrong about its settings, so that nobody accepts in vain."""
    if proposal.kind == MODEL or proposal.missing or proposal.refused:
        return proposal
    try:
        parse_settings(load_connectors().get(proposal.kind), proposal.settings)
    except Invalid as problem:
        return replace(proposal, refused=problem.message)
    return proposal
