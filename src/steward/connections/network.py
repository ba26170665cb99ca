"""Network policies as they are kept: a project's own and, above it, the one of its organisation; every revision stays."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.connections._tables import network_policies, organisation_network_policies
from steward.connections.addresses import Address
from steward.core import (
    Bug,
    Clock,
    Denied,
    NetworkLevel,
    NetworkRules,
    Stale,
    check_programs,
    check_reach,
    check_rules,
    reaching_scope,
    rules_from_json,
)
from steward.identity import Members
from steward.store import Database, EventLog, Prepared, Scope, Transaction

LEVELS: Final = ("organisation", "project")
"""The order in which they are asked."""
_TABLES: Final = {"organisation": organisation_network_policies, "project": network_policies}
_NEWEST: Final = {
    level: Prepared(sa.select(table).order_by(table.c.revision.desc()).limit(1))
    for level, table in _TABLES.items()
}


@dataclass(frozen=True)
class NetworkPolicy:
    level: str
    rules: NetworkRules
    revision: int
    """0 until somebody sets rules."""
    author: str
    call: str
    """The call that made this revision."""
    created_at: datetime | None


class NetworkPolicies:
    """What the doors to the network ask before each call."""

    def __init__(
        self, database: Database, events: EventLog, clock: Clock, members: Members
    ) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._members = members

    def current(self, scope: Scope, level: str) -> NetworkPolicy:
        with self._database.read(scope) as tx:
            return _current(tx, level)

    def at(self, scope: Scope, level: str, revision: int) -> NetworkPolicy:
        return self._found(scope, level, _TABLES[level].c.revision == revision)

    def made_by(self, scope: Scope, level: str, call: str) -> NetworkPolicy | None:
        """The revision that a call made."""
        found = self._found(scope, level, _TABLES[level].c.call == call) if call else None
        return found if found is not None and found.revision else None

    def _found(self, scope: Scope, level: str, wanted: sa.ColumnElement[bool]) -> NetworkPolicy:
        with self._database.read(scope) as tx:
            return _policy(level, tx.first(sa.select(_TABLES[level]).where(wanted)))

    def levels(self, scope: Scope) -> tuple[NetworkLevel, ...]:
        """The rules in force for a project."""
        with self._database.read(scope) as tx:
            return tuple(NetworkLevel(level, _current(tx, level).rules) for level in LEVELS)

    def levels_here(self) -> tuple[NetworkLevel, ...]:
        """The rules in force for what is being done; nothing goes out for which nobody said whose it is."""
        scope = reaching_scope()
        if scope is None:
            raise Bug("A call was about to leave without the project it belongs to.")
        return self.levels(scope)

    def check(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        check_reach(self.levels_here(), host, port, addresses)

    def check_program(self, scope: Scope, program: str) -> None:
        check_programs(self.levels(scope), program)

    def refuse_others(self, scope: Scope, author: str, level: str) -> None:
        """The organisation's policy is for its owners; who is an admin of the project, the broker asks."""
        if level == "organisation" and not self._members.owns_organisation(scope, author):
            raise Denied(
                "Only owners of the organisation may change its network policy.",
                code="not-an-organisation-owner",
            )

    def save(
        self,
        scope: Scope,
        author: str,
        level: str,
        rules: NetworkRules,
        *,
        revision: int,
        call: str = "",
    ) -> NetworkPolicy:
        """A new revision after the one that was read."""
        self.refuse_others(scope, author, level)
        check_rules(rules)
        values: dict[str, Any] = {
            "revision": revision + 1,
            "rules": asdict(rules),
            "author": author,
            "call": call,
            "created_at": self._clock.now(),
        }
        with self._database.write(scope) as tx:
            owner = scope.org_id if level == "organisation" else scope.project_id
            tx.wait_for_turn(f"{owner}/network")
            if _current(tx, level).revision != revision:
                raise Stale("The network policy has changed since you read it. Read it again.")
            tx.execute(sa.insert(_TABLES[level]).values(**values))
            told = {"by": author, "level": level, "revision": revision + 1, **asdict(rules)}
            self._events.append(tx, "network.changed", owner, told)
            return _current(tx, level)


def _current(tx: Transaction, level: str) -> NetworkPolicy:
    return _policy(level, tx.first(_NEWEST[level]))


def _policy(level: str, row: sa.Row[Any] | None) -> NetworkPolicy:
    if row is None:
        return NetworkPolicy(level, NetworkRules(), 0, "", "", None)
    return NetworkPolicy(
        level, rules_from_json(row.rules), row.revision, row.author, row.call, row.created_at
    )
