"""What triggers share whose source is at an address that is a secret: it names a user and a password."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from urllib.parse import SplitResult, urlsplit

from pydantic import Field

from steward.connections import Address, Place
from steward.core import Invalid, NotFound, Problem
from steward.playbooks.trigger import Looking, Trigger
from steward.store import OWN_SECRETS
from steward.tools import HTTP, SECRETS


class SecretAddressTrigger(Trigger):
    url_secret: str = Field(
        min_length=1,
        max_length=100,
        description="Name of the project's secret with the address, user and password.",
    )

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        if self.url_secret.startswith(OWN_SECRETS):
            yield Problem("/url_secret", "is one of Steward's own; choose another name")

    def first_look(self, now: datetime) -> datetime:
        return now


async def secret_address(
    looking: Looking, name: str, *, ports: Mapping[str, int], example: str
) -> tuple[SplitResult, int]:
    """The address in parts, and its port; `ports` has the usual one of each scheme."""
    try:
        text = await asyncio.to_thread(looking.services.use(SECRETS).get, looking.scope, name)
    except NotFound:
        raise NotFound(f"The secret {name!r} is not set.") from None
    parts = urlsplit(text)
    try:
        found = parts.port or ports.get(parts.scheme, 0)
    except ValueError:
        found = 0
    # Further hosts and options could lead elsewhere than to what was checked.
    is_plain = parts.hostname and "," not in parts.netloc and "host" not in parts.query
    if parts.scheme not in ports or not is_plain or not found:
        raise Invalid(f"The secret {name!r} is not an address such as {example}.")
    return parts, found


async def checked_address(looking: Looking, parts: SplitResult, port: int) -> Address:
    """The first address of the host that may be called."""
    http = looking.services.use(HTTP)
    return (await http.checked_addresses(Place(parts.scheme, str(parts.hostname), port)))[0]
