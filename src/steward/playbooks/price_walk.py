"""A walk over the steps of a flow that finds what each of them will use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from steward.flows import AgentNode, Body, Flow, LoopNode, MapNode, Node, SubflowNode, ToolNode
from steward.identity import Access
from steward.playbooks.price_parts import (
    MEASURES,
    NodePrice,
    Part,
    Past,
    Times,
    counted,
    multiplied,
    written_length,
)

DEEPEST: Final = 6


class Tariff(Protocol):
    """What is known of steps that never ran."""

    def of_agent(self, access: Access, node: AgentNode) -> Part | None: ...
    def of_tool(self, access: Access, node: ToolNode, within: tuple[str, ...]) -> Part | None: ...
    def unpriced(self, access: Access, node: AgentNode) -> str | None:
        """Why the model of an agent has no price; None where it has one."""
        ...

    def called_flow(self, access: Access, ref: str) -> Flow | None: ...


@dataclass(frozen=True)
class _Step:
    """A step with its place: in journals, on the canvas, and how often it runs."""

    node: Node
    path: str
    key: str
    times: Times
    within: tuple[str, ...]


@dataclass(frozen=True)
class Walk:
    """The steps of one flow, with what past runs of it used."""

    tariff: Tariff
    access: Access
    past: Past
    flow: Flow
    within: tuple[str, ...]
    _known: dict[str, Part | None] = field(default_factory=dict)
    """What single steps add, by their path: those inside others are asked for more than once."""

    def outer(self) -> Iterator[NodePrice]:
        for node in self.flow.nodes:
            found = self._price(_Step(node, node.id, node.id, Times(), self.within))
            if found is not None:
                yield found

    def inner(self) -> Iterator[NodePrice]:
        """The same for steps inside others, however deep."""
        steps = [_Step(node, node.id, node.id, Times(), self.within) for node in self.flow.nodes]
        for step in steps:
            yield from self._inner(step)

    def fan_out(self, node: Node, count: int) -> list[Part]:
        """What so many items of a list use, or branches side by side each once."""
        times = Times(count, count) if isinstance(node, MapNode) else Times()
        return [
            part
            for place, body in node.bodies()
            for inner in self._members(
                _Step(node, node.id, node.id, Times(), self.within), place, body, times
            )
            for part in self._parts(inner)
        ]

    def _inner(self, step: _Step) -> Iterator[NodePrice]:
        for each in self._below(step):
            found = self._price(each)
            if found is not None:
                yield found
            yield from self._inner(each)

    def _price(self, step: _Step) -> NodePrice | None:
        before = self.past.average(step.path)
        parts = list(self._parts(step))
        if before is None and not parts:
            return None
        usd, tokens, seconds = (before[name] for name in MEASURES) if before else (0.0, 0.0, 0.0)
        new = [each for each in parts if each.is_new]
        told = list(dict.fromkeys(each.rests_on for each in parts))
        if before is not None and not (parts and not new):
            told.insert(0, f"Average of {counted(self.past.runs, 'past run')}.")
        unknown = any(each.usd is None for each in parts)
        return self._each(
            step,
            NodePrice(
                step.key,
                None if unknown else usd + sum(each.usd or 0 for each in new),
                None if unknown else usd + sum(each.most_usd or 0 for each in new),
                tokens + sum(each.tokens for each in new),
                tokens + sum(each.most_tokens for each in new),
                seconds,
                " ".join(told),
                is_estimate=bool(new),
            ),
        )

    def _each(self, step: _Step, price: NodePrice) -> NodePrice:
        """The price with what one time costs."""
        times = step.times
        if "/" in step.path and self.past.average(step.path) is not None:
            passes = self.past.passed(step.path)
            times = Times(passes, passes)
        return replace(
            price,
            times=None if times.for_one else times.least,
            most_times=None if times.for_one else times.most,
            each_usd=None if price.usd is None else _shared(price.usd, times.least),
            most_each_usd=None if price.most_usd is None else _shared(price.most_usd, times.most),
        )

    def _parts(self, step: _Step) -> Iterator[Part]:
        for each in self._below(step):
            yield from self._parts(each)
        if step.path not in self._known:
            self._known[step.path] = self._leaf(step)
        part = self._known[step.path]
        if part is not None:
            yield multiplied(part, step.times)

    def _below(self, step: _Step) -> Iterator[_Step]:
        inner = self._times(step)
        for place, body in step.node.bodies():
            yield from self._members(step, place, body, inner)
        if isinstance(step.node, SubflowNode):
            yield from self._subflow(step.node, step)

    def _members(self, step: _Step, place: str, body: Body, times: Times) -> Iterator[_Step]:
        # The branches of a parallel node have names; a single body has none.
        name = place.split("/")[2] + "/" if place.count("/") > 1 else ""
        for node in body.nodes:
            path, key = f"{step.path}/{name}{node.id}", f"{step.key}/{node.id}"
            yield _Step(node, path, key, times, step.within)

    def _subflow(self, node: SubflowNode, step: _Step) -> Iterator[_Step]:
        inner = node.flow
        if (
            inner is None
            and node.ref
            and node.ref not in step.within
            and len(step.within) < DEEPEST
        ):
            inner = self.tariff.called_flow(self.access, node.ref)
        is_known = node.run_as == "child" and self.past.average(step.path) is not None
        if inner is not None and not is_known:
            further = (*step.within, node.ref or inner.id)
            yield from self._steps(inner.nodes, step, further)

    def _steps(
        self, nodes: Sequence[Node], step: _Step, within: tuple[str, ...]
    ) -> Iterator[_Step]:
        for node in nodes:
            below = f"{step.path}/{node.id}", f"{step.key}/{node.id}"
            yield _Step(node, *below, step.times, within)

    def _leaf(self, step: _Step) -> Part | None:
        before, node = self.past.average(step.path), step.node
        if isinstance(node, AgentNode):
            if before is None:
                return self.tariff.of_agent(self.access, node)
            if not before["usd"] and before["tokens"]:
                # A model without a price was counted as free.
                told = self.tariff.unpriced(self.access, node)
                if told is not None:
                    return Part(None, None, rests_on=told, is_new=False)
        elif isinstance(node, ToolNode) and before is None:
            return self.tariff.of_tool(self.access, node, self.within)
        return None

    def _times(self, step: _Step) -> Times:
        """How often the body of a node runs: as often as in past runs, or as it is written."""
        node, around = step.node, step.times
        if isinstance(node, LoopNode):
            return replace(around, most=around.most * node.at_most)
        if not isinstance(node, MapNode):
            return around
        known = self.past.times(step.path)
        if known is not None:
            return Times(known, known)
        count = written_length(node.over, self.flow.inputs)
        if count is None:
            return replace(around, for_one=node.title or node.id)
        return replace(around, least=around.least * count, most=around.most * count)


def _shared(usd: float, times: float) -> float:
    return usd / times if times else usd
