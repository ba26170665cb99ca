"""What a schedule starts is looked at first, and whoever owns it hears that it failed."""

import asyncio
from typing import Any

import pytest

from steward.core.errors import Invalid
from steward.identity import Level, Notification
from steward.playbooks import Allowed
from steward.playbooks.unattended import NEEDS
from steward.runs import Run, Status
from tests.playbooks.conftest import Room
from tests.playbooks.test_blueprints_samples import load

READING = """\
format: 1
id: daily-total
name: Daily total
goal: Add up what was sold.
data: [{dataset: sales, columns: {amount: number}}]
budget: {usd: 1}
steps:
  - {id: total, tool: query, arguments: {sql: "SELECT sum(amount) AS total FROM sales"}}
triggers: [{type: cron, cron: 0 2 * * *}]
"""
MISSING = "The dataset sales has no column amount; it has day, price."
TAKING_IN = """\
format: 1
id: whole
name: The whole
goal: Takes the other in.
budget: {usd: 1}
graph:
  nodes:
    - {id: part, type: subflow, ref: daily-total}
"""
CALLING = """\
format: 1
id: caller
name: The caller
goal: Calls the other.
budget: {usd: 1}
tools: [call_playbook, query]
steps:
  - {id: call, tool: call_playbook, arguments: {playbook: daily-total, inputs: {}}}
"""
COMPUTING = """\
format: 1
id: sum
name: A sum
goal: Add up two numbers.
budget: {usd: 1}
graph:
  nodes:
    - {id: out, type: output, value: "${1 + 2}"}
triggers: [{type: cron, cron: 0 2 * * *}]
"""


@pytest.fixture
def database_url() -> None:
    """SQLite alone: the SQL is DuckDB's."""


def deployed(room: Room, text: str) -> None:
    card = room.playbooks.library.create(room.editor.access, text)
    room.playbooks.deploying.deploy(room.editor.access, card.id)


def at_night(room: Room) -> Run:
    room.installation.clock.advance(days=1)
    assert room.go_round() == 1
    room.drive()
    newest: Run = room.runs.records.listed(room.editor.access.scope)[0]
    return newest


def told(room: Room) -> list[Notification]:
    return room.installation.steward.identity.notifications.page(room.editor.access)


def test_a_schedule_fails_at_once_with_the_words_of_the_form(room: Room) -> None:
    load(room, "sales", "day,price\n2026-01-01,1\n")
    deployed(room, READING)
    run = at_night(room)
    assert (run.status, run.reason) == (Status.failed, MISSING)
    assert not [
        each for each in room.runs.journal.entries(run.scope, run.id) if "total" in each.key
    ]
    assert asyncio.run(room.runs.replay(run.scope, run.id)).is_same
    [note] = told(room)
    assert (note.level, note.title, note.link) == (
        Level.error,
        "Daily total failed",
        f"runs/{run.id}",
    )
    assert note.body == f"A trigger started it. {MISSING}"


def test_a_failure_that_repeats_is_told_again_only_once_it_was_read(room: Room) -> None:
    load(room, "sales", "day,price\n2026-01-01,1\n")
    deployed(room, READING)
    at_night(room)
    at_night(room)
    assert len(told(room)) == 1
    room.installation.steward.identity.notifications.mark_read(room.editor.access, None)
    at_night(room)
    assert len(told(room)) == 2


def test_the_owner_hears_of_it_beside_whoever_deployed_it(room: Room) -> None:
    load(room, "sales", "day,amount\n2026-01-01,1\n")
    deployed(room, READING.replace("sum(amount)", "CAST('x' AS INTEGER)"))
    access = room.editor.access
    card = room.playbooks.library.get(access, "daily-total")
    owner = room.stranger.user.email
    room.playbooks.library.share(access, card.id, card.version, Allowed(everyone=True), owner)
    assert at_night(room).status is Status.failed
    notifications = room.installation.steward.identity.notifications
    assert [each.title for each in told(room)] == ["Daily total failed"]
    assert len(notifications.page(room.stranger.access)) == 1
    assert notifications.page(room.controller.access) == []


def test_a_schedule_whose_data_is_there_runs_and_nobody_is_told(room: Room) -> None:
    load(room, "sales", "day,amount\n2026-01-01,1\n")
    deployed(room, READING)
    run = at_night(room)
    assert run.status is Status.done
    assert asyncio.run(room.runs.replay(run.scope, run.id)).is_same
    assert told(room) == []


def test_what_a_part_needs_is_looked_at_before_the_whole_begins(room: Room) -> None:
    load(room, "sales", "day,price\n2026-01-01,1\n")
    deployed(room, READING)
    deployed(room, TAKING_IN)
    with pytest.raises(Invalid) as refused:
        room.playbooks.running.start(room.editor.access, "whole", {})
    assert refused.value.message == MISSING


def test_a_playbook_that_is_called_says_what_it_misses(room: Room) -> None:
    load(room, "sales", "day,price\n2026-01-01,1\n")
    deployed(room, READING)
    deployed(room, CALLING)
    run = room.playbooks.running.start(room.editor.access, "caller", {})
    room.drive()
    ended = room.fresh(run)
    assert ended.status is Status.failed
    assert MISSING in (ended.reason or "")
    assert room.runs.records.listed(run.scope, parent=run.id) == []
    assert told(room) == [], "whoever started it is there"


def test_a_look_that_found_nothing_waits_for_no_disk_of_its_own(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[list[str]] = []
    commit = room.runs.parts.commit
    write = commit.write

    async def watched(unit: Any) -> None:
        written.append([entry.key for entry in unit.entries])
        await write(unit)

    monkeypatch.setattr(commit, "write", watched)
    deployed(room, COMPUTING)
    assert at_night(room).status is Status.done
    [unit] = [keys for keys in written if NEEDS in keys]
    assert len(unit) > 1
