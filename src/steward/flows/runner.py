"""Runs flows: those that were started, as the program of their runs, and those that are a part of another program."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from steward.broker import Broker, FixedParts, Foresight, Grant, Labelled, Labels
from steward.flows._graph import Observe, Progress, RunAgent, Services, run_graph
from steward.flows._scope import Settled
from steward.flows.artifacts import ArtifactSpec, broken_promises
from steward.flows.interpret import flow_program
from steward.flows.launch import FLOW_PROGRAM
from steward.flows.node import Labels as Carried
from steward.flows.node import Node, Valued
from steward.flows.validate import runnable
from steward.runs import (
    Cancelled,
    EntryType,
    Execution,
    Json,
    Program,
    Runs,
    StepFailed,
    calls_of,
)
from steward.store import Scope

ARTIFACTS = "run:artifacts"
_FOREIGN = Labels(("another run",), trusted=False)
_EVENT = Labels(("the event that started it",), trusted=False)
Around = Callable[[Program, Execution], Awaitable[Json]]
"""Looks after a run as a whole: before it begins, and when it fails."""
Foresee = Callable[[Execution, str, int, Node], Awaitable[Foresight | None]]
"""What a list of items will cost."""
FindCodeProblem = Callable[[Scope, FixedParts], str | None]
"""Why plug-ins are not what was deployed."""


@dataclass(frozen=True)
class NodeOutput:
    """What became of a node, and what it gave."""

    state: str
    value: Json
    port: str | None


class FlowRunner:
    def __init__(
        self,
        runs: Runs,
        broker: Broker,
        run_agent: RunAgent,
        around: Around,
        foresee: Foresee,
        find_code_problem: FindCodeProblem,
    ) -> None:
        self._runs = runs
        self._broker = broker
        self._run_agent = run_agent
        self._around = around
        self._foresee = foresee
        self._find_code_problem = find_code_problem
        runs.programs[FLOW_PROGRAM] = self._program()

    async def outputs(self, scope: Scope, run_id: str) -> dict[str, NodeOutput]:
        """What each node of a run gave, found by replaying its journal: no model, no tool and no clock is asked."""
        found: dict[str, NodeOutput] = {}

        def observe(key: str, settled: Settled) -> None:
            found[key] = NodeOutput(settled.state.value, settled.output.value, settled.output.port)

        await self._runs.replay(scope, run_id, self._program(observe))
        return found

    async def inline(
        self, execution: Execution, document: Json, prefix: str, run_agent: RunAgent
    ) -> Valued:
        """Runs a flow as a part of a run of another kind; what it records starts with the prefix."""
        flow = runnable(document)
        services = Services(
            self._call_tool,
            run_agent,
            self._approve_batch,
            _FOREIGN,
            error_labels=_FOREIGN,
            set_aside=self._set_aside,
            give_back=self._broker.give_back,
            code_problem=self._code_problem,
        )
        return await run_graph(execution, services, flow, Valued({}), prefix, Progress(execution))

    async def _call_tool(
        self,
        execution: Execution,
        key: str,
        tool: str,
        arguments: Json,
        labels: Mapping[str, Carried],
        accept_failure: bool,
    ) -> Labelled:
        # A flow hands back what the broker gave it.
        known = cast(Mapping[str, Labels], labels)
        return await self._broker.call(
            execution, key, tool, arguments, known, accept_failure=accept_failure
        )

    async def _approve_batch(
        self,
        execution: Execution,
        key: str,
        tool: str,
        calls: Sequence[tuple[Json, Mapping[str, Carried]]],
    ) -> None:
        known = cast(Sequence[tuple[Json, Mapping[str, Labels]]], calls)
        await self._broker.approve_together(execution, key, tool, known)

    async def _set_aside(self, execution: Execution, key: str, parts: int, node: Node) -> bool:
        async def foresee(execution: Execution, key: str, parts: int) -> Foresight | None:
            return await self._foresee(execution, key, parts, node)

        return await self._broker.set_aside(execution, key, parts, node.title or node.id, foresee)

    async def _code_problem(self, execution: Execution) -> str | None:
        fixed = Grant.from_json(execution.request.grant).fixed
        if not fixed.code:
            return None
        return await asyncio.to_thread(self._find_code_problem, execution.run.scope, fixed)

    def _program(self, observe: Observe | None = None) -> Program:
        interpret = flow_program(
            self._call_tool,
            self._run_agent,
            approve_batch=self._approve_batch,
            # Whoever starts a run answers for its inputs; what runs hand to one another is anybody's.
            input_labels=lambda execution: _FOREIGN if execution.run.parent_id else None,
            foreign_labels=_EVENT,
            child_labels=_FOREIGN,
            observe=observe,
            set_aside=self._set_aside,
            give_back=self._broker.give_back,
            code_problem=self._code_problem,
        )

        async def follow(execution: Execution) -> Json:
            await self._broker.begin(execution)
            try:
                output = await interpret(execution)
            except (Cancelled, Exception):
                self._broker.forget_held(execution)
                raise
            await self._keep_promises(execution)
            return output

        async def run(execution: Execution) -> Json:
            return await self._around(follow, execution)

        return run

    async def _keep_promises(self, execution: Execution) -> None:
        """A run that did not make the files its flow requires has failed, and says which."""
        document = execution.request.document
        if not isinstance(document, dict) or not document.get("artifacts"):
            return
        run = execution.run
        promised = [ArtifactSpec.model_validate(each) for each in document["artifacts"]]

        def look() -> list[str]:
            told = calls_of(self._runs.journal.entries(run.scope, run.id), self._runs.payload)
            return list(broken_promises(promised, [a for call in told for a in call.artifacts]))

        async def perform() -> Json:
            return await asyncio.to_thread(look)

        asked = {"artifacts": document["artifacts"]}
        broken = await execution.step(
            ARTIFACTS, asked, perform, type=EntryType.run_checked, of="run"
        )
        if broken:
            said = "; ".join(broken)
            raise StepFailed(ARTIFACTS, "missing-artifact", f"{said[0].upper()}{said[1:]}.")
