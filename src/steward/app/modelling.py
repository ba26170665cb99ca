"""Wires models: of the settings, set up by people, of this machine; and which addresses they may be at."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

from steward.connections import Allowed, Desk, place_of, resolve_by_system, resolve_checked
from steward.core import Clock, Denied, Settings
from steward.identity import Access, Identity
from steward.models import AbilityMemory, ConfiguredModels, Setups
from steward.models.local import LocalServers, Shelf
from steward.store import Database, EventLog, SecretStore


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


def open_models(
    settings: Settings,
    database: Database,
    secrets: SecretStore,
    events: EventLog,
    clock: Clock,
    identity: Identity,
    connections: Desk,
    services: dict[str, Any],
) -> ConfiguredModels:
    """The models, with what tools may use of them among the services."""
    servers = LocalServers(Shelf(settings.home.resolve() / "models"))
    services |= {"local_models": servers, "keeps_machine": connections.keepers.keeps}
    addresses = Addresses(settings, connections)
    setups = Setups(
        database, secrets, events, clock, addresses.permit, identity.members.owns_organisation
    )
    return ConfiguredModels(
        settings.models,
        secrets,
        setups=setups,
        memory=AbilityMemory(database, clock),
        reach=addresses.reach,
        servers=servers,
    )
