"""What figures say was spent is what the budgets of the same runs counted."""

from datetime import timedelta
from decimal import Decimal

import sqlalchemy as sa

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
