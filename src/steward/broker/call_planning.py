"""Plans calls: what policy says of one as the project is at this moment, what it would cost and what it would do.

The same questions are asked three times: when a call is planned, when a person edits it, and just before it happens.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, TypeVar

from steward.broker.grants import Grant
from steward.broker.groups import Groups
from steward.broker.labels import Labels
from steward.broker.plans import (
    Facts,
    Plan,
    body_of,
    cost_from_json,
    cost_to_json,
    facts_of,
    validated,
)
from steward.broker.policy import (
    Amounts,
    Asker,
    Decision,
    Origin,
    PolicySet,
    Question,
    Resource,
    decide,
)
from steward.broker.policy_text import PolicyVerdict
from steward.broker.rulebook import ProjectSettings, Rulebook
from steward.broker.tool import Arguments, Cost, Notebook, Risk, Tool, ToolContext
from steward.broker.toolbox import Toolbox, remembered
from steward.core import Denied, Services, Unavailable, copied, reaching_for
from steward.identity import Role
from steward.runs import UNCERTAIN, Json, Run, Ticket
from steward.store import Database

T = TypeVar("T")


@dataclass(frozen=True)
class Situation:
    """What holds in a project at this moment for a run: its author, the settings, the policies in force."""

    asker: Asker
    settings: ProjectSettings
    policies: PolicySet

    def decide(
        self,
        run: Run,
        grant: Grant,
        tool: Tool[Any],
        facts: Facts,
        origin: Origin,
        cost: Cost,
    ) -> Decision:
        question = copied(
            Question,
            facts,
            asker=self.asker,
            scope=run.scope,
            tool=tool.name,
            risk=tool.risk,
            resource=Resource.named(facts.destination),
            effects=tool.effects,
            playbook=grant.playbook,
            branch=grant.branch,
            safe_mode=self.settings.safe_mode,
            origin=origin,
            amounts=Amounts(cost.rows, cost.bytes, cost.usd, facts.amount),
            direct=grant.direct,
        )
        return _decided(self.policies, question)


@dataclass(frozen=True)
class _Weighed:
    """A call that was checked and decided about."""

    tool: Tool[Any]
    arguments: Arguments
    context: ToolContext
    estimate: Cost
    facts: Facts
    decision: Decision


@dataclass(eq=False, repr=False)
class CallPlanner:
    _database: Database
    _tools: Toolbox
    _rulebook: Rulebook
    _groups: Groups
    _services: Services

    def situation(self, run: Run, grant: Grant) -> Situation:
        """Read in one transaction."""
        with self._database.read(run.scope) as tx:
            # Somebody who left the project may look at what they started, and no more.
            role = self._groups.role_within(tx, run.created_by, grant.token) or Role.viewer
            if grant.role is not None and grant.role < role:
                role = grant.role
            return Situation(
                Asker(run.created_by, role, self._groups.of_within(tx, run.created_by)),
                self._rulebook.settings_within(tx),
                self._rulebook.in_force_within(
                    tx, grant.playbook, grant.policies, grant.fixed.policies
                ),
            )

    async def plan(
        self,
        run: Run,
        grant: Grant,
        find: Callable[[], Tool[Any]],
        arguments: Json,
        provenance: Mapping[str, Labels],
        *,
        read_untrusted: bool,
        asked_for: bool = False,
        doubts: Sequence[str] = (),
        seen: bool = False,
        notebook: Notebook | None = None,
    ) -> Plan:
        """The call checked, decided and previewed. Nothing is set aside for it and nobody is asked.

        `find` looks the tool up, which may read. `seen`: the person who makes the call knows its preview; only somebody else who must approve needs one.
        """
        origin = _origin(provenance, read_untrusted, asked_for)
        weighed = await asyncio.to_thread(
            self._weighed, run, grant, find, arguments, origin, notebook
        )
        tool, checked, decision = weighed.tool, weighed.arguments, weighed.decision
        preview = None
        harmless = decision.verdict is PolicyVerdict.allow and tool.risk.at_most(Risk.compute)
        known = harmless or (seen and decision.verdict is not PolicyVerdict.ask)
        if decision.verdict is not PolicyVerdict.deny and tool.dry_run is not None and not known:
            with reaching_for(run.scope):
                preview = await within_time(tool, tool.dry_run(weighed.context, checked))
        given = checked.model_dump(mode="json")
        return Plan(
            tool=tool.name,
            arguments=given,
            body=body_of(run.id, grant.branch, tool, given, weighed.facts, preview),
            decision=decision.to_json(),
            preview=asdict(preview) if preview else None,
            provenance={
                "trusted": not (origin.untrusted_arguments or origin.read_untrusted),
                "untrusted_arguments": origin.untrusted_arguments,
                "read_untrusted": origin.read_untrusted,
                "sources": list(origin.sources),
                "asked_for": origin.asked_for,
                "arguments": {name: label.to_json() for name, label in provenance.items()},
                "doubts": list(doubts),
            },
            estimate=cost_to_json(weighed.estimate),
            over_budget=None,
            pinned=remembered(tool),
        )

    def _weighed(
        self,
        run: Run,
        grant: Grant,
        find: Callable[[], Tool[Any]],
        arguments: Json,
        origin: Origin,
        notebook: Notebook | None,
    ) -> "_Weighed":
        """Reads, so it has a thread."""
        tool = find()
        checked = validated(tool, arguments)
        situation = self.situation(run, grant)
        context = self.context(run, grant, situation.settings, notebook=notebook)
        estimate = tool.estimate(context, checked) if tool.estimate else Cost()
        acts_as = tool.acts_as(context, checked) if tool.acts_as is not None else ()
        facts = facts_of(tool, checked, acts_as)
        self._refuse_below(situation.asker, tool, facts)
        decision = situation.decide(run, grant, tool, facts, origin, estimate)
        return _Weighed(tool, checked, context, estimate, facts, decision)

    def decide_again(self, run: Run, grant: Grant, plan: Plan) -> tuple[ProjectSettings, Decision]:
        """What policy says now of a call that was planned before, and the settings of this moment."""
        situation = self.situation(run, grant)
        known = plan.provenance
        origin = Origin(
            known["untrusted_arguments"],
            known.get("read_untrusted", not known["trusted"]),
            tuple(known["sources"]),
            known.get("asked_for", False),
        )
        tool, facts = self._tools.planned(plan), Facts.from_body(plan.body)
        self._refuse_below(situation.asker, tool, facts)
        estimate = cost_from_json(plan.estimate)
        return situation.settings, situation.decide(run, grant, tool, facts, origin, estimate)

    def _refuse_below(self, asker: Asker, tool: Tool[Any], facts: Facts) -> None:
        """Undo and folders are no way to what somebody's role does not let them do by hand."""
        installed = self._tools.installed
        others = [installed.get(name).role for name in facts.acts_as if name in installed]
        needed = max([tool.role, *others])
        if asker.role < needed > Role.operator:
            raise Denied(
                f"{tool.title} needs the role {needed.name} here; yours is {asker.role.name}. "
                "Ask an admin of the project."
            )

    def forbidden(self, run: Run, grant: Grant) -> frozenset[str]:
        """Tools that policy refuses this run whatever the arguments."""
        situation = self.situation(run, grant)
        origin = Origin(False, False, ())
        listed = {tool.name: tool for tool in self._tools.listed(run.scope)}
        further = self._tools.searched(run.scope, grant.tools - listed.keys())
        return frozenset(
            tool.name
            for tool in (*listed.values(), *further.values())
            if (tool.direct_only and not grant.direct)
            or situation.decide(run, grant, tool, Facts(), origin, Cost()).verdict
            is PolicyVerdict.deny
        )

    def context(
        self,
        run: Run,
        grant: Grant,
        settings: ProjectSettings,
        ticket: Ticket | None = None,
        key: str = "",
        notebook: Notebook | None = None,
    ) -> ToolContext:
        return ToolContext(
            scope=run.scope,
            run_id=run.id,
            author=run.created_by,
            branch=grant.branch,
            services=self._services,
            settings=settings.tools,
            ticket=ticket,
            key=key,
            token_role=grant.role,
            direct=grant.direct,
            notebook=notebook,
        )


async def within_time(tool: Tool[Any], work: Awaitable[T], *, is_effect: bool = False) -> T:
    """What a tool gives within its own time limit."""
    try:
        async with asyncio.timeout(tool.timeout.total_seconds()):
            return await work
    except TimeoutError:
        seconds = tool.timeout.total_seconds()
        # It was stopped, but perhaps too late: of an effect nobody knows yet.
        code = UNCERTAIN if is_effect else "timeout"
        raise Unavailable(
            f"{tool.title} took longer than the allowed {seconds:g} seconds.", code=code
        ) from None


@lru_cache(maxsize=4_096)
def _decided(policies: PolicySet, question: Question) -> Decision:
    """The same question about the same texts has the same answer, and each call asks it more than once."""
    return decide(policies, question)


def _origin(provenance: Mapping[str, Labels], read_untrusted: bool, asked_for: bool) -> Origin:
    sources = sorted({source for label in provenance.values() for source in label.sources})
    untrusted = any(not label.trusted for label in provenance.values())
    return Origin(untrusted, read_untrusted, tuple(sources), asked_for)
