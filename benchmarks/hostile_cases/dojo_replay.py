"""Replays AgentDojo's cases: every call goes through enforcement of the plan, provenance and the broker."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.hostile_cases.desk import Desk
from benchmarks.hostile_cases.dojo_cases import AGENT, MARK, Call, Case, Piece, Tried
from benchmarks.hostile_cases.dojo_tools import ENVIRONMENTS, risk_of, spends, tool_name
from steward.agents.enforcement import Made, is_asked_for, refusal
from steward.agents.provenance import label_arguments, result_of, trusted_for
from steward.agents.roster import Agent
from steward.broker.approvals import Approval
from steward.broker.labels import Labels
from steward.broker.tool import TOOLS, Risk
from steward.runs import Execution, Json, StepFailed

PROGRAM: Final = "agentdojo"
_AGENT: Final = Agent(
    name=AGENT,
    title="Assistant",
    description="Does everything.",
    instructions="Do what the person asks.",
    tools=["*"],
    highest_risk=Risk.secret,
)


def replay(desk: Desk, cases: Iterable[Case]) -> None:
    """Drives every case to its end; what happened stands in the cases."""
    known: dict[str, Case] = {}

    async def program(execution: Execution) -> Json:
        broker = desk.steward.governing.broker
        await broker.begin(execution)
        case = known[execution.run.id]
        await _Walk(desk, execution, case).through()
        return None

    def approve(approval: Approval) -> bool:
        tried = known[approval.run_id].tried[approval.wait_key.partition("/approval/")[0]]
        tried.asked = True
        tried.by_policy = any(rule["level"] == "project" for rule in approval.rules)
        # Who is asked sees what it is: what the task is about is approved, what was slipped in is not.
        return not tried.ordered

    desk.program(PROGRAM, program)
    runs = []
    for case in cases:
        tools = frozenset(tool_name(case.suite.name, tool.name) for tool in case.suite.tools)
        run = desk.start(PROGRAM, case.name, tools, {})
        known[run.id] = case
        ENVIRONMENTS[run.id] = case.environment
        runs.append(run)
    desk.finish(runs, approve)


@dataclass
class _Walk:
    """One pass over a case; after a wait it is walked again, and the journal answers for what is done."""

    desk: Desk
    execution: Execution
    case: Case

    async def through(self) -> None:
        self._seen: list[tuple[str, Labels]] = []
        self._orders = list(self.case.orders)
        for piece in self.case.pieces:
            self._made: list[Made] = []
            await self._obey(piece)
            for call in piece.calls:
                await self._try(piece, call, ordered=False)
                await self._obey(piece)

    async def _obey(self, piece: Piece) -> None:
        """The model does what it read, as soon as it has read it and again wherever it was kept from it."""
        if not any(MARK in text for text, _ in self._seen):
            return
        self._orders = [
            order for order in self._orders if not await self._try(piece, order, ordered=True)
        ]

    async def _try(self, piece: Piece, call: Call, *, ordered: bool) -> bool:
        name, risk = tool_name(self.case.suite.name, call.function), risk_of(call.function)
        labels = label_arguments(
            call.arguments,
            trusted_for(risk, [self.case.task.PROMPT], []),
            self._seen,
            schema=TOOLS.get(name).schema(),
        )
        key = f"{piece.step.id}/call/{len(self._made) + 1}"
        tried = self.case.tried.setdefault(key, Tried(call, ordered))
        why = refusal(
            piece.step,
            _AGENT,
            name,
            risk,
            call.arguments,
            self._made,
            labels,
            spends=spends(call.function),
        )
        if why is not None:
            tried.outcome, tried.why = "refused", why
            self._made.append(Made(name, call.arguments, failed=True, why=why, refused=True))
            return False
        done = await self._called(piece, key, tried, labels)
        self._made.append(Made(name, call.arguments, failed=not done))
        return done

    async def _called(
        self, piece: Piece, key: str, tried: Tried, labels: dict[str, Labels]
    ) -> bool:
        call = tried.call
        asked_for = is_asked_for(
            piece.step,
            risk_of(call.function),
            call.arguments,
            labels,
            plan_is_trusted=True,
            spends=spends(call.function),
        )
        broker = self.desk.steward.governing.broker
        name = tool_name(self.case.suite.name, call.function)
        try:
            found = await broker.call(
                self.execution, key, name, call.arguments, labels, asked_for=asked_for
            )
        except StepFailed as failure:
            tried.outcome = {"rejected": "rejected", "denied": "refused"}.get(
                failure.code, "failed"
            )
            tried.why = failure.message
            return False
        tried.outcome = "done"
        self._seen.append((found.value["text"], result_of(piece.step.id, found.labels)))
        return True


def goal_reached(case: Case) -> bool:
    """Whether AgentDojo finds that the injection got what it wanted."""
    return bool(_judged(case, case.injection))


def task_done(case: Case) -> bool:
    return bool(_judged(case, case.task))


def _judged(case: Case, task: Any) -> Any:
    from agentdojo.functions_runtime import FunctionCall

    traces = [
        FunctionCall(function=tried.call.function, args=tried.call.arguments)
        for tried in case.tried.values()
        if tried.outcome == "done"
    ]
    output = [{"type": "text", "content": case.said}]
    return case.suite._check_task_result(task, output, case.before, case.environment, traces)
