"""Lists and branches side by side: what they will cost is held before the first begins."""

from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from steward.broker._budget_tables import period_uses
from steward.broker.period_budgets import BudgetLimits
from steward.playbooks.rehearsals import Wish
from steward.runs import Status
from steward.runs import _tables as run_tables
from steward.runs.worker import LEASE, QUEUES
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.playbooks.conftest import Room
from tests.playbooks.fan_outs import (
    ASKED,
    BOTH,
    CALLER,
    FIRST_ASKED,
    LETTER,
    LETTERS,
    TWO_AGENTS,
    deployed,
    keys,
    most_of_a_request,
    of_agent,
    of_the_day,
    replays,
    start,
    usage,
    written_letters,
)


@pytest.fixture
def model(models: ScriptedLineup) -> ScriptedModel:
    found = ScriptedModel(["Dear you."] * 200, price=Decimal("0.0001"))
    models.play(found)
    return found


def test_a_list_that_would_cost_more_than_is_left_stops_before_its_first_item(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, LETTERS)
    first = start(room, made, 2)
    assert first.status is Status.done
    each = usage(room, first).spent / 2
    asked = len(model.requests)
    count = int(Decimal(1) / each) + 2
    run = start(room, made, count)
    assert run.status is Status.blocked
    assert len(model.requests) == asked
    (wait,) = run.waits or []
    breach: dict[str, Any] = wait["request"]["breach"]
    assert breach["message"].startswith("Letters may need $")
    assert (
        f"for {count} items, by what they cost in the last run. $1.00 of $1.00 are left."
        in breach["message"]
    )
    assert "Raise the limit, or run it with fewer items." in breach["message"]
    assert breach["parts"] == count
    assert usage(room, run).reserved == 0
    more = {"decision": "raise", "limits": {"usd": "20"}}
    room.answer(run, more)
    run = room.fresh(run)
    assert run.status is Status.done, run.reason
    assert len(model.requests) == asked + count
    assert usage(room, run).reserved == 0
    replays(room, run)


def test_a_list_whose_budget_may_not_grow_fails_with_the_figures(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, LETTERS.replace("{usd: 1}", "{usd: 1, on_breach: abort}"))
    each = usage(room, start(room, made, 1)).spent
    asked = len(model.requests)
    run = start(room, made, int(Decimal(1) / each) + 2)
    assert run.status is Status.failed
    assert "are left. No item has started." in (run.reason or "")
    assert len(model.requests) == asked
    replays(room, run)


def test_what_is_held_is_taken_by_the_items_and_given_back(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, ASKED)
    first = start(room, made, 1)
    room.answer(first, True)
    assert room.fresh(first).status is Status.done
    each = usage(room, first).spent
    run = start(room, made, 3)
    # All three letters are written and wait for an answer: what they cost is spent, and is held no more.
    found = usage(room, run)
    assert found.spent > 2 * each
    assert found.spent + found.reserved <= 4 * each
    for _ in range(3):
        room.answer(run, True)
    assert room.fresh(run).status is Status.done
    assert usage(room, run).reserved == 0
    assert [key for key in keys(room, run) if ":items" in key] == [
        "each:items/budget/reserve",
        "each:items/release",
    ]
    replays(room, run)


def test_a_cancelled_run_gives_back_what_it_held(room: Room, models: ScriptedLineup) -> None:
    # A long letter first: of what is held for the short ones that follow, something is left.
    models.play(ScriptedModel(["Dear you. " * 200, *["Hi."] * 6], price=Decimal("0.0001")))
    made = deployed(room, ASKED)
    room.answer(start(room, made, 1), True)
    run = start(room, made, 6)
    assert usage(room, run).reserved > 0
    room.runs.records.control(run.scope, run.id, "cancel", room.editor.access.user_id)
    room.drive()
    assert room.fresh(run).status is Status.cancelled
    assert usage(room, run).reserved == 0


def test_branches_side_by_side_are_held_as_a_whole(room: Room, model: ScriptedModel) -> None:
    made = deployed(room, BOTH)
    first = start(room, made)
    assert first.status is Status.done
    run = start(room, made)
    assert run.status is Status.done
    assert "both:items/budget/reserve" in keys(room, run)
    reserved = next(
        entry
        for entry in room.runs.journal.entries(run.scope, run.id)
        if entry.key == "both:items/budget/reserve"
    )
    assert Decimal(reserved.data["result"]["cost"]["usd"]) == usage(room, first).spent
    assert usage(room, run).reserved == 0
    replays(room, run)


@pytest.mark.parametrize(
    # Sub-runs go on side by side, so there is one.
    ("text", "count"),
    [(LETTERS, 4), (CALLER, 1)],
    ids=["in the run", "in a sub-run"],
)
def test_items_take_what_is_held_for_them(
    room: Room, model: ScriptedModel, text: str, count: int
) -> None:
    deployed(room, LETTER)
    made = deployed(room, text)
    first = start(room, made, 1)
    each = usage(room, first).spent
    asked = len(model.requests)
    assert start(room, made, int(Decimal(1) / each) + 2).status is Status.blocked
    assert len(model.requests) == asked
    # A request sets aside far more than it costs. That fits once, and not beside what is held for it.
    limit = most_of_a_request(room, first) + each * (count - Decimal("0.5"))
    room.playbooks.library.save(
        room.editor.access, made, None, text.replace("usd: 1", f"usd: {limit}")
    )
    room.playbooks.deploying.deploy(room.editor.access, made)
    run = start(room, made, count)
    assert run.status is Status.done, run.reason
    assert "each:items/budget/reserve" in keys(room, run)
    found = usage(room, run)
    assert (int(found.reserved), len(model.requests)) == (0, asked + count)
    assert found.spent >= count * each
    replays(room, run)


def test_runs_that_began_without_it_go_on_without_it(room: Room, model: ScriptedModel) -> None:
    made = deployed(room, ASKED)
    expected = room.playbooks.prices.expected
    room.playbooks.prices.expected = lambda _scope, _asked: None
    run = start(room, made, 2)
    room.playbooks.prices.expected = expected
    other = start(room, made, 1)
    room.answer(other, True)
    # By now it is known what an item costs; this list has begun.
    for _ in range(2):
        room.answer(run, True)
    assert room.fresh(run).status is Status.done
    assert not [key for key in keys(room, run) if ":items" in key]
    replays(room, run)


def test_a_test_run_holds_nothing(room: Room, model: ScriptedModel) -> None:
    made = deployed(room, LETTERS)
    start(room, made, 1)
    run = room.playbooks.rehearsals.start(room.editor.access, made, Wish(inputs={"names": ["Ann"]}))
    room.drive()
    assert not [key for key in keys(room, run) if ":items" in key]


def test_a_list_that_would_cost_more_than_the_day_has_left_stops_before_its_first_item(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, LETTERS.replace("{usd: 1}", "{usd: 50}"))
    each = usage(room, start(room, made, 1)).spent
    day = of_the_day(room, "1")
    assert day().spent["usd"] == each
    asked, count = len(model.requests), int(Decimal(1) / each) + 2
    run = start(room, made, count)
    assert run.status is Status.blocked
    assert len(model.requests) == asked
    (wait,) = run.waits or []
    breach: dict[str, Any] = wait["request"]["breach"]
    assert "are left in the daily budget of this project. No item has started." in breach["message"]
    assert "It resets on " in breach["message"]
    assert (breach["budget_id"], breach["parts"]) == (day().id, count)
    assert day().reserved["usd"] == usage(room, run).reserved == 0
    limits = BudgetLimits(usd=Decimal(20))
    budgets = room.installation.steward.governing.period_budgets
    budgets.change(room.installation.owner.access, day().id, limits, 1)
    # Where there is room again, the run goes on by itself.
    room.drive()
    run = room.fresh(run)
    assert run.status is Status.done, run.reason
    assert day().reserved["usd"] == 0
    assert day().spent["usd"] == usage(room, run).spent + each
    replays(room, run)


def test_what_a_list_holds_of_the_day_is_taken_once_and_given_back(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, FIRST_ASKED)
    first = start(room, made, 1)
    room.answer(first, True)
    each = usage(room, first).spent
    day = of_the_day(room, "1")
    run = start(room, made, 3)
    assert run.status is not Status.done
    assert usage(room, run).reserved == 3 * each
    assert day().reserved["usd"] == 3 * each
    # The calls are made on the next day and count there; what was held of the first one is free again.
    room.installation.clock.advance(days=1)
    for _ in range(3):
        room.answer(run, True)
    run = room.fresh(run)
    assert run.status is Status.done, run.reason
    assert day().reserved["usd"] == usage(room, run).reserved == 0
    assert day().spent["usd"] == usage(room, run).spent
    with room.installation.steward.database.read(run.scope) as tx:
        uses = tx.rows(sa.select(period_uses).order_by(period_uses.c.start))
    assert [row.reserved_usd for row in uses] == [0, 0]
    assert uses[0].spent_usd == each * 10**9


def test_a_run_that_is_set_aside_holds_nothing_any_more(room: Room, model: ScriptedModel) -> None:
    made = deployed(room, FIRST_ASKED)
    first = start(room, made, 1)
    room.answer(first, True)
    day = of_the_day(room, "1")
    run = start(room, made, 3)
    assert usage(room, run).reserved == day().reserved["usd"] > 0
    key = (run.waits or [])[0]["key"]
    room.installation.steward.governing.inbox.answer(room.editor.access, run.id, key, True)
    for number in range(3):
        assert room.runs.records.claim(f"worker {number}", QUEUES, 10, LEASE)
        room.installation.clock.advance(seconds=LEASE.total_seconds() + 1)
    room.drive()
    run = room.fresh(run)
    assert (run.status, "stopped its worker" in (run.reason or "")) == (Status.failed, True)
    assert day().reserved["usd"] == usage(room, run).reserved == 0


def test_what_a_lost_run_still_holds_of_the_day_is_reclaimed_without_what_was_taken(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, FIRST_ASKED)
    first = start(room, made, 1)
    room.answer(first, True)
    day = of_the_day(room, "1")
    run = start(room, made, 3)
    room.answer(run, True)
    spent = day().spent["usd"]
    assert 0 < day().reserved["usd"] < 3 * spent
    # As a crash leaves it that nobody could tidy up after.
    with room.installation.steward.database.write(run.scope) as tx:
        over = sa.update(run_tables.runs).where(run_tables.runs.c.id == run.id)
        tx.execute(over.values(status=Status.failed.value))
    for _ in range(2):
        room.installation.steward.governing.period_budgets.tidy()
        assert (day().reserved["usd"], day().spent["usd"]) == (Decimal(0), spent)


def test_a_list_stops_before_its_first_item_where_an_agent_has_too_little_left(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, TWO_AGENTS)
    assert written_letters(room, made, 1).status is Status.done
    drafter = of_agent(room, "translator", "1")
    other = of_agent(room, "summariser", "1000")
    each = drafter().spent["usd"]
    assert 0 < each < drafter().spent["usd"] + other().spent["usd"]
    asked, count = len(model.requests), int(Decimal(1) / each) + 1
    run = start(room, made, count)
    assert run.status is Status.blocked
    assert len(model.requests) == asked
    (wait,) = run.waits or []
    breach: dict[str, Any] = wait["request"]["breach"]
    assert "in the daily budget of the agent translator. No item has started." in breach["message"]
    assert breach["budget_id"] == drafter().id
    assert drafter().reserved["usd"] == other().reserved["usd"] == usage(room, run).reserved == 0
    budgets = room.installation.steward.governing.period_budgets
    owner = room.installation.owner.access
    budgets.change(owner, drafter().id, BudgetLimits(usd=Decimal(1000)), 1)
    room.drive()
    assert drafter().reserved["usd"] == count * each
    room.runs.records.control(run.scope, run.id, "cancel", owner.user_id)
    room.drive()
    assert drafter().reserved["usd"] == other().reserved["usd"] == 0


def test_agents_take_their_own_share_of_what_a_list_holds_and_give_back_the_rest(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, TWO_AGENTS)
    first = written_letters(room, made, 1)
    drafter, other = (of_agent(room, name, "10") for name in ("translator", "summariser"))
    before = {each: each().spent["usd"] for each in (drafter, other)}
    run = start(room, made, 3)
    for each, one in before.items():
        assert each().reserved["usd"] == 3 * one
    # What others may use of the agent's budget is less by what is held.
    room.answer(run, True)
    assert drafter().spent["usd"] + drafter().reserved["usd"] == 4 * before[drafter]
    for _ in range(2):
        room.answer(run, True)
    run = room.fresh(run)
    assert run.status is Status.done, run.reason
    assert drafter().reserved["usd"] == other().reserved["usd"] == usage(room, run).reserved == 0
    spent = drafter().spent["usd"] + other().spent["usd"]
    assert spent == usage(room, first).spent + usage(room, run).spent
    replays(room, run)


def test_what_a_lost_run_still_holds_of_an_agent_is_reclaimed(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, TWO_AGENTS)
    written_letters(room, made, 1)
    drafter = of_agent(room, "translator", "10")
    run = start(room, made, 3)
    room.answer(run, True)
    spent = drafter().spent["usd"]
    assert drafter().reserved["usd"] > 0
    with room.installation.steward.database.write(run.scope) as tx:
        over = sa.update(run_tables.runs).where(run_tables.runs.c.id == run.id)
        tx.execute(over.values(status=Status.failed.value))
    for _ in range(2):
        room.installation.steward.governing.period_budgets.tidy()
        assert (drafter().reserved["usd"], drafter().spent["usd"]) == (Decimal(0), spent)
