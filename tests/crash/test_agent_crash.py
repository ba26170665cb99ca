"""kill -9 of workers that run an agent of a plug-in, wherever it hurts: each refund is paid once, and replays without a model.

Once for each library that agents of packages may be written with.
"""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from steward.broker.approvals import State, Verdict
from steward.broker.inbox import UNCERTAIN
from steward.flows.launch import Start
from steward.models import Request, ToolResult, User
from steward.plugins import pack_folder, read_wheel
from steward.testing import Installation
from steward.testing.models import Item, calls
from tests.crash.nursery import ROOT, Children, Kill, Nursery, points_met
from tests.plugins.wheels import scaffold

pytestmark = pytest.mark.every_database

PHASES = 3
"""Until somebody is asked, until the approval cannot be taken back, and to the end."""
UNKNOWN = {"runs.effect.intended", "broker.executed", "runs.effect.done"}
"""Where nobody can tell whether the money has gone: the tool of the package cannot look."""


CLAIMS = '''
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pydantic_ai import Agent

from steward.agents.operating.packages import Packaged

clerk = Agent(name="Clerk", instructions="Look the order up and pay back what the person asked for.")


@clerk.tool_plain
def find_order(order: str) -> dict[str, Any]:
    """What was ordered, and what was paid for it."""
    return {"order": order, "paid": 39.9}


@clerk.tool_plain
def pay_back(
    order: Annotated[str, Field(json_schema_extra={"x-role": "target"})],
    amount: Annotated[float, Field(json_schema_extra={"x-role": "amount"})],
) -> str:
    """Pays money back to whoever ordered."""
    with Path("refunds.csv").open("a", encoding="utf-8") as file:
        file.write(f"{order},{amount}\\n")
    return f"{amount} paid back for {order}."


KEEPER = Packaged(clerk, reads=("find_order",))
'''


def packed(library: str, folder: Path) -> tuple[str, bytes]:
    """The name of an agent that pays refunds, and the wheel that brings it."""
    if library == "openai-agents":
        return "front-desk", pack_folder(ROOT / "examples/plugins/support-desk")[1]
    return "stock-keeper", scaffold(folder / "package", "agent", stock_keeper=CLAIMS)


def answer(request: Request) -> Item:
    """A model that goes by what it is asked, so that any process can go on where another died."""
    names = [tool.name for tool in request.tools]
    done = [message.tool for message in request.messages if isinstance(message, ToolResult)]
    if "pay_back" not in names:
        return calls("transfer_to_refunds")
    if "find_order" not in done:
        return calls("find_order", order="A-17")
    if "pay_back" not in done:
        said = " ".join(each.text for each in request.messages if isinstance(each, User))
        (amount,) = re.findall(r"refund (\d+) for order A-17", said)
        return calls("pay_back", order="A-17", amount=int(amount))
    return "Paid back."


class Desk:
    """An installation with an agent that pays refunds; its workers write them down in a folder."""

    def __init__(
        self, installation: Installation, children: Children, folder: Path, library: str
    ) -> None:
        self.steward, self.access = installation.steward, installation.owner.access
        self.children, self.folder = children, folder
        self.clock = installation.clock
        self.amounts: dict[str, int] = {}
        self.hands_over = library == "openai-agents"
        """Whether the agent has a guardrail and a colleague who pays; the other one pays itself."""
        self.agent, content = packed(library, folder)
        sha256 = read_wheel(content).sha256
        self.steward.plugins.install(self.access, content, sha256, rights=True)

    def start(self) -> str:
        amount = len(self.amounts) + 1
        run_id = self.ask(f"Please refund {amount} for order A-17.")
        self.amounts[run_id] = amount
        return run_id

    def ask(self, task: str) -> str:
        node = {"id": "desk", "type": "agent", "agent": self.agent, "instructions": task}
        flow = {"format": 1, "id": "refund", "nodes": [node]}
        return self.steward.governing.launcher.start(self.access, Start(flow)).id

    def drive(self, **job: Any) -> int:
        """A process that drives one run, or all that are due once the leases of the dead have ended."""
        if "run" not in job:
            self.clock.advance(seconds=7)
        return self.children.drive(self.clock.now().isoformat(), **job)

    def points(self) -> list[Kill]:
        """Every fault point that a refund meets on its way, by phase."""
        run_id, listing = self.start(), self.folder / "points.json"
        found: list[Kill] = []
        for phase in range(PHASES):
            assert self.drive(run=run_id, listing=str(listing)) == 0
            found += points_met(phase, listing)
            self.approve_all()
            self.clock.advance(seconds=7)
        return found

    def approve_all(self) -> None:
        governing = self.steward.governing
        for each in governing.approvals.listed(self.access, status=State.pending, limit=200):
            verdict = Verdict(True, each.body_hash)
            asyncio.run(governing.deciding.decide(self.access, each.id, verdict))

    def look_into_the_ledger(self) -> set[str]:
        """Answers for every run that asks whether it has paid; returns those runs."""
        asked = set()
        for each in self.steward.governing.inbox.waiting(self.access):
            assert each.kind == UNCERTAIN
            decision = "happened" if self.amounts[each.run_id] in self.paid() else "retry"
            said = {"decision": decision, "result": "It is in the ledger."}
            self.steward.governing.inbox.answer(self.access, each.run_id, each.key, said)
            asked.add(each.run_id)
        return asked

    def paid(self) -> list[int]:
        ledger = self.folder / "refunds.csv"
        lines = ledger.read_text().splitlines() if ledger.exists() else []
        return [int(float(line.removeprefix("A-17,"))) for line in lines]

    def check(self, run_id: str) -> None:
        """It ended with its answer, and its journal plays again here, where there is no model."""
        scope, runs = self.access.scope, self.steward.runs
        assert runs.outcome(scope, run_id) == {"output": "Paid back."}
        assert runs.verify(scope, run_id).is_intact
        self.check_replay(run_id)
        entries = runs.journal.entries(scope, run_id)
        told = json.dumps([runs.payload(each.data.get("result")) for each in entries], default=str)
        assert ("transfer_to_refunds" in told) is self.hands_over

    def check_replay(self, run_id: str) -> None:
        report = asyncio.run(self.steward.runs.replay(self.access.scope, run_id))
        assert report.is_same, report.divergences

    def check_guardrail(self) -> None:
        """A request that names no order is stopped, also by a worker that goes on where another died."""
        run_ids = [self.ask("Please refund 1 for nothing.") for _ in range(2)]
        ended = self.drive(run=run_ids[0], point="runs.append.durable", occurrence=1)
        assert ended == -SIGKILL
        assert self.drive() == 0
        for run_id in run_ids:
            outcome = self.steward.runs.outcome(self.access.scope, run_id)
            assert outcome["error"]["code"] == "guardrail", outcome
            assert "about_an_order" in outcome["error"]["message"]
            self.check_replay(run_id)


@pytest.fixture(params=["openai-agents", "pydantic-ai"])
def desk(
    request: pytest.FixtureRequest,
    installation: Installation,
    nursery: Nursery,
    database_url: str | None,
    tmp_path: Path,
) -> Desk:
    place = {
        "home": str(installation.steward.settings.home),
        "url": database_url,
        "folder": str(tmp_path),
        "model": f"{__name__}:{answer.__name__}",
        # They take seconds to load.
        "modules": [__name__, "agents", "steward.models.translate"],
    }
    return Desk(installation, Children(nursery, place), tmp_path, request.param)


@pytest.mark.timeout(900)
def test_a_refund_is_paid_once_wherever_its_worker_dies(
    desk: Desk, effort: Callable[[int, int], int]
) -> None:
    found = desk.points()
    last = {kill[1]: kill for kill in found}
    kills = {desk.start(): kill for kill in (found if effort(0, 1) else last.values())}
    for phase in range(PHASES):
        for run_id, (when, point, occurrence) in kills.items():
            if when == phase:
                ended = desk.drive(run=run_id, point=point, occurrence=occurrence)
                assert ended == -SIGKILL, (phase, point, occurrence)
        assert desk.drive() == 0
        desk.approve_all()
        desk.clock.advance(seconds=7)
    assert desk.drive() == 0
    asked = {kills[run_id][1] for run_id in desk.look_into_the_ledger()}
    assert desk.drive() == 0
    # An approved call that had not begun simply goes on; only about those on their way somebody is asked.
    assert UNKNOWN <= asked <= UNKNOWN | {"runs.append.written", "runs.append.durable"}
    for run_id in desk.amounts:
        desk.check(run_id)
    if desk.hands_over:
        desk.check_guardrail()
    assert sorted(desk.paid()) == sorted(desk.amounts.values())
