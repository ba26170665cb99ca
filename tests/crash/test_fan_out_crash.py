"""kill -9 of workers on their way through a list of items: what is held for the items is counted once and given back."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from steward.runs import Status
from steward.testing import Installation
from tests.crash.nursery import Children, Nursery, chosen, points_met

pytestmark = pytest.mark.every_database

LETTERS = """\
format: 1
id: letters
budget: {tokens: 100000}
graph:
  nodes:
    - id: each
      type: map
      over: "[1, 2, 3]"
      concurrency: 1
      body: {nodes: [{id: write, type: agent, instructions: "Write letter ${item}."}]}
"""


def answer(_request: Any) -> str:
    return "Dear you."


class Letters:
    def __init__(self, installation: Installation, children: Children) -> None:
        self.steward, self.access = installation.steward, installation.owner.access
        self.clock, self.children = installation.clock, children
        self.playbook = self.steward.playbooks.library.create(self.access, LETTERS).id

    def start(self) -> str:
        return self.steward.playbooks.running.start(self.access, self.playbook, {}).id

    def drive(self, **job: Any) -> int:
        if "run" not in job:
            # The leases of the dead have ended.
            self.clock.advance(seconds=7)
        return self.children.drive(self.clock.now().isoformat(), **job)

    def tokens(self, run_id: str) -> tuple[int, int]:
        """Spent and reserved."""
        run = self.steward.runs.get(self.access.scope, run_id)
        found = self.steward.governing.budgets.status(run).usage["tokens"]
        return int(found.spent), int(found.reserved)

    def check(self, run_id: str, spent: int) -> None:
        scope, runs = self.access.scope, self.steward.runs
        assert runs.get(scope, run_id).status is Status.done
        assert self.tokens(run_id) == (spent, 0)
        keys = [entry.key for entry in runs.journal.entries(scope, run_id)]
        assert keys.count("each:items/budget/reserve") == 1
        assert keys.count("each:items/release") == 1
        report = asyncio.run(runs.replay(scope, run_id))
        assert report.is_same, report.divergences


@pytest.fixture
def letters(
    installation: Installation, nursery: Nursery, database_url: str | None, tmp_path: Path
) -> Letters:
    place = {
        "home": str(installation.steward.settings.home),
        "url": database_url,
        "folder": str(tmp_path),
        "model": f"{__name__}:{answer.__name__}",
        "modules": [__name__],
    }
    return Letters(installation, Children(nursery, place))


@pytest.mark.timeout(900)
def test_what_is_held_is_counted_once_wherever_a_worker_dies(
    letters: Letters, tmp_path: Path, effort: Callable[[int, int], int]
) -> None:
    # The first run teaches what an item costs; the second shows where its worker can die.
    assert letters.drive(run=letters.start()) == 0
    whole, listing = letters.start(), tmp_path / "points.json"
    assert letters.drive(run=whole, listing=str(listing)) == 0
    spent, _ = letters.tokens(whole)
    letters.check(whole, spent)
    kills = chosen(points_met(0, listing), every=bool(effort(0, 1)))
    runs = {letters.start(): kill for kill in kills}
    for run_id, (_, point, occurrence) in runs.items():
        ended = letters.drive(run=run_id, point=point, occurrence=occurrence)
        assert ended == -SIGKILL, (point, occurrence)
    assert letters.drive() == 0
    for run_id in runs:
        letters.check(run_id, spent)
