"""Connection documents: what a project may reach, by name; secrets are named in them and never held."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError

from steward.connections import _tables as tables
from steward.connections.connector import Connector, ConnectorSettings, load_connectors
from steward.connections.mcp.settings import program_hash
from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Problem, Stale, in_words, mistakes
from steward.identity import Access, Role
from steward.store import (
    OWN_SECRETS,
    Database,
    EventLog,
    Prepared,
    Scope,
    SecretStore,
    Transaction,
)

State = Literal["unknown", "working", "failing"]
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SECRET: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_COLUMNS = tables.connections.c
_KNOWN = (
    sa.select(tables.connections)
    .where(_COLUMNS.deleted_at.is_(None), _COLUMNS.name > sa.bindparam("after"))
    .order_by(_COLUMNS.name)
    .limit(sa.bindparam("most"))
)
_LISTED: Final = Prepared(_KNOWN)
_LISTED_OF_KIND: Final = Prepared(_KNOWN.where(_COLUMNS.kind == sa.bindparam("of_kind")))


@dataclass(frozen=True)
class Connection:
    id: str
    name: str
    kind: str
    settings: Mapping[str, Any]
    secrets: Mapping[str, str]
    """From the kind's names of secrets to names in the project's store."""
    scope_hint: str
    """What it is for, in words: people and planners choose by it."""
    state: State
    checked_at: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime
    revision: int
    accepted_program: str | None = None

    @property
    def connector(self) -> Connector[Any]:
        return load_connectors().get(self.kind)

    def parsed(self) -> ConnectorSettings:
        found: ConnectorSettings = parse_settings(self.connector, self.settings)
        return found

    @property
    def place(self) -> str:
        return self.connector.place(self.parsed())

    @property
    def program(self) -> tuple[str, ...] | None:
        """What would be started on this machine: its arguments, variables, and which of these are secrets."""
        command = self.connector.command(self.parsed())
        if command is None:
            return None
        hidden = (
            f"{field_name.removeprefix('env.')}=(secret {name})"
            for field_name, name in sorted(self.secrets.items())
            if field_name.startswith("env.")
        )
        return (*command, *hidden)

    @property
    def program_is_accepted(self) -> bool:
        program = self.program
        return program is None or self.accepted_program == program_hash(program)


@dataclass(frozen=True)
class Draft:
    """A connection as somebody writes it down."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict)
    scope_hint: str = ""
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values to put into the secret store; the document gets their names."""


class Connections:
    def __init__(
        self, database: Database, secrets: SecretStore, events: EventLog, clock: Clock, ids: Ids
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._events = events
        self._clock = clock
        self._ids = ids

    def create(self, access: Access, draft: Draft) -> Connection:
        access.require(Role.admin)
        settings = self.checked(draft)
        now = self._clock.now()
        row = {
            "id": self._ids.new("con"),
            "name": draft.name,
            "kind": draft.kind,
            "settings": settings,
            "secrets": {},
            "scope_hint": draft.scope_hint,
            "state": "unknown",
            "created_by": access.user_id,
            "created_at": now,
            "updated_at": now,
            "revision": 1,
        }
        with self._database.read(access.scope) as tx:
            _refuse_taken(tx, draft.name)
        row["secrets"] = self._kept(access, draft)
        try:
            with self._database.write(access.scope) as tx:
                tx.execute(sa.insert(tables.connections).values(**row))
                self._tell(tx, "created", str(row["id"]), access, draft)
                return existing(tx, str(row["id"]))
        except IntegrityError:
            raise _taken(draft.name) from None

    def change(self, access: Access, connection_id: str, revision: int, draft: Draft) -> Connection:
        """The whole document anew; its kind stays. A changed program must be accepted again."""
        access.require(Role.admin)
        found = self.get(access.scope, connection_id)
        if draft.kind != found.kind:
            raise Invalid(f"The connection is of kind {found.kind}; make a new one for another.")
        settings = self.checked(draft)
        if found.revision != revision:
            raise Stale("The connection has changed since you read it. Read it again.")
        kept = self._kept(access, draft)
        try:
            with self._database.write(access.scope) as tx:
                if draft.name != found.name:
                    _refuse_taken(tx, draft.name)
                moved = tx.execute(
                    sa.update(tables.connections)
                    .where(_COLUMNS.id == connection_id, _COLUMNS.revision == revision)
                    .values(
                        name=draft.name,
                        settings=settings,
                        secrets=kept,
                        scope_hint=draft.scope_hint,
                        state="unknown",
                        updated_at=self._clock.now(),
                        revision=revision + 1,
                    )
                )
                if moved.rowcount == 0:
                    raise Stale("The connection has changed since you read it. Read it again.")
                self._tell(tx, "changed", connection_id, access, draft)
                return existing(tx, connection_id)
        except IntegrityError:
            raise _taken(draft.name) from None

    def get(self, scope: Scope, connection_id: str) -> Connection:
        with self._database.read(scope) as tx:
            return existing(tx, connection_id)

    def named(self, scope: Scope, name: str) -> Connection:
        with self._database.read(scope) as tx:
            row = tx.first(
                sa.select(tables.connections).where(
                    _COLUMNS.name == name, _COLUMNS.deleted_at.is_(None)
                )
            )
            if row is None:
                known = tx.rows(
                    sa.select(_COLUMNS.name).where(_COLUMNS.deleted_at.is_(None)).limit(20)
                )
        if row is None:
            listed = ", ".join(sorted(each.name for each in known)) or "none"
            raise NotFound(f"There is no connection {name!r} in this project. There are: {listed}.")
        return _connection(row)

    def listed(
        self, scope: Scope, after: str | None = None, limit: int = 200, kind: str | None = None
    ) -> list[Connection]:
        """By name."""
        statement = _LISTED if kind is None else _LISTED_OF_KIND
        wanted = {"after": after or "", "most": limit}
        with self._database.read(scope) as tx:
            rows = tx.rows(statement, wanted if kind is None else {**wanted, "of_kind": kind})
        known = load_connectors()
        # A kind whose package was uninstalled has no settings to read; its rows wait for it.
        return [_connection(row) for row in rows if row.kind in known]

    def delete(self, access: Access, connection_id: str) -> None:
        """Hides it; nothing uses it from now on, and it can be brought back."""
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            found = existing(tx, connection_id)
            tx.execute(
                sa.update(tables.connections)
                .where(_COLUMNS.id == connection_id)
                .values(deleted_at=self._clock.now())
            )
            self._tell(tx, "deleted", connection_id, access, found)

    def restore(self, access: Access, connection_id: str) -> Connection:
        access.require(Role.admin)
        try:
            with self._database.write(access.scope) as tx:
                row = tx.first(
                    sa.select(tables.connections).where(
                        _COLUMNS.id == connection_id, _COLUMNS.deleted_at.is_not(None)
                    )
                )
                if row is None:
                    raise NotFound(f"There is no deleted connection {connection_id!r} here.")
                _refuse_taken(tx, row.name)
                tx.execute(
                    sa.update(tables.connections)
                    .where(_COLUMNS.id == connection_id)
                    .values(deleted_at=None, state="unknown")
                )
                restored = existing(tx, connection_id)
                self._tell(tx, "restored", connection_id, access, restored)
                return restored
        except IntegrityError:
            raise Conflict("Another connection has taken the name meanwhile.") from None

    def accept_program(self, access: Access, connection_id: str, shown: str) -> Connection:
        """Allows exactly the program that was shown, by its hash; whether somebody may is for the caller."""
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            found = existing(tx, connection_id)
            program = found.program
            if program is None:
                raise Invalid("This connection starts no program.")
            if program_hash(program) != shown:
                raise Stale("The program is not the one that was shown. Read the connection again.")
            tx.execute(
                sa.update(tables.connections)
                .where(_COLUMNS.id == connection_id)
                .values(accepted_program=shown, revision=found.revision + 1)
            )
            self._tell(tx, "program_accepted", connection_id, access, found)
            return existing(tx, connection_id)

    def checked(self, draft: Draft) -> dict[str, Any]:
        """The settings as they are kept; Invalid says what is wrong with the connection."""
        if not _NAME.fullmatch(draft.name):
            raise Invalid(
                "A connection's name has up to 40 small letters, digits, - and _, a letter first: tools and "
                "playbooks refer to it by this name.",
                problems=[Problem("/name", "not a name")],
            )
        connector = load_connectors().get(draft.kind)
        settings = parse_settings(connector, draft.settings)
        known = {each.name for each in connector.secrets}
        for place, given in (("secrets", draft.secrets), ("values", draft.values)):
            for name in given:
                extra = connector.extra_secrets and re.fullmatch(connector.extra_secrets, name)
                if name not in known and not extra:
                    raise Invalid(
                        f"A connection of kind {draft.kind} has no secret {name!r}.",
                        problems=[Problem(f"/{place}/{name}", "not a secret of this kind")],
                    )
        for field_name, secret in draft.secrets.items():
            # What Steward keeps for itself no connection may send anywhere.
            if not _SECRET.fullmatch(secret) or secret.startswith(OWN_SECRETS):
                raise Invalid(
                    f"{secret[:100]!r} is not the name of a secret that a connection may use.",
                    problems=[Problem(f"/secrets/{field_name}", "not usable")],
                )
        missing = [
            each
            for each in connector.secrets
            if each.required and each.name not in {**draft.secrets, **draft.values}
        ]
        if missing:
            raise Invalid(
                f"{connector.title} needs the secret {missing[0].title!r}.",
                problems=[Problem(f"/values/{each.name}", "is needed") for each in missing],
            )
        document: dict[str, Any] = settings.model_dump(mode="json")
        return document

    def _kept(self, access: Access, draft: Draft) -> dict[str, str]:
        """The names of the secrets, after given values went into the store."""
        kept = dict(draft.secrets)
        for field_name, value in draft.values.items():
            name = f"connection.{draft.name}.{field_name}"[:100]
            self._secrets.set(access.scope, name, value, author=access.user_id)
            kept[field_name] = name
        return kept

    def _tell(
        self,
        tx: Transaction,
        what: str,
        connection_id: str,
        access: Access,
        about: Draft | Connection,
    ) -> None:
        data = {"name": about.name, "kind": about.kind, "by": access.user_id}
        self._events.append(tx, f"connection.{what}", connection_id, data)


def parse_settings(connector: Connector[Any], settings: Mapping[str, Any]) -> Any:
    try:
        return connector.settings.model_validate(dict(settings))
    except ValidationError as error:
        found = mistakes(error, "/settings")
        raise Invalid(
            f"The settings do not fit {connector.title}: {in_words(found)}.",
            code="invalid-settings",
            problems=found,
        ) from None


def existing(tx: Transaction, connection_id: str) -> Connection:
    row = tx.first(
        sa.select(tables.connections).where(
            _COLUMNS.id == connection_id, _COLUMNS.deleted_at.is_(None)
        )
    )
    if row is None:
        raise NotFound(f"There is no connection {connection_id!r} in this project.")
    return _connection(row)


def _connection(row: sa.Row[Any]) -> Connection:
    names = Connection.__dataclass_fields__
    return Connection(**{name: getattr(row, name) for name in names})


def _refuse_taken(tx: Transaction, name: str) -> None:
    taken = tx.first(
        sa.select(_COLUMNS.id).where(_COLUMNS.name == name, _COLUMNS.deleted_at.is_(None))
    )
    if taken is not None:
        raise _taken(name)


def _taken(name: str) -> Conflict:
    return Conflict(f"There is a connection called {name!r} already; choose another name.")
