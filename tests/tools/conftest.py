"""Sample customers, invoices and tickets in an installation of each test's own."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.samples import generate
from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.testing import Installation, fast_passwords
from steward.testing.walls import SharedSandbox
from tests.tools.room import Room

CUSTOMERS = 60


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory, home_template: Path) -> Room:
    """A project with the samples, made once; tests work in copies of its home."""
    home = tmp_path_factory.mktemp("samples") / "home"
    shutil.copytree(home_template, home)
    clock = MovableClock(datetime(2026, 3, 1, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    scope, author = installation.scope, installation.owner.user.id
    for dataset in generate(customers=CUSTOMERS).datasets:
        path = home / dataset.filename
        path.write_bytes(dataset.content)
        steward.workbench.bringing.load(scope, author, path, dataset.filename, dataset.name)
    installation.close()
    return Room(steward, scope, author)


@pytest.fixture
def room(
    sample_home: Room, tmp_path: Path, clock: MovableClock, shared_sandbox: SharedSandbox
) -> Iterator[Room]:
    home = tmp_path / "home"
    shutil.copytree(sample_home.steward.settings.home, home)
    shared_sandbox.let_in(home)
    steward = open_steward(
        load_settings(home=home), clock=clock, passwords=fast_passwords(), provider=shared_sandbox
    )
    yield Room(steward, sample_home.scope, sample_home.author)
    steward.close()
