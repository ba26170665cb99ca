"""From a verified person of a provider to an account, its memberships and a session; all or nothing."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol

import sqlalchemy as sa

from steward.core import Clock, Denied, Invalid
from steward.identity._tables import (
    organisation_members,
    project_members,
    projects,
    sign_on_grants,
    sign_on_identities,
    users,
)
from steward.identity.invitations import Invitations
from steward.identity.members import Members
from steward.identity.roles import Role
from steward.identity.sessions import NewSession, Origin, Sessions
from steward.identity.sign_on.providers import Provider, RoleRule
from steward.identity.users import MAX_NAME, User, Users, as_user, canonical_email
from steward.store import EVERYWHERE, Database, EventLog, News, Scope, Transaction

_MOST_VALUES: Final = 5_000
_ACCOUNTS: Final = sign_on_identities.c


class Source(Protocol):
    """What gives roles by rules: a sign-on provider, or a directory."""

    @property
    def id(self) -> str: ...

    @property
    def org_id(self) -> str: ...

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Person:
    """Whom a provider has vouched for, and with which claims."""

    issuer: str
    subject: str
    claims: Mapping[str, Any]

    @property
    def email(self) -> str | None:
        given = self.claims.get("email")
        try:
            return canonical_email(given) if isinstance(given, str) else None
        except Invalid:
            return None

    @property
    def has_verified_email(self) -> bool:
        # Some providers write it as text; nothing but a clear yes counts.
        return self.email is not None and self.claims.get("email_verified") in (True, "true")

    @property
    def name(self) -> str:
        known = (self.claims.get(each) for each in ("name", "preferred_username", "email"))
        given = next((each for each in known if isinstance(each, str) and each.strip()), "")
        shown = "".join(each for each in given if each.isprintable()).strip()
        return shown[:MAX_NAME] or self.subject[:MAX_NAME]


def granted_roles(rules: Iterable[RoleRule], claims: Mapping[str, Any]) -> dict[str, Role]:
    """The highest role per project that the claims give; what no rule names gives nothing."""
    found: dict[str, Role] = {}
    for rule in rules:
        if rule.value in _values(claims, rule.claim):
            role = Role[rule.role]
            found[rule.project_id] = max(role, found.get(rule.project_id, role))
    return found


@dataclass(eq=False, repr=False)
class Admission:
    _database: Database
    _clock: Clock
    _events: EventLog
    _users: Users
    _sessions: Sessions
    _members: Members
    _invitations: Invitations

    def admit(
        self, provider: Provider, person: Person, *, agent: str, address: str, sid: str | None
    ) -> NewSession:
        """Signs the person in with the roles that their claims give today; Denied where they have none."""
        wanted = granted_roles(provider.document.rules, person.claims)
        with self._database.write(EVERYWHERE) as tx:
            wanted = self.alive(tx, provider.org_id, wanted)
            user, news = self._account(tx, provider, person, wanted)
            news += self.settle(tx, provider, user.id, wanted)
            places = _places(tx, user.id, provider.org_id)
            session = None
            if places or bool(organisations_of(tx, user.id)):
                origin = Origin(
                    agent,
                    address,
                    provider.id,
                    sid,
                    timedelta(hours=provider.document.session_hours),
                )
                session = self._sessions.open_within(tx, user.id, origin)
                data = {"user": user.id, "name": user.name, "provider": provider.document.name}
                for place in sorted(places | {provider.home_id}):
                    scope = Scope(provider.org_id, place)
                    news.append(News(scope, "sign_on.signed_in", user.id, data))
            self._events.append_many(tx, news)
        if session is None:
            raise _no_access(provider)
        return session

    def record_refusal(self, provider: Provider, code: str, person: Person | None) -> None:
        data: dict[str, Any] = {"provider": provider.document.name, "reason": code}
        if person is not None:
            data |= {"subject": person.subject, "email": person.email}
        with self._database.write(provider.home) as tx:
            self._events.append(tx, "sign_on.refused", provider.id, data)

    def _account(
        self, tx: Transaction, provider: Provider, person: Person, wanted: Mapping[str, Role]
    ) -> tuple[User, list[News]]:
        """The account by issuer and subject; else a new one, or one that may be joined."""
        now = self._clock.now()
        mine = (_ACCOUNTS.issuer == person.issuer) & (_ACCOUNTS.subject == person.subject)
        row = tx.first(
            sa.select(users).join(sign_on_identities, _ACCOUNTS.user_id == users.c.id).where(mine)
        )
        if row is not None:
            if row.disabled_at is not None:
                raise Denied("This account is disabled. Ask an owner.", code="sign-on-disabled")
            tx.execute(sa.update(sign_on_identities).where(mine).values(last_sign_in_at=now))
            return as_user(row), []
        user, news = self._new_account(tx, provider, person, wanted)
        tx.execute(
            sa.insert(sign_on_identities).values(
                issuer=person.issuer,
                subject=person.subject,
                user_id=user.id,
                created_at=now,
                last_sign_in_at=now,
            )
        )
        return user, news

    def _new_account(
        self, tx: Transaction, provider: Provider, person: Person, wanted: Mapping[str, Role]
    ) -> tuple[User, list[News]]:
        email = person.email
        if email is None:
            raise Denied("The provider does not tell your e-mail address.", code="sign-on-no-email")
        invited = person.has_verified_email and self._invitations.open_for_address(
            tx, provider.org_id, email
        )
        existing = tx.first(sa.select(users).where(users.c.email == email))
        if existing is not None:
            self._refuse_joining(tx, provider, person, existing)
            user = as_user(existing)
            data = {"user": user.id, "name": user.name, "provider": provider.document.name}
            news = [News(provider.home, "sign_on.account_joined", user.id, data)]
        elif invited or (wanted and provider.document.just_in_time):
            user, news = self._users.create_within(tx, email, person.name), []
        else:
            raise _no_access(provider)
        if invited:
            self._invitations.accept_by_address(tx, provider.org_id, email, user.id, user.name)
        return user, news

    def _refuse_joining(
        self, tx: Transaction, provider: Provider, person: Person, existing: sa.Row[Any]
    ) -> None:
        """An address is joined only where it is verified, an owner allowed it, and it opens nothing beyond."""
        elsewhere = {org for org in organisations_of(tx, existing.id) if org != provider.org_id}
        owning = tx.first(
            sa.select(organisation_members.c.role).where(
                organisation_members.c.user_id == existing.id,
                organisation_members.c.role == Role.owner.name,
            )
        )
        if (
            not provider.document.join_verified_email
            or not person.has_verified_email
            or existing.disabled_at is not None
            or elsewhere
            or owning is not None
        ):
            raise Denied(
                "There is an account with this e-mail address already, and it is not joined to the provider. "
                "Sign in as before, or ask an owner.",
                code="sign-on-address-taken",
            )

    def alive(self, tx: Transaction, org_id: str, wanted: Mapping[str, Role]) -> dict[str, Role]:
        """A rule reaches the projects of its own organisation, and none that was deleted."""
        if not wanted:
            return {}
        rows = tx.rows(
            sa.select(projects.c.id).where(
                projects.c.org_id == org_id,
                projects.c.deleted_at.is_(None),
                projects.c.id.in_(sorted(wanted)),
            )
        )
        return {row.id: wanted[row.id] for row in rows}

    def settle(
        self, tx: Transaction, source: Source, user_id: str, wanted: Mapping[str, Role]
    ) -> list[News]:
        """Brings memberships in line: what the source gave earlier and no longer gives is taken back."""
        rows = tx.rows(sa.select(sign_on_grants).where(sign_on_grants.c.user_id == user_id))
        earlier = {row.project_id for row in rows if row.provider_id == source.id}
        news: list[News] = []
        # In order, so that two people who sign in at once do not wait for each other.
        for project_id in sorted(earlier | wanted.keys()):
            inside = tx.narrowed(Scope(source.org_id, project_id))
            grants = [row for row in rows if row.project_id == project_id]
            news += self._settle_one(inside, source, user_id, wanted.get(project_id), grants)
        return news

    def _settle_one(
        self,
        inside: Transaction,
        source: Source,
        user_id: str,
        role: Role | None,
        grants: Sequence[sa.Row[Any]],
    ) -> list[News]:
        note = {"by": "sign-on", "provider": source.name}
        by_hand = self._by_hand(inside, user_id, grants)
        others = [Role[each.role] for each in grants if each.provider_id != source.id]
        # What people gave by hand is theirs to take: a rule raises it and never lowers it.
        goal = max((each for each in (role, by_hand, *others) if each is not None), default=None)
        done = self._members.settle_within(inside, user_id, goal, note)
        if self._members.direct_role_within(inside, user_id) is not goal:
            # The last owner stays one until there is another; the next sign-in looks again.
            data = {**note, "user": user_id, "reason": "last-owner"}
            return [News(inside.project, "sign_on.refused", user_id, data)]
        inside.execute(
            sa.delete(sign_on_grants).where(
                sign_on_grants.c.provider_id == source.id, sign_on_grants.c.user_id == user_id
            )
        )
        if role is not None:
            inside.execute(
                sa.insert(sign_on_grants).values(
                    provider_id=source.id,
                    user_id=user_id,
                    role=role.name,
                    before=by_hand.name if by_hand is not None else None,
                )
            )
        return [done] if done is not None else []

    def _by_hand(
        self, inside: Transaction, user_id: str, grants: Sequence[sa.Row[Any]]
    ) -> Role | None:
        """The role somebody had before any provider gave them one."""
        if not grants:
            return self._members.direct_role_within(inside, user_id)
        before: str | None = grants[0].before
        return Role[before] if before is not None else None


def _places(tx: Transaction, user_id: str, org_id: str) -> set[str]:
    """The projects of an organisation that somebody is a member of."""
    statement = sa.select(project_members.c.project_id).where(
        project_members.c.user_id == user_id,
        project_members.c.org_id == org_id,
        project_members.c.removed_at.is_(None),
    )
    return {row.project_id for row in tx.rows(statement)}


def organisations_of(tx: Transaction, user_id: str) -> set[str]:
    """Where somebody has any role, through the organisation or in a project."""
    whole = sa.select(organisation_members.c.org_id).where(
        organisation_members.c.user_id == user_id
    )
    single = sa.select(project_members.c.org_id).where(
        project_members.c.user_id == user_id, project_members.c.removed_at.is_(None)
    )
    return {row.org_id for statement in (whole, single) for row in tx.rows(statement)}


def _values(claims: Mapping[str, Any], name: str) -> set[str]:
    """A claim's values as text; `a.b` looks inside the object `a` where there is no claim of that very name."""
    found: Any = claims
    if name in claims:
        found = claims[name]
    else:
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = found[:_MOST_VALUES] if isinstance(found, list) else [found]
    return {
        each if isinstance(each, str) else json.dumps(each)
        for each in listed
        if isinstance(each, str | bool | int)
    }


def _no_access(provider: Provider) -> Denied:
    return Denied(
        f"Your account at {provider.document.name} has no access here. Ask an owner for a role or an invitation.",
        code="sign-on-no-access",
    )
