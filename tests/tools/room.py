"""Where tools are called in tests: an installation with sample data, and contexts for calls."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from steward.app import Steward
from steward.broker.tool import Outcome, Preview, Tool, ToolContext
from steward.core import Services, reaching_for
from steward.core.services import Offer
from steward.runs import Found, Reconciled, Ticket, digest
from steward.store import Scope
from steward.tools import load_tools
from steward.versions import Workspace, on_ticket

T = TypeVar("T")
RUN = "run_00000000000000000000000001"


@dataclass
class Room:
    steward: Steward
    scope: Scope
    author: str

    def context(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        ticket: str | None = None,
        payload: Any = None,
        **services: Any,
    ) -> ToolContext:
        known = {
            "workbench": self.steward.workbench,
            "secrets": self.steward.secrets,
            "blobs": self.steward.blobs,
            "clock": self.steward.clock,
        }
        body = {"payload": payload}
        return ToolContext(
            scope=self.scope,
            run_id=RUN,
            author=self.author,
            branch="main",
            services=Services(*(Offer(*each) for each in (known | services).items())),
            settings=settings or {},
            ticket=Ticket(digest(ticket), digest(body), body) if ticket else None,
        )

    @property
    def workspace(self) -> Workspace:
        return self.steward.workbench.datasets.workspace(self.scope, self.author)

    def call(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext | None = None
    ) -> Outcome:
        """Runs a tool, on a ticket where the context has one."""
        return run(self.calling(name, arguments, context))

    async def calling(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext | None = None
    ) -> Outcome:
        tool, checked = _checked(name, arguments)
        context = context or self.context()
        ticket = context.ticket.idempotency_key if context.ticket else None
        with on_ticket(ticket), reaching_for(self.scope):
            return await tool.run(context, checked)

    def preview(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext | None = None
    ) -> Preview:
        tool, checked = _checked(name, arguments)
        assert tool.dry_run is not None
        with reaching_for(self.scope):
            return run(tool.dry_run(context or self.context(), checked))

    def reconcile(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext
    ) -> Reconciled:
        tool, checked = _checked(name, arguments)
        if tool.reconcile is None:
            return Reconciled(Found.unknown)
        assert context.ticket is not None
        with reaching_for(self.scope):
            return run(tool.reconcile(context, checked, context.ticket))

    def after(self, context: ToolContext, preview: Preview) -> ToolContext:
        """The context of the call that a preview was shown for."""
        assert context.ticket is not None
        body = {"payload": preview.payload}
        ticket = Ticket(context.ticket.idempotency_key, digest(body), body)
        return replace(context, ticket=ticket)

    def put_secret(self, name: str, value: str) -> None:
        self.steward.secrets.set(self.scope, name, value, author=self.author)


def run(work: Awaitable[T]) -> T:
    async def main() -> T:
        async with asyncio.timeout(30):
            return await work

    return asyncio.run(main())


def _checked(name: str, arguments: Mapping[str, Any]) -> tuple[Tool[Any], Any]:
    tool = load_tools().get(name)
    return tool, tool.arguments.model_validate(dict(arguments))
