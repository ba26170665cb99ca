"""Starts flows as runs: checked first, with a grant of the tools they name and nothing more."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from steward.agents import READ_SKILL, literal
from steward.broker import (
    Broker,
    Budget,
    FixedParts,
    Foresight,
    Grant,
    Labelled,
    Labels,
    Risk,
    Toolbox,
    bound_to,
    first_problem,
    with_defaults,
)
from steward.core import Invalid, Problem
from steward.flows._graph import Observe, Progress, RunAgent, Services, run_graph
from steward.flows._scope import Settled
from steward.flows.artifacts import ArtifactSpec, broken_promises
from steward.flows.interpret import flow_program
from steward.flows.model import Flow, dump_flow, load_flow, load_yaml
from steward.flows.node import Graph, Node, Valued
from steward.flows.node import Labels as Carried
from steward.flows.nodes.agent import AgentNode
from steward.flows.nodes.subflow import SubflowNode
from steward.flows.validate import ToolSchema, require_valid, runnable
from steward.identity import Access, Role
from steward.runs import (
    Cancelled,
    EntryType,
    Execution,
    Json,
    Program,
    Run,
    RunRequest,
    Runs,
    StepFailed,
    calls_of,
)
from steward.store import Scope

FLOW_PROGRAM = "flow"
DEFAULT_BUDGET: Mapping[str, Any] = {"usd": "5", "seconds": 3600}
ARTIFACTS = "run:artifacts"
ON_BREACH = ("ask", "abort")
_FOREIGN = Labels(("another run",), trusted=False)
_EVENT = Labels(("the event that started it",), trusted=False)
Around = Callable[[Program, Execution], Awaitable[Json]]
AgentTools = Callable[[Scope, str], Iterable[str]]
"""The tools that an agent brings along, by its name."""
Foresee = Callable[[Execution, str, int, Node], Awaitable[Foresight | None]]
FindCodeProblem = Callable[[Scope, FixedParts], str | None]


def _none(_scope: Scope, _name: str) -> Iterable[str]:
    return ()


def _no_problem(_scope: Scope, _fixed: FixedParts) -> str | None:
    return None


async def _unknown(_execution: Execution, _key: str, _parts: int, _node: Node) -> Foresight | None:
    return None


async def _plainly(program: Program, execution: Execution) -> Json:
    return await program(execution)


@dataclass(frozen=True)
class Start:
    """A flow to run, with what it is given and what it may do."""

    document: Json
    """The flow as JSON, or as YAML text."""
    inputs: Mapping[str, Json] | None = field(default_factory=dict)
    """None: they are filled in and checked when it starts, as with the event of a trigger."""
    title: str = ""
    branch: str = "main"
    highest_risk: Risk = Risk.external_send
    budget: Mapping[str, Any] | None = None
    subject: str | None = None
    playbook: str | None = None
    revision: int | None = None
    deployment: int | None = None
    policies: tuple[str, ...] = ()
    """Policies that come with the flow: each must permit a call, beside those in force."""
    queue: str = "cpu"
    priority: int = 0
    authors: tuple[str, ...] = ()
    """Who wrote the flow, where that is not who starts it."""


@dataclass(frozen=True)
class NodeOutput:
    """What became of a node, and what it gave."""

    state: str
    value: Json
    port: str | None


class Launcher:
    def __init__(self, runs: Runs, broker: Broker, tools: Toolbox) -> None:
        self._runs = runs
        self._broker = broker
        self._tools = tools
        self.around: Around = _plainly
        """Who looks after a run as a whole: before it begins, and when it fails."""
        self.foresee: Foresee = _unknown
        """What a list of items will cost; whoever knows past runs and prices says so."""
        self.code_problem: FindCodeProblem = _no_problem
        """Why plug-ins are not what was deployed; whoever knows them says so."""
        self._run_agent: RunAgent | None = None
        self._agent_tools: AgentTools = _none
        runs.programs[FLOW_PROGRAM] = self._program(None)

    def employ(self, run_agent: RunAgent, agent_tools: AgentTools = _none) -> None:
        """Gives flows their agents; until then, a flow with one says that there is none."""
        self._run_agent = run_agent
        self._agent_tools = agent_tools
        self._runs.programs[FLOW_PROGRAM] = self._program(run_agent)

    async def outputs(self, scope: Scope, run_id: str) -> dict[str, NodeOutput]:
        """What each node of a run gave, found by replaying its journal: no model, no tool and no clock is asked."""
        found: dict[str, NodeOutput] = {}

        def observe(key: str, settled: Settled) -> None:
            found[key] = NodeOutput(settled.state.value, settled.output.value, settled.output.port)

        await self._runs.replay(scope, run_id, self._program(self._run_agent, observe))
        return found

    def scrub(self, scope: Scope, value: Json) -> Json:
        """A copy without the values of the project's secrets."""
        return self._runs.scrub(scope, value)

    def start(self, access: Access, start: Start) -> Run:
        """Puts a checked flow in the queue."""
        access.require(Role.operator)
        request = bound_to(access, self.request(start, access.scope))
        return self._runs.start(access.scope, access.user_id, request)

    def request(self, start: Start, scope: Scope | None = None) -> RunRequest:
        """What would be recorded as the run's first entry; Invalid says everything wrong with the flow."""
        flow = self.checked(start.document, scope)
        inputs = with_defaults(flow.inputs, dict(start.inputs or {}))
        wrong = first_problem(flow.inputs, inputs) if start.inputs is not None else None
        if wrong is not None:
            raise Invalid(f"The inputs do not fit the flow: {wrong}.", code="invalid-inputs")
        budget = dict(DEFAULT_BUDGET if start.budget is None else start.budget)
        _check_budget(budget)
        tools = frozenset(tools_in(flow)) | self.brought_tools(scope, flow)
        grant = Grant(
            tools,
            start.highest_risk,
            start.branch,
            start.playbook,
            revision=start.revision,
            deployment=start.deployment,
            policies=start.policies,
            authors=start.authors,
        )
        return RunRequest(
            title=start.title or flow.name or flow.id,
            program=FLOW_PROGRAM,
            document=dump_flow(flow),
            inputs=inputs,
            grant=grant.to_json(),
            budget=budget,
            subject=start.subject,
            queue=start.queue,
            priority=start.priority,
        )

    def brought_tools(self, scope: Scope | None, flow: Flow) -> frozenset[str]:
        """What the agents that a flow names bring along."""
        if scope is None:
            return frozenset()
        return frozenset(
            tool for name in agents_in(flow) for tool in self._agent_tools(scope, name)
        )

    def checked(self, document: Json, scope: Scope | None = None) -> Flow:
        """The flow, if nothing is wrong with it; it may name the project's own tools where one is given."""
        flow = load_yaml(document) if isinstance(document, str) else load_flow(document)
        require_valid(flow, self.catalogue(scope, flow))
        return flow

    def catalogue(
        self, scope: Scope | None = None, flow: Flow | None = None
    ) -> dict[str, ToolSchema]:
        """What can be called: the installed tools, those of a project, and what a flow names that is not listed."""
        known = {tool.name: ToolSchema(tool.schema()) for tool in self._tools.listed(scope)}
        if scope is not None and flow is not None:
            further = self._tools.searched(scope, set(tools_in(flow)) - known.keys())
            known |= {name: ToolSchema(tool.schema()) for name, tool in further.items()}
        return known

    def single(self, tool: str, arguments: Json, title: str = "") -> Json:
        """A flow of one call: how a person uses a tool by itself."""
        node = {"id": "call", "type": "tool", "tool": tool, "arguments": literal(arguments)}
        return {"format": 1, "id": "one_call", "name": title or tool, "nodes": [node]}

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
            return await self.foresee(execution, key, parts, node)

        return await self._broker.set_aside(execution, key, parts, node.title or node.id, foresee)

    async def _code_problem(self, execution: Execution) -> str | None:
        fixed = Grant.from_json(execution.request.grant).fixed
        if not fixed.code:
            return None
        return await asyncio.to_thread(self.code_problem, execution.run.scope, fixed)

    def _program(self, run_agent: RunAgent | None, observe: Observe | None = None) -> Program:
        interpret = flow_program(
            self._call_tool,
            run_agent,
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
            return await self.around(follow, execution)

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


def tools_in(graph: Graph) -> Iterator[str]:
    """Every tool a flow calls, in bodies, agents and sub-flows too."""
    for node in graph.nodes:
        called = node.tool_call()
        if called is not None:
            yield called.tool
        if isinstance(node, AgentNode):
            yield from node.tools
            yield from node.fallback_tools
            if node.skill is not None:
                yield READ_SKILL
        if isinstance(node, SubflowNode) and node.flow is not None:
            yield from tools_in(node.flow)
        for _, body in node.bodies():
            yield from tools_in(body)


def agents_in(graph: Graph) -> Iterator[str]:
    """Every agent that a flow names, in bodies and sub-flows too."""
    for node in graph.nodes:
        if isinstance(node, AgentNode) and node.agent is not None:
            yield node.agent
        if isinstance(node, SubflowNode) and node.flow is not None:
            yield from agents_in(node.flow)
        for _, body in node.bodies():
            yield from agents_in(body)


def _check_budget(budget: Mapping[str, Any]) -> None:
    breach = budget.get("on_breach", "ask")
    if breach not in ON_BREACH:
        raise Invalid(
            "on_breach is `ask` or `abort`.",
            problems=[Problem("/budget/on_breach", "not ask or abort")],
        )
    Budget.parse({name: value for name, value in budget.items() if name != "on_breach"})
