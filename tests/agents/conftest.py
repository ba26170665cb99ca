"""A thread to write in: the sample data, a scripted model where a test wants one, and runs driven to their end."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scripts.samples import generate
from steward.agents.chat.threads import HEAD, Thread
from steward.app import Steward, open_steward
from steward.core import MovableClock, load_settings
from steward.identity import Access
from steward.runs import Run
from steward.testing import Installation, fast_passwords
from steward.testing.models import ScriptedLineup
from steward.testing.walls import SharedSandbox
from tests.broker.conftest import check_types

CUSTOMERS = 60


@dataclass
class Chat:
    steward: Steward
    access: Access
    clock: MovableClock
    models: ScriptedLineup
    thread: Thread | None = None

    def say(self, message: str, **more: Any) -> Run:
        """Sends a message and lets its run go as far as it goes."""
        thread_id = self.thread.id if self.thread is not None else None
        self.thread, run = self.steward.threads.begin(
            self.access, message, thread_id=thread_id, parent=more.pop("parent", HEAD), **more
        )
        return self.drive(run)

    def drive(self, run: Run) -> Run:
        self.steward.runs.drive_until_idle()
        return self.steward.runs.get(self.access.scope, run.id)

    def settings(self, **settings: str) -> None:
        self.thread = self.steward.threads.create(self.access, settings=settings)

    def answer(self, run: Run, key: str, answer: Any) -> Run:
        self.steward.runs.records.signal(self.access.scope, run.id, key, answer)
        return self.drive(run)

    def output(self, run: Run) -> Any:
        """What the turn came to; failed turns have an answer too."""
        entries = {entry.key: entry for entry in self.entries(run)}
        return self.steward.runs.payload(entries["answer"].data["result"])

    def rows_of(self, dataset: str) -> int:
        workspace = self.steward.workbench.datasets.workspace(
            self.access.scope, self.access.user_id
        )
        return workspace.dataset(dataset, "main").rows

    def entries(self, run: Run) -> list[Any]:
        return list(self.steward.runs.journal.entries(self.access.scope, run.id))

    def keys(self, run: Run) -> list[str]:
        return [entry.key for entry in self.entries(run)]

    def replays(self, run: Run) -> None:
        """From the journal alone: no model is there any more."""
        self.models.play()
        report = asyncio.run(self.steward.runs.replay(self.access.scope, run.id))
        assert report.divergences == (), report.divergences
        check_types(self.entries(run))


@pytest.fixture(scope="session")
def sample_home(
    tmp_path_factory: pytest.TempPathFactory, home_template: Path
) -> tuple[Path, Access]:
    """A project with the samples, made once; tests work in copies of its home."""
    home = tmp_path_factory.mktemp("agents") / "home"
    shutil.copytree(home_template, home)
    clock = MovableClock(datetime(2026, 3, 1, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    access = installation.owner.access
    for dataset in generate(customers=CUSTOMERS).datasets:
        path = home / dataset.filename
        path.write_bytes(dataset.content)
        steward.workbench.bringing.load(
            access.scope, access.user_id, path, dataset.filename, dataset.name
        )
    installation.close()
    return home, access


@pytest.fixture(scope="session")
def known_home(
    sample_home: tuple[Path, Access], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Access]:
    """The same after its data was looked through, which is most of the time that a first question takes."""
    found, access = sample_home
    home = shutil.copytree(found, tmp_path_factory.mktemp("known") / "home")
    clock = MovableClock(datetime(2026, 3, 1, tzinfo=UTC))
    with closing(open_steward(load_settings(home=home), clock=clock)) as steward:
        steward.workbench.insights.learn(access.scope, access.user_id)
    return home, access


@pytest.fixture
def chat(
    known_home: tuple[Path, Access],
    tmp_path: Path,
    clock: MovableClock,
    models: ScriptedLineup,
    shared_sandbox: SharedSandbox,
) -> Iterator[Chat]:
    home = tmp_path / "home"
    shutil.copytree(known_home[0], home)
    shared_sandbox.let_in(home)
    steward = open_steward(
        load_settings(home=home),
        clock=clock,
        passwords=fast_passwords(),
        models=models,
        provider=shared_sandbox,
    )
    yield Chat(steward, known_home[1], clock, models)
    steward.close()


def plan_text(*steps: dict[str, Any], goal: str = "Answer the question") -> str:
    """A plan as a model writes it."""
    defaults = {"reason": "It is asked for.", "confidence": 0.9}
    return json.dumps({"goal": goal, "steps": [{**defaults, **step} for step in steps]})
