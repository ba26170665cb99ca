"""Wires models: of the settings, set up by people, of this machine; and which addresses they may be at."""

import asyncio
from collections.abc import Sequence
from typing import Final
from urllib.request import getproxies

import httpx2

from steward.app.foundation import Foundation
from steward.connections import Desk, place_of
from steward.core import Denied, NetworkLevel, reaching_for
from steward.identity import Access
from steward.models import AbilityMemory, ConfiguredModels, Setups
from steward.models.local import LocalServers, Shelf
from steward.tools import KEEPS_MACHINE, LOCAL_MODELS

_MOST_BYTES: Final = 256 << 20
"""Of one answer of a model."""


class Addresses:
    """Where models may be: public addresses for everyone, this machine and its networks for its keepers."""

    def __init__(self, connections: Desk) -> None:
        self._public = connections.around.http
        self._inside = self._public.inside()
        self._network = connections.network
        self._keepers = connections.keepers

    def permit(self, access: Access, address: str) -> bool:
        place_of(address)
        if self._keepers.include(access):
            return True
        try:
            with reaching_for(access.scope):
                asyncio.run(self.reach(address, False))
        except Denied as refused:
            raise Denied(
                f"{refused.message} An owner of the organisation that runs this installation can add it.",
                code=refused.specific_code,
            ) from None
        return False

    async def reach(self, address: str, near: bool) -> httpx2.AsyncBaseTransport | None:
        """Raises where a model must not be asked; the line leads to the address that was looked at.

        `near`: an administrator has named the address, so that only the network policy counts.
        """
        if near and not any(each.rules.says_something for each in await self._levels()):
            return None
        http = self._inside if near else self._public
        await http.checked_addresses(place_of(address))
        # A proxy looks the name up itself, so there it stays at the check.
        return None if getproxies() else http.transport(_MOST_BYTES)

    async def _levels(self) -> Sequence[NetworkLevel]:
        return await asyncio.to_thread(self._network.levels_here)


def open_models(base: Foundation, connections: Desk) -> ConfiguredModels:
    """The models, with what tools may use of them among the services."""
    settings, database, clock = base.settings, base.database, base.clock
    servers = LocalServers(Shelf(settings.home.resolve() / "models"))
    base.services.add(LOCAL_MODELS.of(servers), KEEPS_MACHINE.of(connections.keepers.keeps))
    addresses = Addresses(connections)
    owns = base.identity.members.owns_organisation
    setups = Setups(database, base.secrets, base.events, clock, addresses.permit, owns)
    return ConfiguredModels(
        settings.models,
        base.secrets,
        setups=setups,
        memory=AbilityMemory(database, clock),
        reach=addresses.reach,
        servers=servers,
    )
