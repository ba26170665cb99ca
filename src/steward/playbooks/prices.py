"""What a run of a playbook will cost, step by step: what past runs cost, and an estimate for steps that never ran."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Final

from steward.agents import ExpectedCost
from steward.broker import Cost, Foresight, Toolbox
from steward.core import Conflict, Invalid, NotFound
from steward.flows import AgentNode, Flow, Node, ToolNode, expressions_in
from steward.identity import Access
from steward.playbooks.foresight import PastCosts
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests
from steward.playbooks.people import People, subject_of
from steward.playbooks.price_parts import Part, Past, Price, counted
from steward.playbooks.price_walk import DEEPEST, Walk
from steward.runs import Json
from steward.store import Scope

_LEARNT_FROM: Final = 20
_CALL: Final = "call_playbook"
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True)
class AgentPast:
    """What an agent used on average for one piece of work."""

    works: int
    days: int
    usd: float
    tokens: float


Expected = Callable[[Scope, Json], ExpectedCost | None]
"""What an agent will use by the size of what it is told."""
FindAgentPast = Callable[[Scope, str, tuple[str, frozenset[str]] | None], AgentPast | None]
"""What an agent used lately in runs of these subjects; all of them where it is None."""


@dataclass(eq=False, repr=False)
class Prices:
    _library: Library
    _manifests: Manifests
    _people: People
    _past: PastCosts
    _tools: Toolbox
    expected: Expected
    _agent_past: FindAgentPast

    def of(self, access: Access, named: str) -> Price:
        """What a run costs by node: as past runs that ended well did, with an estimate for what never ran."""
        card = self._library.get(access, named)
        try:
            flow = self._library.revision_of(access.scope, card, card.head).flow
        except Invalid:
            # It cannot run, such as without a plug-in that was removed; the check of the flow says why.
            return Price(0, [])
        return self._of_flow(access, card.id, flow, ())

    def _of_flow(
        self, access: Access, playbook_id: str, flow: Flow, within: tuple[str, ...]
    ) -> Price:
        past = self._read(access.scope, playbook_id)
        walk = Walk(self, access, past, flow, (*within, playbook_id))
        nodes = sorted(walk.outer(), key=lambda each: -(each.most_usd or 0))
        return Price(past.runs, nodes, list(walk.inner()))

    def of_fan_out(self, access: Access, node: Node, count: int) -> Foresight | None:
        """What the items of a list that never ran will cost, or branches side by side; None where nothing is known.

        It is the geometric middle of the least and the most. These are often a hundred times apart: half of the most
        would refuse what can be paid many times over, and the least would stop in the middle of the list.
        """
        flow = Flow(format=1, id="estimate", nodes=[node])
        parts = Walk(self, access, Past(), flow, ()).fan_out(node, count)
        total, agents = _middle(parts), dict[str, Cost]()
        if not total.usd and not total.tokens:
            return None
        for name in {name for part in parts for name in part.shares}:
            agents[name] = _middle(parts, name)
        return Foresight(total, count, 0, agents)

    def _read(self, scope: Scope, playbook_id: str) -> Past:
        runs = self._past.runs_of(scope, subject_of(playbook_id), _LEARNT_FROM)
        past = Past(len(runs))
        for run in runs:
            for used in self._past.with_sub_runs(run):
                if used.cost:
                    past.add(run.id, used.key, used.cost)
        return past

    # What is known of steps that never ran

    def of_agent(self, access: Access, node: AgentNode) -> Part | None:
        found = self.expected(access.scope, node.asked())
        name = (node.agent or "").partition("@")[0]
        among = self._people.sight(access).among if name else None
        past = self._agent_past(access.scope, name, among) if name else None
        if past is not None:
            shares = {name: 1.0}
            told = (
                f"No runs of this step yet. Average of what the agent {node.agent} used in the last {past.days} "
                f"days ({counted(past.works, 'task')})."
            )
            if past.usd:
                return Part(past.usd, past.usd, past.tokens, past.tokens, told, shares=shares)
            if found is None or found.usd is None:
                said = found.rests_on if found is not None else "No price is known for its model."
                return Part(None, None, past.tokens, past.tokens, said, shares=shares)
        if found is None:
            return None
        return Part(
            None if found.usd is None else float(found.usd),
            None if found.most_usd is None else float(found.most_usd),
            found.tokens,
            found.most_tokens,
            found.rests_on,
            shares=found.shares,
        )

    def of_tool(self, access: Access, node: ToolNode, within: tuple[str, ...]) -> Part | None:
        if node.tool == _CALL:
            return self._of_call(access, node.arguments.get("playbook"), within)
        try:
            tool = self._tools.get(access.scope, node.tool)
        except NotFound:
            return None
        if not tool.effects.spends:
            return None
        told = "No runs yet. This tool may cost money, and its price is known only after a run."
        return Part(None, None, rests_on=told)

    def _of_call(self, access: Access, named: Json, within: tuple[str, ...]) -> Part | None:
        unknown = Part(
            None, None, rests_on="Which playbook it calls, and so its price, is known at the run."
        )
        if not isinstance(named, str) or list(expressions_in(named)):
            return unknown
        try:
            revision = self._manifests.called(access, named)
            card = self._library.get(access, named.partition("@")[0])
        except (NotFound, Conflict, Invalid):
            return unknown
        if card.id in within or len(within) >= DEEPEST:
            return unknown
        price = self._of_flow(access, card.id, revision.flow, within)
        if price.unknown:
            told = f"No price is known for steps of the playbook {card.title}: {', '.join(price.unknown[:3])}."
            return Part(None, None, rests_on=told)
        told = f"No runs of this step yet. What the playbook {card.title} costs."
        tokens = sum(each.tokens for each in price.nodes)
        most = sum(each.most_tokens for each in price.nodes)
        return Part(price.usd, price.most_usd, tokens, most, told) if price.nodes else None

    def unpriced(self, access: Access, node: AgentNode) -> str | None:
        found = self.expected(access.scope, node.asked())
        return found.rests_on if found is not None and found.usd is None else None

    def called_flow(self, access: Access, ref: str) -> Flow | None:
        try:
            return self._manifests.called(access, ref).flow
        except (NotFound, Conflict, Invalid):
            return None


def _middle(parts: Sequence[Part], agent: str | None = None) -> Cost:
    """Between the least and the most of all parts, or of what one agent uses of them."""
    share = [1.0 if agent is None else part.shares.get(agent, 0.0) for part in parts]
    sums = [
        sum((getattr(part, name) or 0) * each for part, each in zip(parts, share, strict=True))
        for name in ("usd", "most_usd", "tokens", "most_tokens")
    ]
    usd, tokens = math.sqrt(sums[0] * sums[1]), math.sqrt(sums[2] * sums[3])
    return Cost(usd=Decimal(usd).quantize(_MICRO, ROUND_CEILING), tokens=math.ceil(tokens))
