"""Wires single sign-on: identity decides, and what goes out goes by the checked way."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from steward.app.foundation import Foundation
from steward.connections import Http, HttpAnswer, HttpLimits
from steward.identity.sign_on import Admission, Issuers, Logouts, Providers, SignOn

_LIMITS: Final = HttpLimits(response_bytes=1 << 20, time=timedelta(seconds=10))


class CheckedWay:
    """Requests to providers: to checked addresses only, short, small, and never along a redirect."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        secret_headers: Mapping[str, str],
        body: bytes = b"",
    ) -> HttpAnswer:
        return await self._http.request(
            method,
            url,
            headers=headers,
            secret_headers=secret_headers,
            body=body,
            follow=False,
            limits=_LIMITS,
        )


def open_sign_on(base: Foundation) -> SignOn:
    settings, database, events, clock = base.settings, base.database, base.events, base.clock
    identity = base.identity
    providers = Providers(
        database, base.secrets, events, clock, base.ids, identity.members, settings.sign_on
    )
    admission = Admission(
        database,
        clock,
        events,
        identity.users,
        identity.sessions,
        identity.members,
        identity.invitations,
    )
    issuers = Issuers(CheckedWay(base.http), clock)
    logouts = Logouts(database, clock, events)
    return SignOn(providers, issuers, admission, logouts, base.keyring, clock)
