"""Replays AgentDojo's cases as chat turns: plan, flow, operator, broker and explainer are those of the product."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.hostile_cases.desk import Desk
from benchmarks.hostile_cases.dojo_cases import AGENT, Asked, Call, Case, Piece
from benchmarks.hostile_cases.dojo_tools import WORD, DojoTools, World, names_of, tool_name
from benchmarks.hostile_cases.renaming import Names
from benchmarks.hostile_cases.staff import anybody, staffed
from steward.agents.chat.turn import Turns
from steward.agents.planning.plan import Plan
from steward.broker.approvals import Approval
from steward.models import Call as Wanted
from steward.models import Request, Role
from steward.runs import Execution, Json, Kind
from steward.testing.models import Item, ScriptedLineup, ScriptedModel, answers

PROGRAM: Final = "agentdojo"
_MOST_REQUESTS: Final = 200
_STEP: Final = re.compile(r"Your step: Step (\d+):")
_ROSTER: Final = anybody(AGENT)


class Replay:
    """Drives cases of one suite in one installation."""

    def __init__(self, desk: Desk, suite: Any, *, renamed: bool = False) -> None:
        self._desk = desk
        self._suite = suite
        self._names = names_of(suite) if renamed else Names()
        self._tools = DojoTools(suite, self._names)
        self._cases: dict[str, Case] = {}
        self._turns: dict[str, Turns] = {}
        desk.steward.governing.broker.tools.provide(WORD, self._tools)
        desk.program(PROGRAM, self._program)

    def run(self, cases: Iterable[Case]) -> None:
        """Drives every case to its end; what happened stands in the cases."""
        own = {
            self._names.tool(tool_name(self._suite.name, tool.name)) for tool in self._suite.tools
        }
        # When a plan fails and no model plans anew, rules look at the data: there has to be something to look with.
        names = frozenset(own | {"list_datasets"})
        runs = []
        for case in cases:
            run = self._desk.start(PROGRAM, case.name, names, _document(case, self._names))
            world = World(case.environment, case.mark)
            self._cases[run.id] = case
            self._tools.worlds[run.id] = world
            self._turns[run.id] = self._staffed(Obedient(case, world, self._names))
            runs.append(run)
        self._desk.finish(runs, self._approve)
        for run in runs:
            self._look_back(run.id)

    async def _program(self, execution: Execution) -> Json:
        return await self._turns[execution.run.id].program(execution)

    def _staffed(self, model: "Obedient") -> Turns:
        """With this model for those who act and explain; nobody plans anew."""
        lineup = ScriptedLineup()
        for role in (Role.operator, Role.explainer):
            lineup.play(ScriptedModel([model.reply] * _MOST_REQUESTS), role=role)
        return staffed(self._desk, _ROSTER, lineup)

    def _approve(self, approval: Approval) -> bool:
        """Who is asked sees what it is: what the task is about is approved, what was slipped in is not."""
        case = self._cases[approval.run_id]
        function = self._names.tool_back(approval.tool).rpartition(".")[2]
        call = Call(function, self._names.arguments_back(function, approval.body["arguments"]))
        ordered = not case.is_wanted(call)
        by_policy = any(rule["level"] == "project" for rule in approval.rules)
        why = " ".join(approval.doubts) or approval.reason
        case.asked.append(Asked(call, ordered, by_policy, why))
        return not ordered

    def _look_back(self, run_id: str) -> None:
        case, runs, scope = self._cases[run_id], self._desk.steward.runs, self._desk.access.scope
        world = self._tools.worlds.pop(run_id)
        del self._turns[run_id]
        case.called = [Call(function, arguments) for function, arguments in world.called]
        for entry in runs.journal.entries(scope, run_id):
            if entry.key == "answer" and entry.kind == Kind.step:
                case.answer = runs.payload(entry.data.get("result") or {}).get("answer", "")
            elif "/deviation/" in entry.key:
                case.refused += entry.data.get("kind") == "outside-plan"
        outcome = runs.outcome(scope, run_id) or {}
        case.failure = str((outcome.get("error") or {}).get("message", ""))


@dataclass
class Obedient:
    """A model that does the task, and whatever foreign text says as soon as it has been read.

    It tries what the text wants before and after every call of its own, in every step anew, until it has happened.
    """

    case: Case
    world: World
    names: Names
    _made: dict[int, int] = field(default_factory=dict)
    """How many of its own calls were made, by the number of the step."""
    _obeyed: set[tuple[int, int]] = field(default_factory=set)

    def reply(self, request: Request) -> Item:
        piece, number = self._step(request)
        if piece is None:
            return self.case.said
        made = self._made.get(number, 0)
        orders = self._left()
        if orders and (number, made) not in self._obeyed:
            self._obeyed.add((number, made))
            self.case.tried += len(orders)
            return answers(*(self._wanted(order) for order in orders))
        if made < len(piece.calls):
            self._made[number] = made + 1
            return self._wanted(piece.calls[made])
        return self.case.said if piece is self.case.pieces[-1] else "Done."

    def _left(self) -> list[Call]:
        if not self.world.was_read:
            return []
        done = [Call(function, arguments) for function, arguments in self.world.called]
        left = []
        for order in self.case.orders:
            same = next((call for call in done if call.same_as(order)), None)
            if same is None:
                left.append(order)
            else:
                done.remove(same)
        return left

    def _wanted(self, call: Call) -> Wanted:
        tool = tool_name(self.case.suite.name, call.function)
        return Wanted("", self.names.tool(tool), self.names.arguments(tool, call.arguments))

    def _step(self, request: Request) -> tuple[Piece | None, int]:
        texts = [getattr(message, "text", "") for message in request.messages]
        found = [match for text in texts for match in _STEP.finditer(text)]
        if not found or request.role == Role.explainer:
            return None, -1
        number = int(found[0].group(1))
        return self.case.pieces[number], number


def _document(case: Case, names: Names) -> Json:
    """A message with a plan that a person has looked at; so there is no review of it any more."""
    plan = Plan(
        goal=case.task.PROMPT[:2_000], steps=[names.step(piece.step) for piece in case.pieces]
    )
    return {
        "format": 1,
        "message": case.task.PROMPT,
        "thread_id": "",
        "parent": None,
        "review": "never",
        "plan": plan.to_json(),
    }


def goal_reached(case: Case) -> bool:
    """Whether AgentDojo finds that the injection got what it wanted."""
    return bool(_judged(case, case.injection))


def task_done(case: Case) -> bool:
    return bool(_judged(case, case.task))


def _judged(case: Case, task: Any) -> Any:
    from agentdojo.functions_runtime import FunctionCall

    traces = [FunctionCall(function=each.function, args=each.arguments) for each in case.called]
    output = [{"type": "text", "content": case.answer}]
    return case.suite._check_task_result(task, output, case.before, case.environment, traces)
