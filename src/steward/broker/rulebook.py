"""The rulebook: policies as they are kept, with every revision, and what a project allows its tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.broker import _tables as tables
from steward.broker.policy import PolicySet
from steward.broker.presets import DEFAULT_PRESET, PRESETS, refuse_faults
from steward.core import Clock, Denied, Invalid, NotFound, Stale
from steward.identity import Access, Members, Role
from steward.store import Database, EventLog, Prepared, Scope, Transaction

_SETTINGS = Prepared(sa.select(tables.settings))
_OF_ORGANISATION = Prepared(
    sa.select(tables.organisation_policies)
    .order_by(tables.organisation_policies.c.revision.desc())
    .limit(sa.bindparam("most"))
)
_OF_SUBJECT = Prepared(
    sa.select(tables.policies)
    .where(tables.policies.c.subject == sa.bindparam("wanted"))
    .order_by(tables.policies.c.revision.desc())
    .limit(sa.bindparam("most"))
)


@dataclass(frozen=True)
class PolicyRevision:
    level: str
    subject: str
    revision: int
    text: str
    preset: str | None
    message: str
    author: str
    created_at: datetime | None


@dataclass(frozen=True)
class ProjectSettings:
    safe_mode: bool = False
    tools: Mapping[str, Any] = field(default_factory=dict)
    revision: int = 0


@dataclass(eq=False, repr=False)
class Rulebook:
    _database: Database
    _events: EventLog
    _clock: Clock
    _members: Members

    def in_force(
        self, scope: Scope, playbook: str | None = None, pinned: tuple[str, ...] = ()
    ) -> PolicySet:
        """The texts that apply; a project that never chose has the supervised preset."""
        with self._database.read(scope) as tx:
            return self.in_force_within(tx, playbook, pinned)

    def in_force_within(
        self,
        tx: Transaction,
        playbook: str | None = None,
        pinned: tuple[str, ...] = (),
        deployed: tuple[str, ...] = (),
    ) -> PolicySet:
        organisation = _current(tx, "organisation")
        project = _current(tx, "project")
        own = _current(tx, "playbook", playbook) if playbook else None
        return PolicySet(
            organisation=organisation.text or None,
            project=project.text,
            playbook=(own.text or None) if own else None,
            pinned=pinned,
            deployed=deployed,
        )

    def current(self, scope: Scope, level: str, subject: str | None = None) -> PolicyRevision:
        with self._database.read(scope) as tx:
            return _current(tx, level, subject)

    def history(
        self, scope: Scope, level: str, subject: str | None = None, limit: int = 50
    ) -> list[PolicyRevision]:
        """Newest first."""
        with self._database.read(scope) as tx:
            return _history(tx, level, subject, limit)

    def save(
        self,
        access: Access,
        level: str,
        text: str,
        revision: int,
        *,
        subject: str | None = None,
        message: str = "",
    ) -> PolicyRevision:
        """A new revision; a text that does not hold together is refused with line and column."""
        access.require(Role.owner if level == "organisation" else Role.admin)
        if level == "organisation" and not self._members.owns_organisation(
            access.scope, access.user_id
        ):
            raise Denied(
                "The policy of the organisation is for its owners, not those of a project."
            )
        refuse_faults(text)
        current = self.current(access.scope, level, subject)
        if current.revision != revision:
            raise Stale("The policy has changed since you read it. Read it again.")
        preset = next((name for name, known in PRESETS.items() if known == text), None)
        values: dict[str, Any] = {
            "revision": revision + 1,
            "text": text,
            "message": message[:400],
            "author": access.user_id,
            "created_at": self._clock.now(),
        }
        with self._database.write(access.scope) as tx:
            if level == "organisation":
                tx.execute(sa.insert(tables.organisation_policies).values(**values))
            else:
                values |= {"preset": preset, "subject": _subject(level, subject)}
                tx.execute(sa.insert(tables.policies).values(**values))
            told = {"revision": revision + 1, "by": access.user_id}
            self._events.append(tx, "policy.changed", subject or level, told)
        return self.current(access.scope, level, subject)

    def settings(self, scope: Scope) -> ProjectSettings:
        with self._database.read(scope) as tx:
            return self.settings_within(tx)

    def settings_within(self, tx: Transaction) -> ProjectSettings:
        row = tx.first(_SETTINGS)
        if row is None:
            return ProjectSettings()
        return ProjectSettings(bool(row.safe_mode), row.tools, row.revision)

    def change_settings(
        self,
        access: Access,
        revision: int,
        *,
        safe_mode: bool | None = None,
        tools: Mapping[str, Any] | None = None,
    ) -> ProjectSettings:
        access.require(Role.admin if tools is not None else Role.editor)
        current = self.settings(access.scope)
        if current.revision != revision:
            raise Stale("The settings have changed since you read them. Read them again.")
        values = {
            "safe_mode": int(current.safe_mode if safe_mode is None else safe_mode),
            "tools": dict(current.tools if tools is None else tools),
            "revision": revision + 1,
        }
        with self._database.write(access.scope) as tx:
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            statement = insert(tables.settings).values(**values)
            tx.execute(
                statement.on_conflict_do_update(
                    index_elements=[tables.settings.c.project_id], set_=values
                )
            )
            told = {"safe_mode": bool(values["safe_mode"]), "by": access.user_id}
            self._events.append(tx, "settings.changed", "broker", told)
        return self.settings(access.scope)


def _current(tx: Transaction, level: str, subject: str | None = None) -> PolicyRevision:
    history = _history(tx, level, subject, 1)
    if history:
        return history[0]
    preset = DEFAULT_PRESET if level == "project" else None
    text = PRESETS[preset] if preset else ""
    return PolicyRevision(level, subject or "", 0, text, preset, "", "", None)


def _history(tx: Transaction, level: str, subject: str | None, limit: int) -> list[PolicyRevision]:
    if level == "organisation":
        rows = tx.rows(_OF_ORGANISATION, {"most": limit})
    else:
        rows = tx.rows(_OF_SUBJECT, {"wanted": _subject(level, subject), "most": limit})
    return [
        PolicyRevision(
            level,
            subject or "",
            row.revision,
            row.text,
            getattr(row, "preset", None),
            row.message,
            row.author,
            row.created_at,
        )
        for row in rows
    ]


def _subject(level: str, subject: str | None) -> str:
    if level == "project":
        return ""
    if level == "playbook":
        if not subject:
            raise Invalid("Say which playbook the policy is for.")
        return subject
    raise NotFound(f"There is no level {level!r}; it is organisation, project or playbook.")
