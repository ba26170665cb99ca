"""The room's door: connections by name, opened for the tool that uses them; one attribute per noun."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.installed import InstalledServices
from steward.connections.catalogue.rates import Rates
from steward.connections.catalogue.shelf import Shelf
from steward.connections.catalogue.sign_in import ServiceSignIns
from steward.connections.connector import Databases, Surroundings, Use
from steward.connections.discovery import Discovery
from steward.connections.documents import Connection, Connections
from steward.connections.folders import Folders
from steward.connections.health import Health, Opened
from steward.connections.http import Http
from steward.connections.keepers import Keepers
from steward.connections.mail import Mailer
from steward.connections.mcp.sign_in import SignIns
from steward.connections.network import NetworkPolicies
from steward.connections.sign_in_sessions import Status
from steward.connections.tools import ServerTool, ServerTools
from steward.core import Clock, Ids, Invalid, Settings, reaching_for
from steward.identity import Access, Identity, Role
from steward.store import BlobStore, Database, EventLog, Scope, SecretStore


class Desk:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        secrets: SecretStore,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        identity: Identity,
        http: Http,
        mail: Mailer,
        databases: Databases,
        blobs: BlobStore,
        network: NetworkPolicies,
    ) -> None:
        self.network = network
        chosen = settings.connections
        home: Path = settings.home
        around = Surroundings(http, mail, Folders.of(chosen.file_folders, home), databases)
        self.documents = Connections(database, secrets, events, clock, ids)
        self.sign_ins = SignIns(database, secrets, events, clock, http)
        self.services = InstalledServices(database, blobs, events, clock, Shelf(home.resolve()))
        self.service_sign_ins = ServiceSignIns(
            database, secrets, events, clock, http, self.services
        )
        self.health = Health(
            self.documents,
            database,
            secrets,
            events,
            clock,
            ids,
            around,
            self.sign_ins,
            self.service_sign_ins,
            network,
        )
        self.tools = ServerTools(database, events, clock)
        self.keepers = Keepers(identity)
        self.discovery = Discovery(
            self.documents, self.keepers, database, events, clock, enabled=chosen.discovery
        )
        self.calls = ServiceCalls(http, clock, Rates(database, clock))
        self.around = around

    def named(self, scope: Scope, name: str, *uses: Use) -> Connection:
        """The connection a tool was given the name of; refused if it is of no use to that tool."""
        found = self.documents.named(scope, name)
        if found.connector.use not in uses:
            raise Invalid(
                f"The connection {name!r} is a {found.connector.title}, which this tool cannot use.",
                code="wrong-kind",
            )
        return found

    def open(self, scope: Scope, connection: Connection) -> Opened:
        return self.health.open(scope, connection)

    def accept_program(self, access: Access, connection_id: str, shown: str) -> Connection:
        """Lets a connection start its program: it runs with the rights of Steward, so a keeper says so."""
        self.keepers.require(access, "let a program be started on this machine")
        return self.documents.accept_program(access, connection_id, shown)

    async def look_at_tools(self, access: Access, connection_id: str) -> list[ServerTool]:
        """Asks an MCP server what it offers now, and keeps it for somebody to look at."""
        from steward.connections.mcp.client import list_tools

        access.require(Role.admin)
        scope = access.scope
        connection = await asyncio.to_thread(self.documents.get, scope, connection_id)
        opened = await asyncio.to_thread(self._server, scope, connection)
        with reaching_for(scope):
            found = await list_tools(
                self.around.http, opened.settings, opened.secrets, line=opened.line
            )
        await asyncio.to_thread(self.tools.saw, scope, connection, found.tools)
        return await asyncio.to_thread(self.tools.listed, scope, connection_id)

    async def call_tool(
        self,
        scope: Scope,
        connection: Connection,
        name: str,
        arguments: Mapping[str, Any],
        accepted: str,
        seconds: float,
    ) -> Any:
        """What an accepted tool answers; one that has changed is not called, and must be accepted anew."""
        from steward.connections.mcp.client import ToolChanged, call_tool

        opened = await asyncio.to_thread(self._server, scope, connection)
        http, settings, secrets = self.around.http, opened.settings, opened.secrets
        try:
            with reaching_for(scope):
                return await call_tool(
                    http, settings, secrets, name, arguments, accepted, seconds, opened.line
                )
        except ToolChanged as problem:
            await asyncio.to_thread(self.tools.saw, scope, connection, problem.listing.tools)
            raise

    async def start_sign_in(
        self, access: Access, connection_id: str, redirect_uri: str, metadata_url: str | None
    ) -> str:
        """Where a person must go to sign in to a server."""
        access.require(Role.admin)
        connection = await asyncio.to_thread(self.documents.get, access.scope, connection_id)
        if connection.connector.use != "mcp":
            start = self.service_sign_ins.start
            return await asyncio.to_thread(start, access, connection, redirect_uri)
        opened = await asyncio.to_thread(self._server, access.scope, connection)
        with reaching_for(access.scope):
            return await self.sign_ins.start(
                access, connection, opened.secrets, redirect_uri, metadata_url
            )

    async def finish_sign_in(
        self, access: Access, connection_id: str, state: str, answer: Mapping[str, str]
    ) -> Connection:
        """Keeps the tokens that a sign-in led to, and tries the connection with them."""
        access.require(Role.admin)
        connection = await asyncio.to_thread(self.documents.get, access.scope, connection_id)
        if connection.connector.use != "mcp":
            opened = await asyncio.to_thread(self.open, access.scope, connection)
            with reaching_for(access.scope):
                await self.service_sign_ins.finish(
                    access, connection, opened.secrets, state, answer
                )
            if connection.connector.use == "service":
                # Its first call shows whether it accepts the token.
                return connection
        else:
            opened = await asyncio.to_thread(self._server, access.scope, connection)
            with reaching_for(access.scope):
                await self.sign_ins.finish(access, connection, opened.secrets, state, answer)
        await self.health.check(access.scope, connection_id, access.user_id)
        return connection

    async def sign_out(self, access: Access, connection_id: str) -> None:
        connection = await asyncio.to_thread(self.documents.get, access.scope, connection_id)
        if connection.connector.use != "mcp":
            await asyncio.to_thread(self.service_sign_ins.sign_out, access, connection)
        else:
            with reaching_for(access.scope):
                await self.sign_ins.sign_out(access, connection)

    def sign_in_status(self, scope: Scope, connection: Connection) -> Status | None:
        """None where nobody signs in to what the connection leads to."""
        signs = self.sign_ins if connection.connector.use == "mcp" else self.service_sign_ins
        return signs.status(scope, connection)

    def _server(self, scope: Scope, connection: Connection) -> Opened:
        if connection.connector.use != "mcp":
            raise Invalid(
                f"The connection {connection.name!r} is no MCP server.", code="wrong-kind"
            )
        return self.open(scope, connection)
