"""The tools of a project: the installed ones, and those that its own skills and connections bring along."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from pydantic import ConfigDict

from steward.broker.plans import Plan, validated
from steward.broker.tool import Arguments, Effects, Outcome, Risk, Tool, ToolContext
from steward.core import Bug, Conflict, Denied, Invalid, NotFound, Registry
from steward.runs import Json, Reconciled, Ticket
from steward.store import Scope


class Provider(Protocol):
    """Brings tools that differ from project to project. Every one has a `pin` that names its exact version."""

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        """The tool of this full name: the one in force, or exactly the pinned one. NotFound when there is none."""
        ...

    def listed(self, scope: Scope) -> Iterable[Tool[Any]]:
        """What the project has at present."""
        ...


@runtime_checkable
class SearchedProvider(Protocol):
    """Has more tools than anybody wants listed: those that fit a request are searched for."""

    def suited(self, scope: Scope, text: str) -> Iterable[Tool[Any]]: ...


class Toolbox:
    """Finds a tool for a project by its name; `skill.…` and the like are asked of their providers."""

    def __init__(self, installed: Registry[Tool[Any]]) -> None:
        self.installed = installed
        self._providers: dict[str, Provider] = {}

    def provide(self, word: str, provider: Provider) -> None:
        """From now on names that begin with this word and a dot are the provider's."""
        if word in self._providers:
            raise Bug(f"Two providers want to bring the tools {word}.…")
        self._providers[word] = provider

    def get(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        word, dot, _ = name.partition(".")
        provider = self._providers.get(word) if dot else None
        if provider is None:
            return self.installed.get(name)
        found = provider.find(scope, name, pin)
        if found.pin is None:
            raise Bug(f"The tool {name!r} does not say which version of it this is.")
        return found

    def listed(self, scope: Scope | None) -> list[Tool[Any]]:
        """All tools of a project by name; without a project, the installed ones."""
        found = [tool for _, tool in self.installed if not tool.memory_only]
        if scope is not None:
            for provider in self._providers.values():
                found += provider.listed(scope)
        return sorted(found, key=lambda tool: tool.name)

    def suited(self, scope: Scope, text: str) -> list[Tool[Any]]:
        """Tools that are not listed, because there are too many, and that fit the words of a request."""
        found: list[Tool[Any]] = []
        for provider in self._providers.values():
            if isinstance(provider, SearchedProvider):
                found += provider.suited(scope, text)
        return found

    def searched(self, scope: Scope, names: Iterable[str]) -> dict[str, Tool[Any]]:
        """Those of the names that are tools which are searched for instead of listed."""
        found: dict[str, Tool[Any]] = {}
        for name in names:
            if not isinstance(self._providers.get(name.partition(".")[0]), SearchedProvider):
                continue
            try:
                found[name] = self.get(scope, name)
            except (NotFound, Denied, Invalid):
                continue
        return found

    def names(self, scope: Scope) -> list[str]:
        return [tool.name for tool in self.listed(scope)]

    def planned(self, plan: Plan) -> Tool[Any]:
        """The tool of a call that was planned: as it was then, whatever became of it since.

        What is recorded needs nothing else, so a journal replays long after a skill is gone. Only when the
        call really happens is the pinned version looked for.
        """
        if plan.pinned is None:
            return self.installed.get(plan.tool)
        known = plan.pinned

        async def run(context: ToolContext, arguments: Arguments) -> Outcome:
            live = self._live(context.scope, plan)
            return await live.run(context, validated(live, arguments.model_dump(mode="json")))

        async def reconcile(
            context: ToolContext, arguments: Arguments, ticket: Ticket
        ) -> Reconciled:
            live = self._live(context.scope, plan)
            if live.reconcile is None:
                raise Bug(f"{plan.tool} can no longer look what happened.")
            checked = validated(live, arguments.model_dump(mode="json"))
            return await live.reconcile(context, checked, ticket)

        return Tool(
            name=plan.tool,
            title=known["title"],
            description="",
            arguments=_AsPlanned,
            risk=Risk(known["risk"]),
            run=run,
            effects=Effects(**known["effects"]),
            idempotent=known["idempotent"],
            reconcile=reconcile if known["reconciles"] else None,
            timeout=timedelta(seconds=known["seconds"]),
            attempts=known["attempts"],
            pin=known["pin"],
        )

    def _live(self, scope: Scope, plan: Plan) -> Tool[Any]:
        live = self.get(scope, plan.tool, plan.pinned["pin"])
        if live.pin != plan.pinned["pin"] or not live.risk.at_most(Risk(plan.pinned["risk"])):
            raise Conflict(
                f"{live.title} has changed since this call was planned. Start the run again.",
                code="tool-changed",
            )
        return live

    def known(self, plan: Plan) -> Tool[Any] | None:
        """The tool of a past call, as far as anybody remembers it."""
        try:
            return self.planned(plan)
        except NotFound:
            return None


def remembered(tool: Tool[Any]) -> Json:
    """What a plan keeps of a tool that may be gone tomorrow; None for installed ones."""
    if tool.pin is None:
        return None
    return {
        "pin": tool.pin,
        "title": tool.title,
        "risk": tool.risk.value,
        "effects": asdict(tool.effects),
        "idempotent": tool.idempotent,
        "reconciles": tool.reconcile is not None,
        "seconds": tool.timeout.total_seconds(),
        "attempts": tool.attempts,
    }


class _AsPlanned(Arguments):
    """Arguments that were checked when the call was planned."""

    model_config = ConfigDict(defer_build=True, extra="allow", frozen=True)
