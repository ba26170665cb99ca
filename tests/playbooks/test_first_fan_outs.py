"""Lists and branches that never ran: the middle of their estimate is held before the first item begins."""

from decimal import Decimal

import pytest

from steward.runs import Status
from steward.runs.worker import LEASE, QUEUES
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.playbooks.conftest import Room
from tests.playbooks.fan_outs import (
    BOTH,
    FIRST_ASKED,
    LETTERS,
    TWO_AGENTS,
    deployed,
    first_price,
    held,
    of_agent,
    of_the_day,
    replays,
    start,
    usage,
)


@pytest.fixture
def model(models: ScriptedLineup) -> ScriptedModel:
    found = ScriptedModel(["Dear you."] * 200, price=Decimal("0.0001"))
    models.play(found)
    return found


def test_a_list_that_never_ran_holds_the_middle_of_its_estimate(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, FIRST_ASKED.replace("{usd: 1}", "{usd: 50}"))
    least, most = first_price(room, made)
    assert 0 < least < most
    day = of_the_day(room, "50")
    run = start(room, made, 3)
    assert run.status is not Status.done
    reserved = usage(room, run).reserved
    assert reserved == Decimal(held(room, run)["cost"]["usd"])
    assert float(reserved) == pytest.approx(3 * float(least * most) ** 0.5, rel=1e-4)
    assert (held(room, run)["runs"], day().reserved["usd"]) == (0, reserved)
    for _ in range(3):
        room.answer(run, True)
    run = room.fresh(run)
    assert run.status is Status.done, run.reason
    assert day().reserved["usd"] == usage(room, run).reserved == 0
    assert day().spent["usd"] == usage(room, run).spent > 0
    replays(room, run)


@pytest.mark.parametrize(
    ("text", "count"),
    [(LETTERS, 20), (BOTH.replace("Ann.", "Ann. " * 1_000), None)],
    ids=["list", "branches"],
)
@pytest.mark.parametrize("breach", ["abort", "ask"])
def test_what_never_ran_is_refused_before_its_first_item_where_it_does_not_fit(
    room: Room, model: ScriptedModel, text: str, count: int | None, breach: str
) -> None:
    # A single request would fit: without the estimate it would stop in the middle.
    made = deployed(room, text.replace("{usd: 1}", f"{{usd: 0.3, on_breach: {breach}}}"))
    run = start(room, made, count)
    assert run.status is (Status.failed if breach == "abort" else Status.blocked), run.reason
    assert not model.requests
    (wait,) = run.waits or [{"request": {"breach": {"message": run.reason}}}]
    said = wait["request"]["breach"]["message"]
    assert "by an estimate from the prices of the models: none of them ran before." in said
    assert "No item has started." in said
    assert usage(room, run).reserved == 0
    replays(room, run)


def test_two_lists_at_once_do_not_hold_more_than_the_day_has(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, FIRST_ASKED.replace("{usd: 1}", "{usd: 50}"))
    least, most = first_price(room, made)
    one = 4 * (least * most).sqrt()
    day = of_the_day(room, str(round(one * Decimal("1.5"), 3)))
    given = {"names": ["Ann", "Bob", "Eve", "Max"]}
    both = [room.playbooks.running.start(room.editor.access, made, given) for _ in range(2)]
    room.drive()
    runs = [room.fresh(run) for run in both]
    refused = [run for run in runs if {wait["kind"] for wait in run.waits or []} == {"budget"}]
    assert len(refused) == 1
    (holds,) = [run for run in runs if run not in refused]
    reserved = Decimal(held(room, holds)["cost"]["usd"])
    assert day().reserved["usd"] == usage(room, holds).reserved == reserved
    assert usage(room, refused[0]).reserved == 0
    room.runs.records.control(holds.scope, holds.id, "cancel", room.editor.access.user_id)
    room.drive()
    assert room.fresh(holds).status is Status.cancelled
    assert day().reserved["usd"] == usage(room, holds).reserved == 0
    # What was given back is there for the other one.
    room.answer(refused[0], {"decision": "raise"})
    assert usage(room, refused[0]).reserved == reserved


def test_a_list_that_never_ran_gives_back_its_estimate_when_its_worker_is_killed(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, FIRST_ASKED.replace("{usd: 1}", "{usd: 50}"))
    day = of_the_day(room, "50")
    run = start(room, made, 3)
    assert usage(room, run).reserved == day().reserved["usd"] > 0
    key = (run.waits or [])[0]["key"]
    room.installation.steward.governing.inbox.answer(room.editor.access, run.id, key, True)
    for number in range(3):
        assert room.runs.records.claim(f"worker {number}", QUEUES, 10, LEASE)
        room.installation.clock.advance(seconds=LEASE.total_seconds() + 1)
    room.drive()
    assert room.fresh(run).status is Status.failed
    assert day().reserved["usd"] == usage(room, run).reserved == 0


def test_agents_of_a_list_that_never_ran_have_their_share_held(
    room: Room, model: ScriptedModel
) -> None:
    made = deployed(room, TWO_AGENTS)
    drafter, other = (of_agent(room, name, "50") for name in ("translator", "summariser"))
    run = start(room, made, 2)
    held_now = [each().reserved["usd"] for each in (drafter, other)]
    assert all(each > 0 for each in held_now)
    assert sum(held_now) == pytest.approx(usage(room, run).reserved, rel=Decimal("0.5"))
    for _ in range(2):
        room.answer(run, True)
    assert room.fresh(run).status is Status.done
    assert drafter().reserved["usd"] == other().reserved["usd"] == usage(room, run).reserved == 0
