"""What figures say of chats is what the budgets of the same runs counted, and what the chats say of their plans."""

from datetime import timedelta
from decimal import Decimal

import sqlalchemy as sa

from steward.broker import PeriodBudget
from steward.observe import NANO
from steward.observe._tables import facts
from steward.testing.models import ScriptedModel
from tests.agents.conftest import Chat, chat, known_home, plan_text, sample_home
from tests.agents.test_turn import COUNT

__all__ = ["chat", "known_home", "sample_home"]


def _spent(chat: Chat) -> int:
    with chat.steward.database.read(chat.access.scope) as tx:
        row = tx.first(sa.select(sa.func.sum(facts.c.nano_usd).label("spent")))
    assert row is not None
    return int(row.spent)


def test_spending_equals_what_budgets_counted(chat: Chat) -> None:
    runs = []
    for _ in range(2):
        chat.models.play(ScriptedModel([plan_text(COUNT), "Counted."], price=Decimal("0.00001")))
        runs.append(chat.say("How many customers are there?"))
    observations, scope = chat.steward.observations, chat.access.scope
    observations.projector.catch_up(scope)
    counted = chat.steward.governing.budgets.spent_usd(scope, [run.id for run in runs])
    assert counted > 0
    assert _spent(chat) == counted
    report = observations.costs.report(scope, chat.clock.now(), 1, "model")
    assert report.nano_usd == counted
    by_agent = observations.costs.report(scope, chat.clock.now(), 1, "agent")
    assert by_agent.nano_usd == counted
    figures = observations.overview.figures(scope, chat.clock.now() + timedelta(minutes=1), 2)
    assert figures.now.nano_usd == counted
    assert figures.standing.live_nano_usd == 0
    # Budgets that are set afterwards have what was spent before.
    budgets = chat.steward.governing.period_budgets
    for kind, name in (("project", ""), ("person", chat.access.user_id)):
        budgets.add(chat.access, PeriodBudget(kind=kind, name=name, period="month", usd=Decimal(1)))
    assert [kept.spent["usd"] * NANO for kept in budgets.listed(scope)] == [counted, counted]


def test_agents_keep_to_plans_as_their_turns_say(chat: Chat) -> None:
    told = []
    for answers in ([plan_text(COUNT), "Counted."], [plan_text(COUNT), "Counted."]):
        chat.models.play(ScriptedModel(answers))
        told.append(chat.output(chat.say("How many customers are there?")))
    observations, scope = chat.steward.observations, chat.access.scope
    observations.projector.catch_up(scope)
    agents = {step["agent"] for output in told for step in output["plan"]["plan"]["steps"]}
    found = [observations.agents.figures(scope, chat.clock.now(), 7, name) for name in agents]
    assert [output["adherence"] for output in told] == [1.0, 1.0]
    assert sum(each.judged for each in found) == sum(each.adhered for each in found) == 2
    assert {run.title for each in found for run in each.last_runs} != set()
