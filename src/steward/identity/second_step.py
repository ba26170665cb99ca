"""Whether an organisation requires a second step of its people, and who of them has none yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from steward.core import Clock, Conflict, Denied
from steward.identity._tables import (
    organisation_members,
    organisations,
    passkeys,
    project_members,
    sessions,
    sign_on_identities,
    two_step_keys,
    users,
)
from steward.identity.members import Members
from steward.identity.principals import Access
from steward.identity.users import User, as_user
from steward.store import EVERYWHERE, Database, EventLog, Transaction


@dataclass(frozen=True)
class SecondStepRule:
    since: datetime | None
    """None: a password is enough."""
    without: Sequence[User]
    """People with a password and no second step; they set it up at their next request."""


class SecondStep:
    def __init__(
        self, database: Database, clock: Clock, events: EventLog, members: Members
    ) -> None:
        self._database = database
        self._clock = clock
        self._events = events
        self._members = members

    def rule(self, access: Access) -> SecondStepRule:
        self._members.require_organisation_owner(access)
        org_id = access.scope.org_id
        people = (
            sa.select(users)
            .where(_belongs_to_one(organisations.c.id == org_id), users.c.disabled_at.is_(None))
            .where(~has_second_step(), users.c.password_hash.is_not(None) | ~_has_provider())
            .order_by(users.c.email)
        )
        with self._database.read(EVERYWHERE) as tx:
            since = self._since(tx, org_id)
            return SecondStepRule(since, [as_user(row) for row in tx.rows(people)])

    def change(self, access: Access, *, required: bool) -> SecondStepRule:
        """Counts at once, for sessions that are open, too."""
        self._members.require_organisation_owner(access)
        org_id, session_id = access.scope.org_id, access.principal.session_id
        with self._database.write(access.scope) as tx:
            if (self._since(tx, org_id) is not None) == required:
                return self.rule(access)
            if required and session_id is not None and self._lacks(tx, session_id):
                raise Conflict(
                    "Set up your own second step first, in your profile, or sign in with a passkey. "
                    "You would be locked out of this page.",
                    code="own-second-step-first",
                )
            since = {"second_step_since": self._clock.now() if required else None}
            tx.execute(sa.update(organisations).where(organisations.c.id == org_id).values(since))
            told = {"by": access.user_id, "required": required}
            self._events.append(tx, "second_step.changed", org_id, told)
        return self.rule(access)

    def _since(self, tx: Transaction, org_id: str) -> datetime | None:
        row = tx.execute(sa.select(organisations).where(organisations.c.id == org_id)).one()
        since: datetime | None = row.second_step_since
        return since

    def _lacks(self, tx: Transaction, session_id: str) -> bool:
        statement = (
            sa.select(users.c.id)
            .join(sessions, sessions.c.user_id == users.c.id)
            .where(sessions.c.id == session_id, _by_password(), ~_has_app())
        )
        return tx.first(statement) is not None


def owes_second_step() -> sa.ColumnElement[bool]:
    """For a query of sessions and users: whether the session may only set up a second step."""
    asking = _belongs_to_one(organisations.c.second_step_since.is_not(None))
    return _by_password() & asking & ~_has_app()


def has_second_step() -> sa.ColumnElement[bool]:
    """For a query of users: whether they have a way to sign in with two steps."""
    return _has_app() | _has_passkey()


def refuse_password_alone(tx: Transaction, session_id: str | None) -> None:
    """Where a second step is due and the person has a passkey: a password alone must not set up another."""
    due = (
        sa.select(sessions.c.id)
        .join(users, users.c.id == sessions.c.user_id)
        .where(sessions.c.id == (session_id or ""), owes_second_step(), _has_passkey())
    )
    if tx.first(due) is not None:
        raise Denied(
            "Your organisation requires two-step sign-in, and you have a passkey. Sign in with the passkey.",
            code="passkey-needed",
        )


def _has_app() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        two_step_keys.c.user_id == users.c.id, two_step_keys.c.confirmed_at.is_not(None)
    )


def _has_passkey() -> sa.ColumnElement[bool]:
    return sa.exists().where(passkeys.c.user_id == users.c.id)


def _by_password() -> sa.ColumnElement[bool]:
    """A passkey is two steps in one, and a provider has rules of its own for how people prove who they are."""
    by_passkey = sa.exists().where(passkeys.c.id == sessions.c.passkey_id)
    return sessions.c.provider_id.is_(None) & ~by_passkey


def _has_provider() -> sa.ColumnElement[bool]:
    return sa.exists().where(sign_on_identities.c.user_id == users.c.id)


def _belongs_to_one(where: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """For a query of users: whether they are in an organisation like this, or in a project of one."""
    of_all = sa.exists().where(
        organisation_members.c.org_id == organisations.c.id,
        organisation_members.c.user_id == users.c.id,
        where,
    )
    of_project = sa.exists().where(
        project_members.c.org_id == organisations.c.id,
        project_members.c.user_id == users.c.id,
        project_members.c.removed_at.is_(None),
        where,
    )
    return of_all | of_project
