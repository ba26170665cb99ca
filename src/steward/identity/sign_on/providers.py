"""OpenID providers of an organisation: set up by its owners, or in the settings; secrets go in and never come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from steward.core import (
    Clock,
    Conflict,
    Ids,
    Invalid,
    NotFound,
    Problem,
    SignOnProvider,
    SignOnSettings,
    Stale,
    secret_from_environment,
)
from steward.identity._tables import projects, sessions, sign_on_grants, sign_on_providers
from steward.identity.members import Members
from steward.identity.principals import Access
from steward.store import EVERYWHERE, OWN_SECRETS, Database, EventLog, Scope, SecretStore

MOST_PROVIDERS: Final = 20
MOST_RULES: Final = 200
_SECRETS: Final = f"{OWN_SECRETS}sign_on."
_OPENID: Final = "openid"
_P = sign_on_providers.c


class RoleRule(BaseModel):
    """People whose claim has this value get this role in this project."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    claim: str = Field(
        min_length=1, max_length=100, description="As in `groups`, or `realm_access.roles`."
    )
    value: str = Field(min_length=1, max_length=200, description="Compared letter by letter.")
    project_id: str = Field(min_length=1, max_length=40)
    role: Literal["runner", "viewer", "operator", "editor", "admin", "owner"]


class ProviderDocument(BaseModel):
    """What an owner says about a provider; everything but the secret."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100, description="Shown on the sign-in page.")
    issuer: str = Field(min_length=1, max_length=500)
    client_id: str = Field(min_length=1, max_length=200)
    scopes: list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,100}$")]] = Field(
        ["openid", "profile", "email"], max_length=20
    )
    rules: list[RoleRule] = Field([], max_length=MOST_RULES)
    just_in_time: bool = True
    join_verified_email: bool = False
    session_hours: int = Field(24, ge=1, le=720)
    enabled: bool = True

    @field_validator("issuer")
    @classmethod
    def _checked_issuer(cls, issuer: str) -> str:
        return checked_issuer(issuer)

    @field_validator("scopes")
    @classmethod
    def _with_openid(cls, scopes: list[str]) -> list[str]:
        return list(dict.fromkeys([_OPENID, *scopes]))


@dataclass(frozen=True)
class Provider:
    id: str
    org_id: str
    home_id: str
    """The project whose event log tells of the provider."""
    document: ProviderDocument
    has_secret: bool
    revision: int = 0
    from_settings: bool = False
    updated_at: datetime | None = None
    updated_by: str = ""

    @property
    def issuer(self) -> str:
        return self.document.issuer

    @property
    def name(self) -> str:
        return self.document.name

    @property
    def home(self) -> Scope:
        return Scope(self.org_id, self.home_id)


@dataclass(eq=False, repr=False)
class Providers:
    _database: Database
    _secrets: SecretStore
    _events: EventLog
    _clock: Clock
    _ids: Ids
    _members: Members
    _settings: SignOnSettings

    def enabled(self) -> list[Provider]:
        """What the sign-in page offers, of all organisations."""
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(sign_on_providers).order_by(_P.created_at))
        kept = [_provider(row) for row in rows]
        return [each for each in [*self._of_settings(), *kept] if each.document.enabled]

    def find(self, provider_id: str) -> Provider:
        """A provider that people may sign in with."""
        found = next((each for each in self.enabled() if each.id == provider_id), None)
        if found is None:
            raise NotFound(
                "This sign-in is not offered any more. Choose another on the sign-in page.",
                code="sign-on-gone",
            )
        return found

    def secret(self, provider: Provider) -> str:
        """The client secret, for the request that needs it; empty where the provider wants none."""
        if provider.from_settings:
            found = _secret_of(self._settings.providers[provider.id])
            return found or ""
        if not provider.has_secret:
            return ""
        return self._secrets.get(_own_scope(provider.org_id), _SECRETS + provider.id)

    def listed(self, access: Access) -> list[Provider]:
        """Those of the caller's organisation, the ones of the settings first."""
        self._members.require_organisation_owner(access)
        statement = sa.select(sign_on_providers).where(_P.org_id == access.scope.org_id)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(_P.created_at))
        mine = [each for each in self._of_settings() if each.org_id == access.scope.org_id]
        return [*mine, *(_provider(row) for row in rows)]

    def get(self, access: Access, provider_id: str) -> Provider:
        found = [each for each in self.listed(access) if each.id == provider_id]
        if not found:
            raise NotFound("There is no such sign-on provider in this organisation.")
        return found[0]

    def create(
        self, access: Access, document: ProviderDocument, client_secret: str | None
    ) -> Provider:
        if len(self.listed(access)) >= MOST_PROVIDERS:
            raise Conflict(f"An organisation has at most {MOST_PROVIDERS} sign-on providers.")
        self._refuse_foreign_projects(access.scope, document)
        provider_id, now = self._ids.new("idp"), self._clock.now()
        if client_secret:
            self._keep_secret(access, provider_id, client_secret)
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.insert(sign_on_providers).values(
                    id=provider_id,
                    home_id=access.scope.project_id,
                    document=document.model_dump(mode="json"),
                    has_secret=bool(client_secret),
                    revision=1,
                    created_at=now,
                    updated_at=now,
                    updated_by=access.user_id,
                )
            )
            self._events.append(
                tx, "sign_on.provider_saved", provider_id, _event_data(access, document, 1)
            )
        return self.get(access, provider_id)

    def change(
        self,
        access: Access,
        provider_id: str,
        revision: int,
        document: ProviderDocument,
        client_secret: str | None,
    ) -> Provider:
        """Replaces what is set; without a new secret the old one stays, unless it was for another provider."""
        before = self._changeable(access, provider_id)
        self._refuse_foreign_projects(access.scope, document)
        same = (before.issuer, before.document.client_id) == (document.issuer, document.client_id)
        with self._database.write(access.scope) as tx:
            done = tx.execute(
                sa.update(sign_on_providers)
                .where(_P.id == provider_id, _P.revision == revision)
                .values(
                    document=document.model_dump(mode="json"),
                    has_secret=bool(client_secret) or (same and before.has_secret),
                    revision=revision + 1,
                    updated_at=self._clock.now(),
                    updated_by=access.user_id,
                )
            )
            if done.rowcount == 0:
                raise Stale("The provider was changed by somebody else meanwhile. Reload it first.")
            if not document.enabled or before.issuer != document.issuer:
                tx.execute(sa.delete(sessions).where(sessions.c.provider_id == provider_id))
            self._events.append(
                tx,
                "sign_on.provider_saved",
                provider_id,
                _event_data(access, document, revision + 1),
            )
        if client_secret:
            self._keep_secret(access, provider_id, client_secret)
        elif not same:
            self._secrets.forget(_own_scope(access.scope.org_id), _SECRETS + provider_id)
        return self.get(access, provider_id)

    def delete(self, access: Access, provider_id: str) -> None:
        """Ends the sessions it began too; members stay until somebody removes them."""
        before = self._changeable(access, provider_id)
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.delete(sign_on_providers).where(_P.id == provider_id))
            tx.execute(sa.delete(sign_on_grants).where(sign_on_grants.c.provider_id == provider_id))
            tx.execute(sa.delete(sessions).where(sessions.c.provider_id == provider_id))
            self._events.append(
                tx.narrowed(access.scope),
                "sign_on.provider_deleted",
                provider_id,
                {"name": before.document.name, "by": access.user_id},
            )
        self._secrets.forget(_own_scope(access.scope.org_id), _SECRETS + provider_id)

    def _changeable(self, access: Access, provider_id: str) -> Provider:
        found = self.get(access, provider_id)
        if found.from_settings:
            raise Conflict(
                "This provider is set in the settings of the installation; change it there."
            )
        return found

    def _refuse_foreign_projects(self, scope: Scope, document: ProviderDocument) -> None:
        with self._database.read(EVERYWHERE) as tx:
            known = {
                row.id
                for row in tx.rows(
                    sa.select(projects.c.id).where(
                        projects.c.org_id == scope.org_id, projects.c.deleted_at.is_(None)
                    )
                )
            }
        problems = [
            Problem(f"/rules/{place}/project_id", "There is no such project in this organisation.")
            for place, rule in enumerate(document.rules)
            if rule.project_id not in known
        ]
        if problems:
            raise Invalid("A rule names a project that is not there.", problems=problems)

    def _keep_secret(self, access: Access, provider_id: str, value: str) -> None:
        self._secrets.set(
            _own_scope(access.scope.org_id), _SECRETS + provider_id, value, author=access.user_id
        )

    def _of_settings(self) -> list[Provider]:
        """They belong to the organisation that was there first."""
        if not self._settings.providers:
            return []
        with self._database.read(EVERYWHERE) as tx:
            alive = tx.rows(
                sa.select(projects.c.id, projects.c.org_id, projects.c.name)
                .where(projects.c.deleted_at.is_(None))
                .order_by(projects.c.created_at, projects.c.id)
            )
        if not alive:
            return []
        org_id, home_id = alive[0].org_id, alive[0].id
        mine = [row for row in alive if row.org_id == org_id]
        return [
            Provider(
                id=name,
                org_id=org_id,
                home_id=home_id,
                document=_document_of(given, mine),
                has_secret=_secret_of(given) is not None,
                from_settings=True,
            )
            for name, given in self._settings.providers.items()
        ]


def checked_issuer(issuer: str) -> str:
    """The address as it is written, if tokens can be trusted to come from there."""
    return checked_address(issuer, "The issuer", query=False)


def checked_address(address: str, what: str, *, query: bool = True) -> str:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    except ValueError:
        host, secure, parts = "", False, urlsplit("")
    if not host or not secure or parts.username is not None or parts.fragment:
        raise ValueError(f"{what} is an address that begins with https://.")
    if parts.query and not query:
        raise ValueError(f"{what} has no question mark in it.")
    return address


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _own_scope(org_id: str) -> Scope:
    """Where an organisation's own secrets are kept."""
    return Scope(org_id, org_id)


def _event_data(access: Access, document: ProviderDocument, revision: int) -> dict[str, Any]:
    return {
        "by": access.user_id,
        "name": document.name,
        "issuer": document.issuer,
        "rules": len(document.rules),
        "revision": revision,
    }


def _secret_of(given: SignOnProvider) -> str | None:
    if given.client_secret is not None:
        return given.client_secret.get_secret_value()
    found = (
        secret_from_environment(given.client_secret_variable)
        if given.client_secret_variable
        else None
    )
    return found.get_secret_value() if found is not None else None


def _document_of(given: SignOnProvider, alive: Sequence[sa.Row[Any]]) -> ProviderDocument:
    by_name = {row.name: row.id for row in alive} | {row.id: row.id for row in alive}
    return ProviderDocument(
        name=given.name,
        issuer=given.issuer,
        client_id=given.client_id,
        scopes=given.scopes,
        # A rule for a project that is not there gives nothing.
        rules=[
            RoleRule(
                claim=rule.claim,
                value=rule.value,
                project_id=by_name[rule.project],
                role=rule.role,
            )
            for rule in given.rules
            if rule.project in by_name
        ],
        just_in_time=given.just_in_time,
        join_verified_email=given.join_verified_email,
        session_hours=given.session_hours,
    )


def _provider(row: sa.Row[Any]) -> Provider:
    return Provider(
        id=row.id,
        org_id=row.org_id,
        home_id=row.home_id,
        document=ProviderDocument.model_validate(row.document),
        has_secret=row.has_secret,
        revision=row.revision,
        updated_at=row.updated_at,
        updated_by=row.updated_by,
    )
