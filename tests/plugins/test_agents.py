"""Agents of plug-ins, written with openai-agents or pydantic-ai: governed, parked, resumed and replayed without a model."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.agents.operating.packages import AGENTS, read_package_agent
from steward.broker.approvals import Verdict
from steward.core import MovableClock
from steward.core.errors import Conflict, Denied, Invalid, NotFound, StewardError
from steward.flows.launch import Start
from steward.models import Call
from steward.plugins import pack_folder, read_wheel
from steward.runs import Run, Status
from steward.testing import Installation
from steward.testing.models import Item, ScriptedLineup, ScriptedModel, answers, calls
from tests.plugins import sdk_agents
from tests.plugins.wheels import scaffold

DESK = Path(__file__).resolve().parents[2] / "examples/plugins/support-desk"
TASK = "Please refund 39.9 for order A-17."
REFUND = calls("pay_back", order="A-17", amount=39.9)
HAND_OVER = calls("transfer_to_refunds")
CLAIMS = '''
from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic_ai import Agent

from steward.agents.operating.packages import Packaged


class Verdict(BaseModel):
    refund: bool
    why: str


weigher = Agent(
    name="Weigher", instructions="Weigh the claim and book it.", output_type=Verdict
)


@weigher.tool_plain
def look_up(order: str) -> dict[str, Any]:
    """What was ordered."""
    return {"order": order, "paid": 39.9}


@weigher.tool_plain
def book(
    order: Annotated[str, Field(json_schema_extra={"x-role": "target"})],
    amount: Annotated[float, Field(json_schema_extra={"x-role": "amount"})],
) -> str:
    """Books a refund."""
    with open(LEDGER, "a") as file:
        file.write(f"{order},{amount}\\n")
    return "Booked."


KEEPER = Packaged(weigher, reads=("look_up",))
'''
PIN = {"plugin": "tests", "version": "1", "sha256": "0" * 64}


class Desk:
    def __init__(
        self, installation: Installation, clock: MovableClock, models: ScriptedLineup
    ) -> None:
        self.installation = installation
        self.steward = installation.steward
        self.access = installation.owner.access
        self.clock = clock
        self.models = models
        self.model = ScriptedModel([])

    def install(self, *, rights: bool = True) -> None:
        content = pack_folder(DESK)[1]
        sha256 = read_wheel(content).sha256
        self.steward.plugins.install(self.access, content, sha256, rights=rights)

    def script(self, *items: Item) -> None:
        self.model = ScriptedModel(list(items))
        self.models.play(self.model)

    def run(self, task: str = TASK, agent: str = "front-desk", **node: Any) -> Run:
        document = {"id": "desk", "type": "agent", "agent": agent, "instructions": task, **node}
        flow = {"format": 1, "id": "one", "nodes": [document]}
        return self.drive(self.steward.governing.launcher.start(self.access, Start(flow)))

    def drive(self, run: Run) -> Run:
        self.steward.runs.drive_until_idle()
        return self.steward.runs.get(self.access.scope, run.id)

    def ended(self, run: Run) -> Any:
        return self.steward.runs.outcome(self.access.scope, run.id)

    def decide(self, run: Run, *, approve: bool = True) -> Run:
        """Decides about the one call that waits, and lets the run go on past the time to take it back."""
        governing = self.steward.governing
        (asked,) = governing.approvals.listed(self.access, run_id=run.id)
        verdict = Verdict(approve, asked.body_hash, "" if approve else "Not this one.")
        asyncio.run(governing.deciding.decide(self.access, asked.id, verdict, None))
        self.drive(run)
        self.clock.advance(minutes=1)
        return self.drive(run)

    def replays(self, run: Run) -> None:
        self.models.play()
        report = asyncio.run(self.steward.runs.replay(self.access.scope, run.id))
        assert report.divergences == (), report.divergences


@pytest.fixture
def bare(installation: Installation, clock: MovableClock, models: ScriptedLineup) -> Desk:
    return Desk(installation, clock, models)


@pytest.fixture
def desk(bare: Desk, refunds: Path) -> Desk:
    bare.install()
    return bare


@pytest.fixture
def refunds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "refunds.csv"


@pytest.fixture
def loaded() -> Iterator[None]:
    """Agents of this package, as if a plug-in had brought them."""
    names = ("judged", "sneaking", "handing", "mindful", "mindful-too")
    for name in names:
        AGENTS.add(name, read_package_agent(name, PIN, getattr(sdk_agents, name.replace("-", "_"))))
    yield
    for name in names:
        AGENTS.remove(name)


def test_an_agent_looks_up_and_answers(desk: Desk) -> None:
    desk.script(calls("find_order", order="A-17"), "A kettle for 39.9.")
    run = desk.run("What is in order A-17?")
    assert desk.ended(run)["output"] == "A kettle for 39.9."
    offered = [tool.name for tool in desk.model.requests[0].tools]
    assert offered == ["find_order", "transfer_to_refunds"]
    system = desk.model.requests[0].messages[0].to_json()["text"]
    assert "Answer questions about orders." in system
    found = desk.model.requests[1].messages[-1].to_json()
    assert (found["kind"], "Kettle" in found["text"]) == ("tool", True)
    desk.replays(run)


def test_a_refund_is_handed_over_waits_for_approval_and_is_paid_once(
    desk: Desk, refunds: Path
) -> None:
    desk.script(HAND_OVER, calls("find_order", order="A-17"), REFUND, "Paid back.")
    run = desk.run()
    assert run.status is Status.waiting_for_approval
    assert not refunds.exists()
    told = desk.model.requests[1].messages[0].to_json()["text"]
    assert "pay back exactly what the person asked for" in told
    run = desk.decide(run)
    assert desk.ended(run)["output"] == "Paid back."
    assert refunds.read_text() == "A-17,39.9\n"
    desk.model.assert_finished()
    desk.replays(run)
    assert refunds.read_text() == "A-17,39.9\n"


def test_calls_are_told_apart_where_a_server_numbers_them_alike(desk: Desk, refunds: Path) -> None:
    """As small servers do that count the calls of each answer from 0, or leave the id out."""
    alike = "call_0"
    desk.script(
        Call(alike, "find_order", {"order": "A-18"}),
        Call(alike, "transfer_to_refunds", {}),
        answers(
            Call(alike, "find_order", {"order": "A-17"}),
            Call(alike, "find_order", {"order": "A-18"}),
        ),
        Call(alike, "pay_back", {"order": "A-17", "amount": 39.9}),
        "Paid back.",
    )
    run = desk.decide(desk.run())
    assert desk.ended(run)["output"] == "Paid back."
    assert refunds.read_text() == "A-17,39.9\n"
    shown = [each.to_json() for each in desk.model.requests[3].messages[-2:]]
    assert ["Kettle" in each["text"] for each in shown] == [True, False]
    desk.replays(run)


def test_calls_of_a_pydantic_ai_agent_are_told_apart_where_a_server_numbers_them_alike(
    bare: Desk, tmp_path: Path
) -> None:
    book = tmp_path / "ledger.csv"
    text = CLAIMS.replace("LEDGER", repr(str(book)))
    content = scaffold(tmp_path, "agent", stock_keeper=text)
    sha256 = read_wheel(content).sha256
    bare.steward.plugins.install(bare.access, content, sha256, rights=True)
    bare.script(
        Call("call_0", "look_up", {"order": "A-17"}),
        Call("call_0", "book", {"order": "A-17", "amount": 39.9}),
        Call("call_0", "final_result", {"refund": True, "why": "It broke."}),
    )
    run = bare.decide(bare.run("Refund 39.9 for order A-17.", "stock-keeper"))
    assert bare.ended(run)["output"] == {"refund": True, "why": "It broke."}
    assert book.read_text() == "A-17,39.9\n"
    bare.replays(run)


def test_a_rejected_refund_ends_the_work(desk: Desk, refunds: Path) -> None:
    desk.script(HAND_OVER, REFUND, "never asked")
    run = desk.decide(desk.run(), approve=False)
    assert (run.status, desk.ended(run)["error"]["code"]) == (Status.failed, "rejected")
    assert not refunds.exists()


def test_a_guardrail_of_the_package_stops_the_work_before_a_model_is_asked(desk: Desk) -> None:
    desk.script("never asked")
    error = desk.ended(desk.run("Tell me a joke."))["error"]
    assert (error["code"], "about_an_order" in error["message"]) == ("guardrail", True)
    assert desk.model.requests == []


def test_tools_of_steward_can_be_given_to_it(desk: Desk) -> None:
    desk.script(calls("list_datasets"), "No datasets, order A-17 is fine.")
    run = desk.run("What datasets are there about A-17?", tools=["list_datasets"])
    assert desk.ended(run)["output"].startswith("No datasets")
    assert "list_datasets" in [tool.name for tool in desk.model.requests[0].tools]
    called = [entry.key for entry in desk.steward.runs.journal.entries(desk.access.scope, run.id)]
    assert any("/call/" in key for key in called)
    desk.replays(run)


def test_the_steps_of_a_node_hold(desk: Desk) -> None:
    desk.script(*[calls("find_order", order="A-17")] * 40)
    error = desk.ended(desk.run(max_steps=3))["error"]
    assert error["code"] == "too-many-steps"
    assert len(desk.model.requests) <= 4


def test_without_a_model_it_says_so(desk: Desk) -> None:
    assert desk.ended(desk.run())["error"]["code"] == "no-model"


def test_it_is_listed_and_its_tools_are_strict(desk: Desk) -> None:
    scope = desk.access.scope
    (found,) = [each for each in desk.steward.agents.listed(scope) if each.origin == "plugin"]
    assert (found.agent.name, found.agent.title) == ("front-desk", "Front desk")
    tools = desk.steward.governing.broker.tools
    risks = {name: tools.get(scope, name).risk.value for name in found.agent.tools}
    assert risks == {
        "plugin.support-desk.front-desk.find_order": "read",
        "plugin.support-desk.front-desk.pay_back": "external_send",
    }
    assert set(risks) <= set(tools.names(scope))
    with pytest.raises(NotFound):
        tools.get(scope, "plugin.support-desk.front-desk.nothing")


def test_the_code_of_an_agent_needs_consent(bare: Desk) -> None:
    with pytest.raises(Denied, match="agent front-desk"):
        bare.install(rights=False)
    with pytest.raises(NotFound, match="no agent called 'front-desk'"):
        bare.steward.agents.find(bare.access.scope, "front-desk")


def test_work_that_began_with_code_that_is_gone_says_so(desk: Desk) -> None:
    desk.script(HAND_OVER, REFUND, "Paid back.")
    run = desk.run()
    assert run.status is Status.waiting_for_approval
    desk.steward.plugins.remove(desk.access, "support-desk")
    run = desk.decide(run)
    error = desk.ended(run)["error"]
    assert error["code"] == "tool-changed"
    assert "support-desk 1.0.0" in error["message"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hosted", "no plain function tool"),
        ("as_tool", "no plain function tool"),
        ("twins", "two tools called"),
        ("misdeclared", "no tool 'look'"),
        ("needy", "needs dependencies"),
        ("passed_on", "neither an Agent"),
    ],
)
def test_what_cannot_be_governed_is_refused(name: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        read_package_agent("one", PIN, getattr(sdk_agents, name))


def test_names_of_agents_are_not_taken_twice() -> None:
    with pytest.raises(Conflict, match="comes with Steward"):
        read_package_agent("summariser", PIN, sdk_agents.judged)
    with pytest.raises(StewardError, match="no name of an agent"):
        read_package_agent("My agent", PIN, sdk_agents.judged)


@pytest.mark.usefixtures("loaded")
def test_a_nested_run_of_a_guardrail_asks_the_models_of_the_project(bare: Desk) -> None:
    bare.script("yes", "Fine.")
    run = bare.run("Anything.", "judged")
    assert bare.ended(run)["output"] == "Fine."
    assert "You judge." in bare.model.requests[0].messages[0].to_json()["text"]
    bare.replays(run)


@pytest.mark.usefixtures("loaded")
def test_a_nested_run_with_tools_of_its_own_is_refused(bare: Desk) -> None:
    bare.script("never asked")
    error = bare.ended(bare.run("Anything.", "sneaking"))["error"]
    assert "tools that Steward does not govern" in error["message"]
    assert bare.model.requests == []


@pytest.mark.usefixtures("loaded")
def test_what_a_package_does_on_a_hand_over_still_happens(bare: Desk) -> None:
    sdk_agents.passed_on.clear()
    bare.script(calls("transfer_to_following"), "Done by the second.")
    run = bare.run("Anything.", "handing")
    assert bare.ended(run)["output"] == "Done by the second."
    assert "You are the second." in bare.model.requests[1].messages[0].to_json()["text"]
    assert sdk_agents.passed_on


def test_an_agent_of_pydantic_ai_parks_books_once_and_replays(bare: Desk, tmp_path: Path) -> None:
    ledger = tmp_path / "booked.csv"
    code = CLAIMS.replace("LEDGER", repr(str(ledger)))
    content = scaffold(tmp_path, "agent", name="acme-claims", stock_keeper=code)
    bare.steward.plugins.install(bare.access, content, read_wheel(content).sha256, rights=True)
    bare.script(
        calls("look_up", order="A-17"),
        calls("book", order="A-17", amount=39.9),
        calls("final_result", refund=True, why="It broke."),
    )
    run = bare.run(TASK, "stock-keeper")
    assert run.status is Status.waiting_for_approval
    assert not ledger.exists()
    offered = [tool.name for tool in bare.model.requests[0].tools]
    assert offered == ["look_up", "book", "final_result"]
    run = bare.decide(run)
    assert bare.ended(run)["output"] == {"refund": True, "why": "It broke."}
    assert ledger.read_text() == "A-17,39.9\n"
    assert "Weigh the claim" in bare.model.requests[0].messages[0].to_json()["text"]
    found = bare.model.requests[1].messages[-1].to_json()
    assert (found["kind"], found["tool"], "39.9" in found["text"]) == ("tool", "look_up", True)
    bare.replays(run)
    assert ledger.read_text() == "A-17,39.9\n"


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("name", ["mindful", "mindful-too"])
def test_an_agent_of_a_package_remembers_between_runs(bare: Desk, name: str) -> None:
    bare.script(calls("remember", text="Ada is in Graz."), "Noted.")
    first = bare.run("Note where Ada is.", name)
    assert bare.ended(first)["output"] == "Noted.", bare.ended(first)
    offered = [tool.name for tool in bare.model.requests[0].tools]
    assert offered == ["remember", "forget"]

    bare.script("In Graz.")
    second = bare.run("Where is Ada?", name)

    assert bare.ended(second)["output"] == "In Graz."
    told = [each.to_json()["text"] for each in bare.model.requests[0].messages]
    (shown,) = [text for text in told if "Ada is in Graz." in text]
    assert f'source="memory:{name}"' in shown
    assert "You have a memory for this project." in told[0]
    notes = bare.steward.agents.notes
    (note,) = notes.visible(bare.access.scope, name, bare.access.user_id)
    notes.delete(bare.access.scope, name, [note.id], by="", call="")
    bare.replays(second)
    bare.replays(first)


def test_a_package_with_a_memory_has_no_tools_of_these_names() -> None:
    with pytest.raises(Invalid, match="Rename its own"):
        read_package_agent("forgetful", PIN, sdk_agents.forgetful)
