"""Where the servers of models may be: this machine and its networks are for those who keep it."""

import asyncio
from urllib.parse import urlsplit

from steward.connections import Desk
from steward.connections.addresses import Allowed, resolve_by_system, resolve_checked
from steward.connections.hosts import place_of
from steward.core import Settings
from steward.core.errors import Denied
from steward.identity import Access


class Addresses:
    """Where models may be: public addresses for everyone, this machine and its networks for its keepers."""

    def __init__(self, settings: Settings, connections: Desk) -> None:
        self._allowed = Allowed.parse(settings.network.allow_private)
        self._keepers = connections.keepers

    def permit(self, access: Access, address: str) -> bool:
        place_of(address)
        if self._keepers.include(access):
            return True
        try:
            asyncio.run(self.reach(address))
        except Denied as refused:
            raise Denied(
                f"{refused.message} An owner of the organisation that runs this installation can add it.",
                code=refused.specific_code,
            ) from None
        return False

    async def reach(self, address: str) -> None:
        """Raises where an address is not public and no administrator has named it."""
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        await resolve_checked(
            parts.hostname or "", port, resolve=resolve_by_system, allowed=self._allowed
        )
