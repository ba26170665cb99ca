"""What two runs of a playbook differ in: how they ended, what they gave, what they asked of tools and agents."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from steward.broker import Grant, Risk, Toolbox
from steward.core import StewardError
from steward.flows import AgentNode, FlowRunner, NodeOutput, load_flow
from steward.playbooks.foresight import PastCosts
from steward.playbooks.pins import every_node
from steward.runs import Call, Json, Run, Runs, Status, calls_of, canonical
from steward.store import Scope

_LONGEST: Final = 500


@dataclass(frozen=True)
class Difference:
    kind: str
    """`end`, `output`, `step`, `call` or `agent`."""
    at: str
    live: str
    shadow: str


@dataclass(frozen=True)
class _Side:
    """One of two runs that are compared."""

    run: Run
    outcome: Mapping[str, Any]
    nodes: Mapping[str, NodeOutput]
    calls: Sequence[Call]
    agents: Mapping[str, Json]
    """What each agent of the flow is drawn as."""
    own_words: Mapping[str, str]
    """What differs between any two runs, and what is written in its place."""

    def spelled(self, value: Json) -> str:
        text: str = canonical(value)
        for word, plain in self.own_words.items():
            text = text.replace(word, plain)
        return text


class RunDifferences:
    def __init__(self, runs: Runs, flow_runner: FlowRunner, tools: Toolbox) -> None:
        self._runs = runs
        self._flow_runner = flow_runner
        self._tools = tools

    def between(self, live: Run, tried: Run, *, spend: bool) -> list[Difference]:
        """What the second run did otherwise than the first; `spend`: whether it could ask models."""
        first = self._side(live, None)
        return list(self._found(first, self._side(tried, live), spend=spend))

    def measured(self, live: Run, tried: Run) -> dict[str, float]:
        """How long both took, and what they cost."""
        return {
            f"{name}_{what}": value
            for name, run in (("live", live), ("shadow", tried))
            for what, value in (("seconds", _seconds(run)), ("usd", self._usd(run)))
        }

    def _side(self, run: Run, live: Run | None) -> _Side:
        request = self._runs.request(run.scope, run.id)
        calls = calls_of(self._runs.journal.entries(run.scope, run.id), self._runs.payload)
        own = {run.id: "this run"}
        for call in calls:
            # By the call and not by their order: steps side by side end in any.
            own |= {commit: f"commit {at} of {call.key}" for at, commit in enumerate(call.commits)}
        if live is not None:
            mine = Grant.from_json(request.grant).branch
            theirs = Grant.from_json(self._runs.request(live.scope, live.id).grant).branch
            own |= {mine: theirs}
        flow = load_flow(request.document)
        return _Side(
            run=run,
            outcome=self._runs.outcome(run.scope, run.id) or {},
            nodes=asyncio.run(self._flow_runner.outputs(run.scope, run.id)),
            calls=calls,
            agents={
                node.id: node.model_dump(mode="json", exclude={"title", "needs"})
                for node in every_node(flow)
                if isinstance(node, AgentNode)
            },
            own_words=own,
        )

    def _found(self, live: _Side, tried: _Side, *, spend: bool) -> Iterator[Difference]:
        ends = [_end(side) for side in (live, tried)]
        if ends[0] != ends[1]:
            yield Difference("end", "run", *ends)
        if live.run.status is tried.run.status is Status.done:
            outputs = [side.spelled(side.outcome.get("output")) for side in (live, tried)]
            if outputs[0] != outputs[1]:
                yield Difference("output", "run", *map(_short, outputs))
        for key, node in live.nodes.items():
            other = tried.nodes.get(key)
            # Steps that only one version has change nothing by themselves; what they do is among the calls.
            if other is None:
                continue
            before, after = live.spelled(node.value), tried.spelled(other.value)
            if (node.state, before) != (other.state, after):
                yield Difference(
                    "step",
                    key,
                    _short(f"{node.state}: {before}"),
                    _short(f"{other.state}: {after}"),
                )
        yield from self._call_differences(live, tried)
        if not spend:
            for name, drawn in tried.agents.items():
                if canonical(drawn) != canonical(live.agents.get(name)):
                    told = "Changed. A shadow that may not ask models has no answer of its own."
                    yield Difference("agent", name, "As deployed", told)

    def _call_differences(self, live: _Side, tried: _Side) -> Iterator[Difference]:
        """What would be asked of tools otherwise; calls that only read count where both versions make them."""
        before = {call.key: call for call in live.calls if call.tool is not None}
        after = {call.key: call for call in tried.calls if call.tool is not None}
        for key in [key for key in before if key in after]:
            left, right = _asked(live, before.pop(key)), _asked(tried, after.pop(key))
            if left != right:
                yield Difference("call", key, _short(left), _short(right))
        scope = live.run.scope
        lost = [
            (key, _asked(live, call)) for key, call in before.items() if self._acts(scope, call)
        ]
        for key, call in after.items():
            if not self._acts(scope, call):
                continue
            asked = _asked(tried, call)
            same = next((each for each in lost if each[1] == asked), None)
            if same is not None:
                lost.remove(same)
            else:
                yield Difference("call", key, "", _short(asked))
        for key, asked in lost:
            yield Difference("call", key, _short(asked), "")

    def _acts(self, scope: Scope, call: Call) -> bool:
        try:
            tool = self._tools.get(scope, call.tool or "")
        except StewardError:
            return True
        return not tool.risk.at_most(Risk.read)

    def _usd(self, run: Run) -> float:
        return sum(float(used.cost.get("usd") or 0) for used in PastCosts(self._runs).of(run))


def _end(side: _Side) -> str:
    error = side.outcome.get("error") or {}
    said = f": {error.get('message', '')}" if side.run.status is Status.failed else ""
    return _short(f"{side.run.status.value}{side.spelled(said)[1:-1] if said else ''}")


def _asked(side: _Side, call: Call) -> str:
    return f"{call.tool} {side.spelled(call.arguments)}"


def _seconds(run: Run) -> float:
    began = run.started_at or run.created_at
    return round(((run.ended_at or began) - began).total_seconds(), 3)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
