"""Runs the graphs of one flow: nodes as their needs are met, what does not depend on each other at the same time.

The order in which nodes run follows from recorded outcomes alone, never from which one was quicker: a node looks at
its needs only, and a failure stops what depends on it and nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from steward.broker import PLUGIN_CHANGED, SERVICE_REFUSED, Rehearsal, problems_of, with_defaults
from steward.core import Misconfigured, StewardError
from steward.flows._scope import Scope, Settled, State
from steward.flows.model import Flow, dump_flow
from steward.flows.node import Body, Goto, Graph, Labels, Node, Valued, joined, seconds_of
from steward.flows.nodes.agent import AgentNode
from steward.flows.nodes.output import OutputNode
from steward.runs import EntryType, Execution, Json, RunRequest, Status, StepFailed

CallTool = Callable[[Execution, str, str, Json, Mapping[str, Labels], bool], Awaitable[Any]]
ApproveBatch = Callable[
    [Execution, str, str, Sequence[tuple[Json, Mapping[str, Labels]]]], Awaitable[None]
]
SetAside = Callable[[Execution, str, int, Node], Awaitable[bool]]
GiveBack = Callable[[Execution, str], Awaitable[None]]
CodeProblem = Callable[[Execution], Awaitable[str | None]]
RunAgent = Callable[[Execution, str, Json, Mapping[str, Labels | None]], Awaitable[Any]]

Observe = Callable[[str, Settled], None]
BREAKPOINT: Final = "breakpoint"

_FINAL_CODES: Final = frozenset(
    {
        *("denied", "unauthenticated", "invalid", "too-large", "expression", "rejected", "expired"),
        *("given-up", "budget-exceeded", "too-many-steps", "misconfigured", "not-a-list"),
        *("too-many-items", "condition", "not-a-moment", PLUGIN_CHANGED, SERVICE_REFUSED),
    }
)
"""Another try would end the same way, or somebody decided against one."""
_OVER: Final = frozenset({State.done, State.failed, State.skipped})


@dataclass(frozen=True)
class Services:
    """What the interpreter is handed; it knows no tool and no agent itself."""

    call_tool: CallTool
    run_agent: RunAgent | None = None
    approve_batch: ApproveBatch | None = None
    child_labels: Labels | None = None
    """What the output of a run of its own carries: nobody can say where it comes from."""
    error_labels: Labels | None = None
    """What the text of an error carries: others may have written it."""
    observe: Observe | None = None
    """Told of every node that is over, with its output."""
    set_aside: SetAside | None = None
    """Holds budget for so many items below a key, where it is known what they cost."""
    give_back: GiveBack | None = None
    code_problem: CodeProblem | None = None
    """Why code that was fixed for the run is not what is installed now."""


@dataclass
class Progress:
    """How far the flow is, for people."""

    execution: Execution
    nodes: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, int]] = field(default_factory=dict)

    def tell(self) -> None:
        self.execution.progress = self._said

    def _said(self) -> dict[str, Any]:
        done = sum(state in _OVER for state in self.nodes.values())
        said: dict[str, Any] = {"done": done, "total": len(self.nodes), "nodes": dict(self.nodes)}
        if self.parts:
            said["parts"] = {name: dict(part) for name, part in self.parts.items()}
        return said


class GraphRun:
    """One graph on its way."""

    def __init__(
        self,
        execution: Execution,
        services: Services,
        graph: Graph,
        scope: Scope,
        prefix: str = "",
        progress: Progress | None = None,
    ) -> None:
        self.execution = execution
        self.services = services
        self.scope = scope
        self.progress = progress
        self._graph = graph
        self._prefix = prefix
        self._over: dict[str, asyncio.Future[None]] = {}
        self._gotos: dict[str, list[str]] = {}
        self.taken_ports: dict[str, set[str]] = {}
        for node in graph.nodes:
            if isinstance(node.on_error, Goto):
                self._gotos.setdefault(node.on_error.goto, []).append(node.id)
            for need in node.needs:
                name, _, port = need.partition(".")
                self.taken_ports.setdefault(name, set()).add(port)

    async def run(self) -> Valued:
        loop = asyncio.get_running_loop()
        for node in self._graph.nodes:
            self._over[node.id] = loop.create_future()
            self._tell(node, self._known(node))
        chains = [self._follow(chain) for chain in self._chains()]
        # A row by itself needs no task beside this one.
        found = [await chains[0]] if len(chains) == 1 else await self.execution.together(chains)
        ended: dict[str, BaseException] = {}
        for problems_of_chain in found:
            ended |= problems_of_chain
        # What leaves the program outranks an error: the error may look different once all is known.
        problems = [ended[node.id] for node in self._graph.nodes if node.id in ended]
        for problem in sorted(problems, key=lambda each: isinstance(each, Exception)):
            raise problem
        return self._output()

    def _chains(self) -> list[list[Node]]:
        """The nodes in rows in which each waits for the one before it, whatever else it waits for: a task for each row."""
        last: dict[str, list[Node]] = {}
        chains: list[list[Node]] = []
        for node in self._graph.nodes:
            before = next(
                (name for need in node.needs if (name := need.partition(".")[0]) in last), None
            )
            chain: list[Node] = [] if before is None else last.pop(before)
            if not chain:
                chains.append(chain)
            chain.append(node)
            last[node.id] = chain
        return chains

    async def _follow(self, chain: Sequence[Node]) -> dict[str, BaseException]:
        """One node after the other; what ends one does not keep the others from saying that they wait."""
        problems: dict[str, BaseException] = {}
        for node in chain:
            try:
                await self._reach(node)
            except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as problem:  # noqa: BLE001 - raised again, in the order of the document
                problems[node.id] = problem
        return problems

    async def _reach(self, node: Node) -> None:
        """Waits for what the node needs, runs or skips it, and lets the ones after it know."""
        settled = Settled(State.held)
        shown = State.held
        try:
            settled = await self._settle(node)
            shown = settled.state
        except StepFailed:
            shown = State.failed
            raise
        finally:
            # Also when it is parked or has failed: nothing may wait for it in this pass.
            self.scope.settled[node.id] = settled
            if self.services.observe is not None and settled.state is not State.held:
                self.services.observe(f"{self._prefix}{node.id}", settled)
            self._tell(node, shown)
            if not self._over[node.id].done():
                self._over[node.id].set_result(None)

    async def _settle(self, node: Node) -> Settled:
        before = [need.partition(".")[0] for need in node.needs] + self._gotos.get(node.id, [])
        for name in before:
            await self._over[name]
        if any(self.scope.settled[name].state is State.held for name in before):
            return Settled(State.held)
        if not self._is_taken(node):
            key = f"{self._prefix}{node.id}"
            await self.execution.note(key, {"skipped": True}, type=EntryType.step_skipped)
            return Settled(State.skipped)
        self._tell(node, State.running)
        return await self._rehearsed(node) or await self._tried(node)

    def _is_taken(self, node: Node) -> bool:
        gotos = [self.scope.settled[name].output.port == "error" for name in self._gotos_to(node)]
        if any(gotos):
            return True
        taken = [self._is_open(need) for need in node.needs]
        if not taken:
            return not gotos
        return any(taken) if node.start == "any" else all(taken)

    def _gotos_to(self, node: Node) -> list[str]:
        return self._gotos.get(node.id, [])

    def _is_open(self, need: str) -> bool:
        name, _, port = need.partition(".")
        settled = self.scope.settled[name]
        if settled.state is State.skipped or settled.output.port == "error":
            return False
        return not port or settled.output.port == port

    async def _rehearsed(self, node: Node) -> Settled | None:
        """In a test: pauses at breakpoints, and settles nodes whose output is given or that would wait for people."""
        rehearsal = Rehearsal.of(self.execution.request.grant)
        if rehearsal is None:
            return None
        key = f"{self._prefix}{node.id}"
        if rehearsal.pauses_before(key):
            await self.execution.wait(
                f"{key}:breakpoint",
                {"kind": BREAKPOINT, "node": node.id},
                status=Status.blocked,
                reason=f"a breakpoint before {node.title or node.id}",
                of=key,
            )
        place = NodePlace(self, node, key)
        stand_in = None if rehearsal.ask else node.stand_in(place)
        is_given, value = rehearsal.mock(key)
        if is_given and node.tool_call() is None:
            port = stand_in.port if stand_in is not None else next(iter(node.ports()), None)
            if isinstance(value, dict) and "port" in value and node.ports():
                port = str(value["port"])
            return Settled(State.done, Valued(value, None, port))
        return None if stand_in is None else Settled(State.done, stand_in)

    async def _tried(self, node: Node) -> Settled:
        key = f"{self._prefix}{node.id}"
        attempts = node.retries.attempts if node.retries else 1
        attempt = 1
        while True:
            place = NodePlace(self, node, key if attempt == 1 else f"{key}~{attempt}")
            try:
                await self._require_code(node, place.key)
                return Settled(State.done, await node.run(place))
            except (StepFailed, StewardError) as problem:
                failure = _failure(place.key, problem)
            if attempt >= attempts or failure.code in _FINAL_CODES:
                return self._failed(node, failure)
            await self._pause(node, place.key, attempt, failure)
            attempt += 1

    async def _require_code(self, node: Node, key: str) -> None:
        """Runs no node of a plug-in with other code than was deployed: it would do other things with what is recorded.

        Agents may have guardrails of a plug-in, and are looked at when they begin.
        """
        execution, step = self.execution, f"{key}:code"
        is_foreign = not type(node).__module__.startswith("steward.")
        begins = isinstance(node, AgentNode) and not execution.has_begun_below(key)
        if self.services.code_problem is None or not (is_foreign or begins):
            return
        said: str | None = None
        if not execution.has_begun(step):
            # Only what was refused is recorded, so that a journal from before replays.
            said = None if execution.replaying else await self.services.code_problem(execution)
            if said is None:
                return

        async def look() -> Json:
            return said

        found = await execution.step(step, {}, look, type=EntryType.run_checked, of=key)
        raise StepFailed(key, PLUGIN_CHANGED, str(found))

    async def _pause(self, node: Node, key: str, attempt: int, failure: StepFailed) -> None:
        if node.retries is None:
            return
        delay = seconds_of(node.retries.delay) * (2 ** (attempt - 1))
        moment = await self.execution.now(f"{key}:failed", of=key) + delay
        await self.execution.wait(
            f"{key}:pause",
            {"kind": "retry", "code": failure.code, "message": failure.message},
            status=Status.blocked,
            reason=f"{node.title or node.id} is tried again",
            expires_at=moment,
            of=key,
        )

    def _failed(self, node: Node, failure: StepFailed) -> Settled:
        if node.on_error == "fail":
            raise failure
        port = "error" if isinstance(node.on_error, Goto) else None
        described = NodePlace(self, node, failure.key).error(failure.code, failure.message)
        if "status" in failure.details:
            described.value["error"]["status"] = failure.details["status"]
        return Settled(State.failed, replace(described, port=port))

    def _output(self) -> Valued:
        """What the graph gives back: its output nodes, or else its only node."""
        outputs = [node for node in self._graph.nodes if isinstance(node, OutputNode)]
        ran = [node for node in outputs if self.scope.settled[node.id].state is State.done]
        if not outputs and len(self._graph.nodes) == 1:
            return replace(self.scope.settled[self._graph.nodes[0].id].output, port=None)
        for node in ran:
            if node.name is None:
                return self.scope.settled[node.id].output
        if not any(node.name is not None for node in outputs):
            return Valued(None)
        found = {node.name: self.scope.settled[node.id].output for node in ran}
        values = {name: each.value for name, each in found.items()}
        return Valued(values, joined([each.labels for each in found.values()]))

    def _known(self, node: Node) -> State:
        """What an earlier pass told of a node that is over: it will be so again, from the journal."""
        # A plan that is made anew has steps of the same names, under a prefix of its own.
        told = self.execution.run.progress if not self._prefix else None
        state = (told or {}).get("nodes", {}).get(node.id)
        return State(state) if state in _OVER else State.pending

    def _tell(self, node: Node, state: State) -> None:
        if self.progress is not None:
            shown = State.pending if state is State.held else state
            self.progress.nodes[node.id] = shown.value
            self.progress.tell()


class NodePlace:
    """One try of one node: the Place its type sees."""

    def __init__(self, graph: GraphRun, node: Node, key: str) -> None:
        self._graph = graph
        self._node = node
        self.key = key
        self.execution = graph.execution

    @property
    def taken_ports(self) -> frozenset[str]:
        return frozenset(self._graph.taken_ports.get(self._node.id, ()))

    def error(self, code: str, message: str) -> Valued:
        described = {"error": {"code": code, "message": message}}
        return Valued(described, self._graph.services.error_labels)

    def filled(self, value: Json) -> Valued:
        return self._graph.scope.filled(value)

    def computed(self, text: str, also: Mapping[str, Valued] | None = None) -> Valued:
        return self._graph.scope.with_variables(also or {}).computed(text)

    async def call_tool(
        self, tool: str, arguments: Mapping[str, Json], *, accept_failure: bool = False
    ) -> Valued:
        given = {name: self.filled(value) for name, value in arguments.items()}
        labels = {name: each.labels for name, each in given.items() if each.labels is not None}
        values = {name: each.value for name, each in given.items()}
        found = await self._graph.services.call_tool(
            self.execution, self.key, tool, values, labels, accept_failure
        )
        return _valued(found, joined(list(labels.values())))

    async def approve_together(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        each: Sequence[Mapping[str, Valued]],
    ) -> None:
        approve = self._graph.services.approve_batch
        if approve is None:
            return
        calls = []
        for also in each:
            scope = self._graph.scope.inner(also)
            given = {name: scope.filled(value) for name, value in arguments.items()}
            labels = {name: one.labels for name, one in given.items() if one.labels is not None}
            calls.append(({name: one.value for name, one in given.items()}, labels))
        await approve(self.execution, self.key, tool, calls)

    @asynccontextmanager
    async def budget_for(self, parts: int) -> AsyncIterator[None]:
        services = self._graph.services
        is_held = (
            services.set_aside is not None
            and parts > 0
            and await services.set_aside(self.execution, self.key, parts, self._node)
        )
        try:
            yield
        except (StepFailed, StewardError):
            await self._give_back(is_held=is_held)
            raise
        # A run that is parked goes on holding it.
        await self._give_back(is_held=is_held)

    async def _give_back(self, *, is_held: bool) -> None:
        give_back = self._graph.services.give_back
        if is_held and give_back is not None:
            await give_back(self.execution, self.key)

    async def run_agent(self, agent: Json, labels: Mapping[str, Labels | None]) -> Valued:
        run = self._graph.services.run_agent

        async def look() -> Json:
            return run is not None

        # Recorded: a run that failed for want of a model replays so where there is one.
        found = await self.execution.step(f"{self.key}:service", {}, look, of=self.key)
        if not found or run is None:
            raise Misconfigured(
                f"The node {self._node.id!r} needs an agent, and no model is set up here. "
                "Set one up, or replace the node by tools."
            )
        found = await run(self.execution, self.key, agent, labels)
        return _valued(found, joined(list(labels.values())))

    async def body(self, part: str, body: Body, also: Mapping[str, Valued]) -> Valued:
        graph, scope = self._graph, self._graph.scope.inner(also)
        return await GraphRun(
            graph.execution, graph.services, body, scope, f"{self.key}{part}/"
        ).run()

    async def flow(self, flow: Flow, inputs: Valued) -> Valued:
        graph = self._graph
        return await run_graph(
            graph.execution, graph.services, flow, inputs, f"{self.key}/", progress=None
        )

    async def child(self, flow: Flow, inputs: Valued) -> Valued:
        mine = self.execution.request
        request = RunRequest(
            title=flow.name or flow.id,
            program=mine.program,
            document=dump_flow(flow),
            inputs=inputs.value,
            grant=mine.grant,
            budget=mine.budget,
            subject=mine.subject,
            queue=mine.queue,
            priority=mine.priority,
            max_steps=mine.max_steps,
        )
        answer = await self.execution.child(self.key, request)
        if "output" not in answer:
            error = answer.get("error") or {}
            code = str(error.get("code", answer.get("status", "failed")))
            said = error.get("message", f"it was {answer.get('status')}")
            raise StepFailed(self.key, code, f"The sub-run of {self._node.id!r} failed: {said}")
        labels = joined([inputs.labels, self._graph.services.child_labels])
        return Valued(answer["output"], labels)

    def part_done(self, done: int, total: int) -> None:
        if self._graph.progress is not None:
            self._graph.progress.parts[self._node.id] = {"done": done, "total": total}
            self._graph.progress.tell()


async def run_graph(
    execution: Execution,
    services: Services,
    flow: Flow,
    inputs: Valued,
    prefix: str,
    progress: Progress | None,
) -> Valued:
    """A whole flow: its inputs are checked before, its output after."""
    values = with_defaults(flow.inputs, inputs.value)
    _check(flow.inputs, values, "input", f"The inputs of {flow.name or flow.id!r} do not fit")
    run = {"id": execution.run.id, "title": execution.run.title, "by": execution.run.created_by}
    scope = Scope(Valued(values, inputs.labels, parts=inputs.parts), run)
    found = await GraphRun(execution, services, flow, scope, prefix, progress).run()
    if flow.outputs is not None:
        said = f"The output of {flow.name or flow.id!r} is not what it promises"
        _check(flow.outputs, found.value, "output", said)
    return found


def _check(schema: Mapping[str, Any], value: Json, at: str, said: str) -> None:
    problems = problems_of(schema, value)
    if problems:
        where = problems[0].pointer or "/"
        raise StepFailed(at, "invalid", f"{said}: {where} {problems[0].message}.")


def _failure(key: str, problem: StepFailed | StewardError) -> StepFailed:
    if isinstance(problem, StepFailed):
        return problem
    return StepFailed(key, problem.specific_code, problem.message)


def _valued(found: Any, labels: Labels | None) -> Valued:
    """What a service answered: a value, or an object with `value` and `labels`."""
    if hasattr(found, "value") and hasattr(found, "labels"):
        return Valued(found.value, joined([labels, found.labels]))
    return Valued(found, labels)
