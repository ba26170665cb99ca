"""Passkeys (WebAuthn): people sign in with what their device or security key holds, without a password.

A passkey is two steps in one: the device, and the finger, face or PIN that unlocks it. So it is always asked
to verify the person, and always one that says by itself whose it is.

The library is imported where it is used: that takes most of a second, and hardly any command needs it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address
from secrets import token_bytes
from typing import Any, Final
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from steward.core import (
    Clock,
    Conflict,
    Denied,
    Ids,
    Invalid,
    NotFound,
    Unauthenticated,
)
from steward.identity._tables import (
    organisation_members,
    passkey_challenges,
    passkeys,
    project_members,
    projects,
    sessions,
    sign_on_identities,
    users,
)
from steward.identity.credentials import new_token, token_hash
from steward.identity.principals import Principal
from steward.identity.second_step import refuse_password_alone
from steward.identity.sessions import NewSession, Origin, Sessions
from steward.identity.users import Users, checked_name
from steward.store import EVERYWHERE, Database, EventLog, News, Scope, Transaction
from steward.trace import get_logger

LIFETIME: Final = timedelta(minutes=5)
"""How long a browser may take to answer a challenge."""
_FRESH: Final = timedelta(minutes=10)
_MOST: Final = 20
_CHALLENGE_BYTES: Final = 32
_NAME: Final = "Steward"
_logger = get_logger("steward.passkeys")
Credential = Mapping[str, Any]
"""What the browser says, as `PublicKeyCredential.toJSON()` writes it."""


@dataclass(frozen=True)
class Passkey:
    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class RelyingParty:
    """Whom a passkey is for: the name in the address that people use. It works nowhere else."""

    id: str
    origin: str


def relying_party(address: str) -> RelyingParty:
    """Of the public address; browsers know passkeys only for names, and only on encrypted connections."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    implied = {"https": 443, "http": 80 if host == "localhost" else None}.get(parts.scheme)
    if not host or _is_number(host) or implied is None:
        raise Conflict(
            "Passkeys need an encrypted connection and a name in the address. Set STEWARD_HTTP__PUBLIC_URL to the "
            "https address that people use. On your own machine, open Steward as http://localhost.",
            code="passkeys-need-public-url",
        )
    # Browsers leave out the port that the scheme implies.
    port = "" if parts.port in (None, implied) else f":{parts.port}"
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")


@dataclass(eq=False, repr=False)
class Passkeys:
    _database: Database
    _clock: Clock
    _ids: Ids
    _events: EventLog
    _people: Users
    _sessions: Sessions

    def listed(self, user_id: str) -> list[Passkey]:
        statement = sa.select(passkeys).where(passkeys.c.user_id == user_id)
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(statement.order_by(passkeys.c.created_at, passkeys.c.id))
        return [Passkey(row.id, row.name, row.created_at, row.last_used_at) for row in rows]

    def begin(
        self, principal: Principal, party: RelyingParty, password: str | None, *, address: str
    ) -> dict[str, Any]:
        """What the browser needs to make a passkey; for who proves once more who they are."""
        from webauthn import generate_registration_options
        from webauthn.helpers import structs

        mine = self._confirmed(principal, password, address)
        options = generate_registration_options(
            rp_id=party.id,
            rp_name=_NAME,
            user_id=principal.user_id.encode(),
            user_name=principal.email,
            user_display_name=principal.name,
            challenge=self._new_challenge(principal.session_id or "", principal.user_id),
            timeout=int(LIFETIME / timedelta(milliseconds=1)),
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[
                structs.PublicKeyCredentialDescriptor(id=each.credential_id) for each in mine
            ],
        )
        return _as_document(options)

    def add(
        self, principal: Principal, party: RelyingParty, name: str, credential: Credential
    ) -> Passkey:
        from webauthn import verify_registration_response

        challenge = self._answered(credential, principal.session_id or "")
        name = checked_name(name)
        try:
            made = verify_registration_response(
                credential=dict(credential),
                expected_challenge=challenge,
                expected_rp_id=party.id,
                expected_origin=party.origin,
                require_user_verification=True,
            )
        except _refusals() as error:
            raise Invalid(_not_valid(party, error), code="passkey-refused") from None
        row: dict[str, Any] = {
            "id": self._ids.new("psk"),
            "user_id": principal.user_id,
            "name": name,
            "credential_id": made.credential_id,
            "public_key": made.credential_public_key,
            "sign_count": made.sign_count,
            "created_at": self._clock.now(),
        }
        try:
            with self._database.write(EVERYWHERE) as tx:
                refuse_password_alone(tx, principal.session_id)
                tx.execute(sa.insert(passkeys).values(**row))
                # The person has just used it here.
                unbound = sessions.c.provider_id.is_(None) & sessions.c.passkey_id.is_(None)
                tx.execute(
                    sa.update(sessions)
                    .where(sessions.c.id == principal.session_id, unbound)
                    .values(passkey_id=row["id"])
                )
                self._tell(tx, "added", principal.user_id, name, by=principal.user_id)
        except IntegrityError:
            raise Conflict("This passkey is already set up.") from None
        return Passkey(row["id"], name, row["created_at"], None)

    def remove(
        self,
        user_id: str,
        passkey_id: str,
        *,
        by: str | None = None,
        keep_session: str | None = None,
    ) -> None:
        """Also ends the sessions that began with it."""
        mine = (passkeys.c.id == passkey_id) & (passkeys.c.user_id == user_id)
        with self._database.write(EVERYWHERE) as tx:
            row = tx.first(sa.select(passkeys).where(mine).with_for_update())
            if row is None:
                raise NotFound("There is no such passkey; it may have been removed already.")
            tx.execute(sa.delete(passkeys).where(mine))
            tx.execute(
                sa.delete(sessions).where(
                    sessions.c.passkey_id == passkey_id, sessions.c.id != (keep_session or "")
                )
            )
            self._tell(tx, "removed", user_id, row.name, by=by)

    def begin_sign_in(self, party: RelyingParty) -> tuple[str, dict[str, Any]]:
        """A token that the browser keeps meanwhile, and what it needs to ask for a passkey."""
        from webauthn import generate_authentication_options
        from webauthn.helpers.structs import UserVerificationRequirement

        holder = new_token("stp")
        options = generate_authentication_options(
            rp_id=party.id,
            challenge=self._new_challenge(holder),
            timeout=int(LIFETIME / timedelta(milliseconds=1)),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return holder, _as_document(options)

    def sign_in(
        self, party: RelyingParty, holder: str, credential: Credential, origin: Origin
    ) -> NewSession:
        challenge = self._answered(credential, holder)
        row, count = self._verified(party, credential, challenge)
        # Devices that count say a higher number each time; a copy of the passkey falls behind.
        rises = (passkeys.c.sign_count < count) | sa.and_(
            passkeys.c.sign_count == 0, sa.literal(count) == 0
        )
        used = {"sign_count": count, "last_used_at": self._clock.now()}
        with self._database.write(EVERYWHERE) as tx:
            done = tx.execute(
                sa.update(passkeys).where(passkeys.c.id == row.id, rises).values(used)
            )
            if done.rowcount == 1:
                session = self._sessions.open_within(
                    tx, row.user_id, replace(origin, passkey_id=row.id)
                )
                self._tell(tx, "signed_in", row.user_id, row.name, by=row.user_id)
                return session
            self._tell(tx, "refused", row.user_id, row.name, by=None, reason="copied")
        raise Unauthenticated(
            "This passkey may have been copied: it was used elsewhere since. Sign in another way, and remove it in "
            "your profile.",
            code="passkey-copied",
        )

    def _confirmed(
        self, principal: Principal, password: str | None, address: str
    ) -> Sequence[sa.Row[Any]]:
        """Their passkeys so far. Somebody at an unlocked screen could come back with a passkey of their own."""
        of_user = passkeys.c.user_id == principal.user_id
        vouching = sa.select(sign_on_identities.c.user_id).where(
            sign_on_identities.c.user_id == principal.user_id
        )
        with self._database.read(EVERYWHERE) as tx:
            refuse_password_alone(tx, principal.session_id)
            person = tx.execute(sa.select(users).where(users.c.id == principal.user_id)).one()
            vouched = tx.first(vouching)
            here = tx.first(sa.select(sessions).where(sessions.c.id == principal.session_id))
            mine = tx.rows(sa.select(passkeys).where(of_user))
        if person.password_hash is None and vouched is not None:
            # Otherwise somebody whom the provider no longer lets in would still come in here.
            raise Denied(
                "You sign in with a provider. Set up passkeys there.", code="signs-in-with-provider"
            )
        if len(mine) >= _MOST:
            raise Conflict(f"You have {_MOST} passkeys. Remove one first.")
        if password is not None:
            self._people.confirm_password(principal.user_id, password, address=address)
        elif here is None or here.created_at + _FRESH < self._clock.now():
            raise Denied(
                "Enter your current password, or sign out and in again first.",
                code="sign-in-again",
            )
        return mine

    def _new_challenge(self, holder: str, user_id: str | None = None) -> bytes:
        from webauthn.helpers import bytes_to_base64url

        made, now = token_bytes(_CHALLENGE_BYTES), self._clock.now()
        row = {
            "challenge": bytes_to_base64url(made),
            "holder_hash": token_hash(holder),
            "user_id": user_id,
            "expires_at": now + LIFETIME,
        }
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.delete(passkey_challenges).where(passkey_challenges.c.expires_at <= now))
            tx.execute(sa.insert(passkey_challenges).values(**row))
        return made

    def _answered(self, credential: Credential, holder: str) -> bytes:
        """The challenge that is answered; it is good once, whatever comes of it."""
        from webauthn import base64url_to_bytes

        given = _challenge_in(credential)
        deleted = sa.delete(passkey_challenges).where(
            passkey_challenges.c.challenge == given,
            passkey_challenges.c.holder_hash == token_hash(holder),
            passkey_challenges.c.expires_at > self._clock.now(),
        )
        with self._database.write(EVERYWHERE) as tx:
            if tx.execute(deleted).rowcount == 1:
                return base64url_to_bytes(given)
        raise Denied(
            "This took too long, was already used, or was begun in another browser. Try again.",
            code="passkey-expired",
        )

    def _verified(
        self, party: RelyingParty, credential: Credential, challenge: bytes
    ) -> tuple[sa.Row[Any], int]:
        """The passkey that signed the challenge, and how often its device says it was used."""
        from webauthn import base64url_to_bytes, verify_authentication_response

        try:
            named = passkeys.c.credential_id == base64url_to_bytes(credential["id"])
            owner = base64url_to_bytes(credential["response"]["userHandle"]).decode()
            with self._database.read(EVERYWHERE) as tx:
                row = tx.first(sa.select(passkeys).where(named, passkeys.c.user_id == owner))
            if row is None:
                raise Unauthenticated(
                    "Steward does not know this passkey. It may have been removed. Sign in another way.",
                    code="passkey-unknown",
                )
            found = verify_authentication_response(
                credential=dict(credential),
                expected_challenge=challenge,
                expected_rp_id=party.id,
                expected_origin=party.origin,
                credential_public_key=row.public_key,
                # What it should be is looked at where it is kept.
                credential_current_sign_count=0,
                require_user_verification=True,
            )
        except _refusals() as error:
            raise Unauthenticated(_not_valid(party, error), code="passkey-refused") from None
        return row, found.new_sign_count

    def _tell(
        self,
        tx: Transaction,
        what: str,
        user_id: str,
        name: str,
        *,
        by: str | None,
        reason: str = "",
    ) -> None:
        data = (
            {"passkey": name} | ({"by": by} if by else {}) | ({"reason": reason} if reason else {})
        )
        self._events.append_many(
            tx, [News(scope, f"passkey.{what}", user_id, data) for scope in _places(tx, user_id)]
        )


def _places(tx: Transaction, user_id: str) -> list[Scope]:
    """Where a person's sign-ins are told of: their projects, and the first one of an organisation they belong to."""
    direct = sa.select(project_members.c.org_id, project_members.c.project_id).where(
        project_members.c.user_id == user_id, project_members.c.removed_at.is_(None)
    )
    first = (
        sa.select(projects.c.org_id, sa.func.min(projects.c.id).label("project_id"))
        .join(organisation_members, organisation_members.c.org_id == projects.c.org_id)
        .where(organisation_members.c.user_id == user_id, projects.c.deleted_at.is_(None))
        .group_by(projects.c.org_id)
    )
    found = {(row.org_id, row.project_id) for each in (direct, first) for row in tx.rows(each)}
    return [Scope(*each) for each in sorted(found)]


def _challenge_in(credential: Credential) -> str:
    from webauthn import base64url_to_bytes

    try:
        said = json.loads(base64url_to_bytes(credential["response"]["clientDataJSON"]))
        return str(said["challenge"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def _refusals() -> tuple[type[Exception], ...]:
    """What is raised about answers that are not right, or no answers at all."""
    from webauthn.helpers.exceptions import WebAuthnException

    return (WebAuthnException, ValueError, LookupError, TypeError, AttributeError)


def _not_valid(party: RelyingParty, error: Exception) -> str:
    _logger.warning("passkey refused", reason=str(error))
    return f"Steward cannot accept this passkey. Open Steward at {party.origin} and try again."


def _as_document(options: Any) -> dict[str, Any]:
    from webauthn import options_to_json

    document: dict[str, Any] = json.loads(options_to_json(options))
    return document


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
