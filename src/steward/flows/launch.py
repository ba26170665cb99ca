"""Starts flows as runs: checked first, with a grant of the tools they name and nothing more."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from steward.agents import READ_SKILL, literal
from steward.broker import (
    Budget,
    Grant,
    Risk,
    Toolbox,
    bound_to,
    first_problem,
    with_defaults,
)
from steward.core import Invalid, Problem
from steward.flows.model import Flow, dump_flow, load_flow, load_yaml
from steward.flows.node import Graph
from steward.flows.nodes.agent import AgentNode
from steward.flows.nodes.subflow import SubflowNode
from steward.flows.validate import ToolSchema, require_valid
from steward.identity import Access, Role
from steward.runs import (
    Json,
    Run,
    RunRequest,
    Runs,
)
from steward.store import Scope

FLOW_PROGRAM = "flow"
DEFAULT_BUDGET: Mapping[str, Any] = {"usd": "5", "seconds": 3600}
ON_BREACH = ("ask", "abort")
AgentTools = Callable[[Scope, str], Iterable[str]]
"""The tools that an agent brings along, by its name."""


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


class Launcher:
    def __init__(self, runs: Runs, tools: Toolbox, agent_tools: AgentTools) -> None:
        self._runs = runs
        self._tools = tools
        self._agent_tools = agent_tools

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
