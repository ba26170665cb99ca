"""Passkeys of the signed-in person, and signing in with one."""

from datetime import datetime
from typing import Any

from fastapi import Request, Response, status
from pydantic import Field

from steward.api.context import address_of, steward_of
from steward.api.documents import Input, Name, Output
from steward.api.guards import AsAnyone, AsPerson, AsSettingUp, cookie_name
from steward.api.routes.session import SessionOut, is_encrypted, start_session
from steward.api.routing import Router
from steward.api.types import PasskeyId
from steward.identity import Origin, RelyingParty, relying_party

router = Router(tags=["session"])

_SIGN_IN = "/session/passkey"
_LIFETIME_SECONDS = 300


class PasskeyOut(Output):
    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeyOptionsOut(Output):
    public_key: dict[str, Any] = Field(
        description="For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`."
    )


class PasskeyBegin(Input):
    password: str | None = Field(
        None,
        max_length=1000,
        description="The current password; not needed within ten minutes of the sign-in.",
    )


class PasskeyAnswer(Input):
    credential: dict[str, Any] = Field(description="As `PublicKeyCredential.toJSON()` writes it.")


class NewPasskey(PasskeyAnswer):
    name: Name


@router.get("/me/passkeys")
def list_passkeys(request: Request, principal: AsSettingUp) -> list[PasskeyOut]:
    found = steward_of(request).identity.passkeys.listed(principal.user_id)
    return [PasskeyOut.model_validate(each) for each in found]


@router.post("/me/passkeys/options")
def begin_passkey(
    request: Request, principal: AsSettingUp, body: PasskeyBegin
) -> PasskeyOptionsOut:
    """What the browser needs to make a passkey; the answer goes to `POST /me/passkeys` within five minutes."""
    options = steward_of(request).identity.passkeys.begin(
        principal, _party(request), body.password, address=address_of(request)
    )
    return PasskeyOptionsOut(public_key=options)


@router.post("/me/passkeys", status_code=status.HTTP_201_CREATED)
def add_passkey(request: Request, principal: AsSettingUp, body: NewPasskey) -> PasskeyOut:
    made = steward_of(request).identity.passkeys.add(
        principal, _party(request), body.name, body.credential
    )
    return PasskeyOut.model_validate(made)


@router.delete("/me/passkeys/{passkey_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_passkey(request: Request, principal: AsPerson, passkey_id: PasskeyId) -> None:
    """Also signs out the other browsers that signed in with it."""
    steward_of(request).identity.passkeys.remove(
        principal.user_id, passkey_id, by=principal.user_id, keep_session=principal.session_id
    )


@router.post(_SIGN_IN + "/options", dependencies=[AsAnyone])
def begin_passkey_sign_in(request: Request, response: Response) -> PasskeyOptionsOut:
    """What the browser needs to ask for a passkey; a cookie binds the answer to this browser."""
    holder, options = steward_of(request).identity.passkeys.begin_sign_in(_party(request))
    response.set_cookie(
        _cookie(request),
        holder,
        max_age=_LIFETIME_SECONDS,
        httponly=True,
        samesite="strict",
        secure=is_encrypted(request),
        path=f"/api/v1{_SIGN_IN}",
    )
    return PasskeyOptionsOut(public_key=options)


@router.post(_SIGN_IN, status_code=status.HTTP_201_CREATED, dependencies=[AsAnyone])
def sign_in_with_passkey(request: Request, response: Response, body: PasskeyAnswer) -> SessionOut:
    session = steward_of(request).identity.passkeys.sign_in(
        _party(request),
        request.cookies.get(_cookie(request), ""),
        body.credential,
        Origin(request.headers.get("user-agent", ""), address_of(request)),
    )
    response.delete_cookie(_cookie(request), path=f"/api/v1{_SIGN_IN}")
    return start_session(request, response, session)


def _party(request: Request) -> RelyingParty:
    # The name in the request is the visitor's word: without a public address, only one's own machine counts.
    here = str(request.base_url) if request.url.hostname == "localhost" else ""
    return relying_party(steward_of(request).settings.http.public_url or here)


def _cookie(request: Request) -> str:
    return f"{cookie_name(steward_of(request).settings.http)}_passkey"
