"""Budgets of a day, week or month: model requests that do not fit are stopped before they are made."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from steward.broker._budget_tables import period_uses
from steward.broker.limits import PeriodBudgetExceeded
from steward.broker.period_budgets import BudgetLimits, KeptBudget, PeriodBudget
from steward.broker.period_draws import Payer, Place, count, draw
from steward.core.errors import Conflict, Denied, Invalid, NotFound, Stale
from steward.flows.launch import Start
from steward.identity import Role
from steward.runs import Run, Status
from steward.testing import Installation
from steward.testing.models import Item, ScriptedLineup, ScriptedModel, fails

pytestmark = pytest.mark.every_database

PRICE = Decimal("0.001")
"""For each word. A request is quoted at more than two dollars, for an answer of 2,000 tokens, and costs cents."""


class Scene:
    def __init__(self, installation: Installation, models: ScriptedLineup) -> None:
        self.installation = installation
        self.steward = installation.steward
        self.access = installation.owner.access
        self.models = models
        self.model = ScriptedModel([])

    def script(self, *items: Item) -> None:
        self.model = ScriptedModel(list(items), price=PRICE)
        self.models.play(self.model)

    def keep(self, name: str) -> None:
        document = {
            "name": name,
            "title": name.title(),
            "description": f"Does {name}.",
            "instructions": f"You do {name}.",
        }
        agents, scope = self.steward.agents, self.access.scope
        agent = agents.checked(scope, document, name)
        agents.save(scope, self.access.user_id, name, agent, message="", call=name)

    def run(self, agent: str = "helper", **start: Any) -> Run:
        node = {"id": "agent", "type": "agent", "agent": agent, "instructions": "Go on."}
        flow = {"format": 1, "id": "one", "nodes": [node]}
        run = self.steward.governing.launcher.start(self.access, Start(flow, **start))
        return self.drive(run)

    def drive(self, run: Run) -> Run:
        self.steward.runs.drive_until_idle()
        return self.steward.runs.get(self.access.scope, run.id)

    def budget(self, kind: str = "project", name: str = "", **more: Any) -> KeptBudget:
        document = {"kind": kind, "name": name, "period": "day", "usd": "10", **more}
        added = PeriodBudget.model_validate(document)
        return self.steward.governing.period_budgets.add(self.access, added)

    def used(self, budget: KeptBudget) -> tuple[Any, Any]:
        found = self.steward.governing.period_budgets.get(self.access.scope, budget.id)
        return found.spent["usd"], found.reserved["usd"]

    def spent(self, *runs: Run) -> Decimal:
        """By another account: what the budgets of the runs themselves counted."""
        ids = [run.id for run in runs]
        return Decimal(self.steward.governing.budgets.spent_usd(self.access.scope, ids)) / 10**9

    def breach(self, run: Run) -> dict[str, Any]:
        [wait] = run.waits or []
        found: dict[str, Any] = wait["request"]["breach"]
        return found


@pytest.fixture
def scene(installation: Installation, models: ScriptedLineup) -> Scene:
    scene = Scene(installation, models)
    scene.keep("helper")
    return scene


def test_a_test_of_a_flow_draws_on_the_budget_of_the_flow(scene: Scene) -> None:
    flow, other = scene.budget("flow", "playbook:one", usd="0.1"), scene.budget("flow", "flow")
    now = scene.installation.clock.now()
    payer = Payer("", scene.access.user_id, "", "playbook:one:tests")
    asked = {"usd": 10**8, "tokens": 10, "rows": 0, "bytes": 0, "time": 0}
    with scene.steward.database.write(scene.access.scope) as tx:
        drawn = draw(tx, "run", payer, asked, now)
        assert [each["budget"] for each in drawn] == [flow.id]
        with pytest.raises(PeriodBudgetExceeded):
            draw(tx, "run", payer, asked, now)
    assert scene.used(other) == (0, 0)


def test_what_runs_spend_is_counted_in_all_budgets_they_belong_to(scene: Scene) -> None:
    user = scene.access.user_id
    own = [("project", ""), ("flow", "flow"), ("agent", "helper"), ("person", user)]
    budgets = [scene.budget(*each) for each in own]
    other = [scene.budget("agent", "somebody"), scene.budget("flow", "chat")]
    scene.script("Done.")
    run = scene.run()
    assert run.status is Status.done
    spent = scene.spent(run)
    assert spent > 0
    assert [scene.used(each) for each in budgets] == [(spent, 0)] * 4
    assert [scene.used(each) for each in other] == [(0, 0)] * 2


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("project", "The daily budget of this project is $1"),
        ("flow", "The daily budget of this flow is $1"),
        ("agent", "The daily budget of the agent helper is $1"),
        ("person", "The daily budget of the person who started this run is $1"),
    ],
)
def test_a_request_that_does_not_fit_is_not_made(scene: Scene, kind: str, words: str) -> None:
    names = {"flow": "flow", "agent": "helper", "person": scene.access.user_id}
    budget = scene.budget(kind, names.get(kind, ""), usd="1")
    scene.script("Never said.")
    run = scene.run(budget={"on_breach": "abort"})
    assert run.status is Status.failed
    assert scene.model.requests == []
    error = scene.steward.runs.outcome(scene.access.scope, run.id)["error"]
    assert error["code"] == "budget-exceeded"
    assert error["message"].startswith(words)
    tomorrow = scene.steward.clock.now().astimezone(UTC).date().toordinal() + 1
    assert (
        f"It resets on {datetime.fromordinal(tomorrow):%Y-%m-%d} at 00:00 UTC" in (error["message"])
    )
    assert scene.used(budget) == (0, 0)


def test_a_run_waits_and_goes_on_when_the_budget_resets(scene: Scene) -> None:
    budget = scene.budget(usd="3")
    scene.script(*["Done."] * 200)
    runs = []
    while (run := scene.run()).status is Status.done:
        runs.append(run)
    assert runs
    assert run.status is Status.blocked
    asked = len(scene.model.requests)
    spent, reserved = scene.used(budget)
    assert (spent, reserved) == (scene.spent(*runs), 0)
    assert spent <= 3
    assert scene.breach(run)["budget_id"] == budget.id
    scene.installation.clock.advance(hours=24)
    assert scene.drive(run).status is Status.done
    assert len(scene.model.requests) == asked + 1
    assert scene.used(budget) == (scene.spent(run), 0), "a new day starts from nothing"
    scene.models.play()
    report = asyncio.run(scene.steward.runs.replay(scene.access.scope, run.id))
    assert report.divergences == ()


def test_a_raised_budget_lets_a_waiting_run_go_on(scene: Scene) -> None:
    budget = scene.budget(usd="1")
    scene.script("Done.")
    run = scene.run()
    [wait] = run.waits or []
    inbox = scene.steward.governing.inbox
    inbox.answer(scene.access, run.id, wait["key"], {"decision": "raise"})
    again = scene.drive(run)
    assert again.status is Status.blocked, "asking again gives no money"
    budgets = scene.steward.governing.period_budgets
    budgets.change(scene.access, budget.id, BudgetLimits(usd=Decimal("1.5")), 1)
    same = scene.drive(run)
    assert same.head_seq == again.head_seq, "it does not fit into that either"
    budgets.change(scene.access, budget.id, BudgetLimits(usd=Decimal(50)), 2)
    assert scene.drive(run).status is Status.done


def test_a_deleted_budget_lets_the_runs_it_stopped_go_on(scene: Scene) -> None:
    budget = scene.budget(usd="1")
    scene.script("Done.", "Done.")
    runs = [scene.run(), scene.run()]
    assert [run.status for run in runs] == [Status.blocked] * 2
    other = scene.budget("agent", "helper", usd="1")
    budgets = scene.steward.governing.period_budgets
    budgets.delete(scene.access, budget.id, 1)
    stopped = [scene.drive(run) for run in runs]
    assert [scene.breach(run)["budget_id"] for run in stopped] == [other.id] * 2
    budgets.delete(scene.access, other.id, 1)
    assert [scene.drive(run).status for run in runs] == [Status.done] * 2
    assert len(scene.model.requests) == 2
    scene.models.play()
    report = asyncio.run(scene.steward.runs.replay(scene.access.scope, runs[0].id))
    assert report.divergences == ()


def test_room_that_others_leave_goes_to_the_oldest_run_first(scene: Scene) -> None:
    budget = scene.budget(usd="3")
    scene.script(*["Done."] * 4)
    database, scope, now = scene.steward.database, scene.access.scope, scene.steward.clock.now()
    payer, nothing = Payer("", scene.access.user_id, flow="flow"), {"usd": 0, "tokens": 0}
    with database.write(scope) as tx:
        taken = draw(tx, "run_x", payer, {"usd": 2_500_000_000, "tokens": 0}, now)
    runs = [scene.run() for _ in range(3)]
    assert {run.status for run in runs} == {Status.blocked}
    budgets = scene.steward.governing.period_budgets
    budgets.tidy()
    assert {scene.drive(run).status for run in runs} == {Status.blocked}
    with database.write(scope) as tx:
        count(tx, payer, taken, {"usd": 2_500_000_000, "tokens": 0}, nothing, now)
    budgets.tidy()
    seen = [scene.drive(run) for run in runs]
    assert [run.status for run in seen] == [Status.done, Status.blocked, Status.blocked]
    assert seen[1].head_seq == runs[1].head_seq, "it was not asked in vain"
    assert scene.used(budget) == (scene.spent(runs[0]), 0)


def test_a_new_budget_knows_what_was_spent_before(scene: Scene) -> None:
    scene.script("Done.", "Done.")
    before = scene.run()
    for kind, name in [("project", ""), ("agent", "helper"), ("flow", "flow")]:
        assert scene.used(scene.budget(kind, name)) == (scene.spent(before), 0)
    other = scene.budget("agent", "somebody")
    assert scene.used(other) == (0, 0)


def test_a_request_that_failed_frees_what_was_set_aside(scene: Scene) -> None:
    budget = scene.budget(usd="3")
    scene.script(*[fails("model-refused")] * 20)
    assert scene.run().status is Status.failed
    scene.script("Done.")
    run = scene.run()
    assert run.status is Status.done, "what the ended run had set aside is free again"
    assert scene.used(budget) == (scene.spent(run), 0)


def test_many_calls_at_once_never_take_more_than_there_is(scene: Scene) -> None:
    budget = scene.budget(usd="1")
    database, now = scene.steward.database, scene.steward.clock.now()
    payer = Payer("run", scene.access.user_id, flow="flow")
    asked = {"usd": 300_000_000, "tokens": 0}

    def take(number: int) -> list[Place] | None:
        with database.write(scene.access.scope) as tx:
            try:
                return draw(tx, f"run_{number}", payer, asked, now)
            except PeriodBudgetExceeded:
                return None

    async def all_at_once() -> list[list[Place] | None]:
        return await asyncio.gather(*(asyncio.to_thread(take, n) for n in range(12)))

    taken = [each for each in asyncio.run(all_at_once()) if each is not None]
    assert len(taken) == 3
    assert scene.used(budget) == (0, Decimal("0.9"))
    with database.write(scene.access.scope) as tx:
        count(tx, payer, taken[0], asked, {"usd": 50_000_000, "tokens": 0}, now)
    assert scene.used(budget) == (Decimal("0.05"), Decimal("0.6"))


def test_budgets_are_for_admins_and_refuse_nonsense(scene: Scene) -> None:
    budgets = scene.steward.governing.period_budgets
    kept = scene.budget()
    editor = scene.installation.person(Role.editor).access
    with pytest.raises(Denied):
        budgets.add(editor, kept.document)
    with pytest.raises(Conflict, match="such a budget already"):
        scene.budget()
    with pytest.raises(Invalid, match="not in the project"):
        scene.budget("person", "usr_" + "0" * 26)
    with pytest.raises(Stale):
        budgets.delete(scene.access, kept.id, 7)
    budgets.delete(scene.access, kept.id, 1)
    with pytest.raises(NotFound):
        budgets.get(scene.access.scope, kept.id)
    with scene.steward.database.read(scene.access.scope) as tx:
        assert tx.rows(sa.select(period_uses)) == []
