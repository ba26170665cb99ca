"""What a run of a playbook will cost, step by step: what past runs cost, and an estimate for steps that never ran."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from steward.agents.expected_cost import ExpectedCost
from steward.broker.rehearsal import plain_path
from steward.broker.toolbox import Toolbox
from steward.core.errors import Conflict, Invalid, NotFound
from steward.flows import ExpressionError, Flow, Node
from steward.flows.expressions import expression, expressions_in
from steward.flows.nodes.agent import AgentNode
from steward.flows.nodes.loop import LoopNode
from steward.flows.nodes.map import MapNode
from steward.flows.nodes.subflow import SubflowNode
from steward.flows.nodes.tool import ToolNode
from steward.identity import Access
from steward.playbooks.compiling import compiled
from steward.playbooks.foresight import PastCosts
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests
from steward.playbooks.people import subject_of
from steward.runs import Json
from steward.store import Scope

_LEARNT_FROM: Final = 20
_DEEPEST: Final = 6
_ITEM: Final = re.compile(r"[^/]*\[\d+\]")
_CALL: Final = "call_playbook"
_MEASURES: Final = ("usd", "tokens", "seconds")


@dataclass(frozen=True)
class AgentPast:
    """What an agent used on average for one piece of work."""

    works: int
    days: int
    usd: float
    tokens: float


@dataclass(frozen=True)
class NodePrice:
    """What a step will use: the average of past runs, or an estimate from the least to the most."""

    node: str
    usd: float | None
    """None where no price is known."""
    most_usd: float | None
    tokens: float
    most_tokens: float
    seconds: float
    rests_on: str
    """How the price is known, or why not, in words."""
    is_estimate: bool = False
    """Whether something in it never ran."""


@dataclass(frozen=True)
class Price:
    runs: int
    nodes: list[NodePrice]

    @property
    def usd(self) -> float | None:
        return self._sum([each.usd for each in self.nodes])

    @property
    def most_usd(self) -> float | None:
        return self._sum([each.most_usd for each in self.nodes])

    @property
    def unknown(self) -> list[str]:
        """Steps whose price is not known; the sums are without them."""
        return [each.node for each in self.nodes if each.usd is None]

    def _sum(self, amounts: Sequence[float | None]) -> float | None:
        known = [each for each in amounts if each is not None]
        return None if amounts and not known else float(sum(known))


@dataclass(frozen=True)
class _Times:
    """How often something in a body runs."""

    least: float = 1
    most: float = 1
    for_one: str = ""
    """The list around it whose length is not known."""


@dataclass
class _Past:
    """What past runs of one playbook used, by step."""

    runs: int = 0
    sums: dict[str, dict[str, float]] = field(default_factory=dict)
    items: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def add(self, run_id: str, key: str, cost: Mapping[str, Any]) -> None:
        parts = key.partition(":")[0].split("/")
        for size in range(1, len(parts) + 1):
            concrete = "/".join(parts[:size])
            path = plain_path(concrete)
            if _ITEM.fullmatch(parts[size - 1]):
                self.items.setdefault(path, set()).add((run_id, concrete))
            held = self.sums.setdefault(path, dict.fromkeys(_MEASURES, 0.0))
            for name in held:
                held[name] += float(cost.get(name) or 0)

    def average(self, path: str) -> Mapping[str, float] | None:
        held = self.sums.get(path)
        return None if held is None else {name: each / self.runs for name, each in held.items()}

    def times(self, path: str) -> float | None:
        found = self.items.get(path)
        return None if found is None else len(found) / self.runs


@dataclass(frozen=True)
class _Part:
    """What a step within a node adds to its past price."""

    usd: float | None
    most_usd: float | None
    tokens: float = 0
    most_tokens: float = 0
    rests_on: str = ""
    is_new: bool = True


class Prices:
    def __init__(
        self, library: Library, manifests: Manifests, past: PastCosts, tools: Toolbox
    ) -> None:
        self._library = library
        self._manifests = manifests
        self._past = past
        self._tools = tools
        self.expected: Callable[[Scope, Json], ExpectedCost | None] = lambda _scope, _asked: None
        """What an agent will use by the size of what it is told; whoever wires the rooms says so."""
        self.agent_past: Callable[[Access, str], AgentPast | None] = lambda _access, _name: None

    def of(self, access: Access, named: str) -> Price:
        """What a run costs by node: as past runs that ended well did, with an estimate for what never ran."""
        card = self._library.get(access, named)
        try:
            flow = compiled(self._library.revision_of(access.scope, card, card.head).playbook)
        except Invalid:
            # It cannot run, such as without a plug-in that was removed; the check of the flow says why.
            return Price(0, [])
        return self._of_flow(access, card.id, flow, ())

    def _of_flow(
        self, access: Access, playbook_id: str, flow: Flow, within: tuple[str, ...]
    ) -> Price:
        past = self._read(access.scope, playbook_id)
        walk = _Walk(self, access, past, flow, (*within, playbook_id))
        nodes = [each for node in flow.nodes if (each := walk.price(node)) is not None]
        return Price(past.runs, sorted(nodes, key=lambda each: -(each.most_usd or 0)))

    def _read(self, scope: Scope, playbook_id: str) -> _Past:
        runs = self._past.runs_of(scope, subject_of(playbook_id), _LEARNT_FROM)
        past = _Past(len(runs))
        for run in runs:
            for used in self._past.with_sub_runs(run):
                if used.cost:
                    past.add(run.id, used.key, used.cost)
        return past

    # What is known of steps that never ran

    def of_agent(self, access: Access, node: AgentNode) -> _Part | None:
        found = self.expected(access.scope, node.asked())
        past = self.agent_past(access, node.agent.partition("@")[0]) if node.agent else None
        if past is not None:
            told = (
                f"No runs of this step yet. Average of what the agent {node.agent} used in the last {past.days} "
                f"days ({_counted(past.works, 'task')})."
            )
            if past.usd:
                return _Part(past.usd, past.usd, past.tokens, past.tokens, told)
            if found is None or found.usd is None:
                said = found.rests_on if found is not None else "No price is known for its model."
                return _Part(None, None, past.tokens, past.tokens, said)
        if found is None:
            return None
        return _Part(
            None if found.usd is None else float(found.usd),
            None if found.most_usd is None else float(found.most_usd),
            found.tokens,
            found.most_tokens,
            found.rests_on,
        )

    def of_tool(self, access: Access, node: ToolNode, within: tuple[str, ...]) -> _Part | None:
        if node.tool == _CALL:
            return self._of_call(access, node.arguments.get("playbook"), within)
        try:
            tool = self._tools.get(access.scope, node.tool)
        except NotFound:
            return None
        if not tool.effects.spends:
            return None
        told = "No runs yet. This tool may cost money, and its price is known only after a run."
        return _Part(None, None, rests_on=told)

    def _of_call(self, access: Access, named: Json, within: tuple[str, ...]) -> _Part | None:
        unknown = _Part(
            None, None, rests_on="Which playbook it calls, and so its price, is known at the run."
        )
        if not isinstance(named, str) or list(expressions_in(named)):
            return unknown
        try:
            revision = self._manifests.called(access, named)
            card = self._library.get(access, named.partition("@")[0])
        except (NotFound, Conflict, Invalid):
            return unknown
        if card.id in within or len(within) >= _DEEPEST:
            return unknown
        price = self._of_flow(access, card.id, compiled(revision.playbook), within)
        if price.unknown:
            told = f"No price is known for steps of the playbook {card.title}: {', '.join(price.unknown[:3])}."
            return _Part(None, None, rests_on=told)
        told = f"No runs of this step yet. What the playbook {card.title} costs."
        tokens = sum(each.tokens for each in price.nodes)
        most = sum(each.most_tokens for each in price.nodes)
        return _Part(price.usd, price.most_usd, tokens, most, told) if price.nodes else None

    def called_flow(self, access: Access, ref: str) -> Flow | None:
        try:
            return compiled(self._manifests.called(access, ref).playbook)
        except (NotFound, Conflict, Invalid):
            return None


@dataclass(frozen=True)
class _Walk:
    """The steps of one flow, with what past runs of it used."""

    prices: Prices
    access: Access
    past: _Past
    flow: Flow
    within: tuple[str, ...]

    def price(self, node: Node) -> NodePrice | None:
        before = self.past.average(node.id)
        parts = list(self._parts([node], "", _Times(), self.within))
        if before is None and not parts:
            return None
        usd, tokens, seconds = (before[name] for name in _MEASURES) if before else (0.0, 0.0, 0.0)
        new = [each for each in parts if each.is_new]
        told = list(dict.fromkeys(each.rests_on for each in parts))
        if before is not None and not (parts and not new):
            told.insert(0, f"Average of {_counted(self.past.runs, 'past run')}.")
        unknown = any(each.usd is None for each in parts)
        return NodePrice(
            node.id,
            None if unknown else usd + sum(each.usd or 0 for each in new),
            None if unknown else usd + sum(each.most_usd or 0 for each in new),
            tokens + sum(each.tokens for each in new),
            tokens + sum(each.most_tokens for each in new),
            seconds,
            " ".join(told),
            is_estimate=bool(new),
        )

    def _parts(
        self, nodes: Sequence[Node], prefix: str, times: _Times, within: tuple[str, ...]
    ) -> Iterator[_Part]:
        for node in nodes:
            path = f"{prefix}{node.id}"
            for place, body in node.bodies():
                # The branches of a parallel node have names; a single body has none.
                name = place.split("/")[2] + "/" if place.count("/") > 1 else ""
                inner = self._times(node, path, times)
                yield from self._parts(body.nodes, f"{path}/{name}", inner, within)
            if isinstance(node, SubflowNode):
                yield from self._subflow(node, path, times, within)
            elif (part := self._leaf(node, path)) is not None:
                yield _multiplied(part, times)

    def _subflow(
        self, node: SubflowNode, path: str, times: _Times, within: tuple[str, ...]
    ) -> Iterator[_Part]:
        inner = node.flow
        if inner is None and node.ref and node.ref not in within and len(within) < _DEEPEST:
            inner = self.prices.called_flow(self.access, node.ref)
        is_known = node.run_as == "child" and self.past.average(path) is not None
        if inner is not None and not is_known:
            further = (*within, node.ref or inner.id)
            yield from self._parts(inner.nodes, f"{path}/", times, further)

    def _leaf(self, node: Node, path: str) -> _Part | None:
        before = self.past.average(path)
        if isinstance(node, AgentNode):
            if before is None:
                return self.prices.of_agent(self.access, node)
            if not before["usd"] and before["tokens"]:
                # A model without a price was counted as free.
                found = self.prices.expected(self.access.scope, node.asked())
                if found is not None and found.usd is None:
                    return _Part(None, None, rests_on=found.rests_on, is_new=False)
        elif isinstance(node, ToolNode) and before is None:
            return self.prices.of_tool(self.access, node, self.within)
        return None

    def _times(self, node: Node, path: str, around: _Times) -> _Times:
        """How often the body of a node runs: as often as in past runs, or as it is written."""
        if isinstance(node, LoopNode):
            return replace(around, most=around.most * node.at_most)
        if not isinstance(node, MapNode):
            return around
        known = self.past.times(path)
        if known is not None:
            return _Times(known, known)
        count = _written_length(node.over, self.flow.inputs)
        if count is None:
            return replace(around, for_one=node.title or node.id)
        return replace(around, least=around.least * count, most=around.most * count)


def _multiplied(part: _Part, times: _Times) -> _Part:
    told = part.rests_on
    if times.for_one and part.is_new:
        told += f" For one item: how many “{times.for_one}” has is known at the run."
    elif times.most > 1 and part.is_new:
        many = f"{times.most:,.0f}"
        told += f" For {many} items." if times.least == times.most else f" For 1 to {many} passes."
    return replace(
        part,
        usd=None if part.usd is None else part.usd * times.least,
        most_usd=None if part.most_usd is None else part.most_usd * times.most,
        tokens=part.tokens * times.least,
        most_tokens=part.most_tokens * times.most,
        rests_on=told,
    )


def _written_length(over: str, inputs: Mapping[str, Any]) -> int | None:
    """The length of a list that is written in the flow, or that an input has unless something else is given."""

    def lookup(path: Any) -> Json:
        root, *names = path.names
        value: Any = {
            name: each["default"]
            for name, each in inputs.get("properties", {}).items()
            if isinstance(each, Mapping) and "default" in each
        }
        if root != "inputs":
            raise LookupError(root)
        for name in names:
            value = value[name]
        return value

    try:
        found = expression(over).value(lookup)
    except (ExpressionError, LookupError, TypeError):
        return None
    return len(found) if isinstance(found, list) else None


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
