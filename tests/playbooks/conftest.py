"""A project with an editor, a controller with whom things are shared, and somebody else."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.identity import Role
from steward.playbooks import Playbooks
from steward.runs import Run
from steward.testing import Installation, Person, fast_passwords

ASKING = """\
format: 1
id: monthly-costs
name: Monthly costs
folder: Finance/Monthly
goal: Spread the costs of a month.
inputs:
  type: object
  properties:
    month: {type: string, pattern: "^[0-9]{4}-[0-9]{2}$"}
  required: [month]
  additionalProperties: false
budget: {usd: 2}
steps:
  - id: ask
    question: "Is ${inputs.month} closed?"
    form: {type: boolean}
output: {month: "${inputs.month}", closed: "${nodes.ask.output}"}
"""


@dataclass(frozen=True)
class Room:
    installation: Installation
    editor: Person
    controller: Person
    stranger: Person

    @property
    def playbooks(self) -> Playbooks:
        return self.installation.steward.playbooks

    @property
    def runs(self) -> Any:
        return self.installation.steward.runs

    def drive(self) -> None:
        self.runs.drive_until_idle()

    def go_round(self) -> int:
        """One look at all triggers that are due; how many runs they started."""
        started: int = asyncio.run(self.playbooks.triggers.watch.round())
        return started

    def fresh(self, run: Run) -> Run:
        found: Run = self.runs.get(run.scope, run.id)
        return found

    def answer(self, run: Run, answer: Any) -> None:
        waits = self.fresh(run).waits or []
        self.installation.steward.governing.inbox.answer(
            self.editor.access, run.id, waits[0]["key"], answer
        )
        self.drive()


@pytest.fixture
def room(installation: Installation) -> Room:
    return _new_room(installation)


def _new_room(installation: Installation) -> Room:
    return Room(
        installation,
        installation.person(Role.editor, "engineer"),
        installation.person(Role.operator, "controller"),
        installation.person(Role.editor, "stranger"),
    )


def with_data(template: Path, home: Path, load: Callable[[Room], None]) -> Path:
    """A home with people and data to copy: reading files takes longer than most of what is done with them."""
    shutil.copytree(template, home)
    clock = MovableClock(datetime(2026, 3, 2, 8, 0, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    load(_new_room(installation))
    installation.close()
    return home


def returned_to(installation: Installation) -> Room:
    """The room in a copy of such a home."""
    installation.owner = installation.returning("owner")
    names = ("engineer", "controller", "stranger")
    return Room(installation, *(installation.returning(name) for name in names))
