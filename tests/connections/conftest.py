"""An installation for connections that bring nothing in: nobody waits for sample data."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.testing import Installation, fast_passwords
from steward.testing.walls import SharedSandbox
from tests.tools.room import Room


@pytest.fixture
def room(
    home_template: Path, tmp_path: Path, clock: MovableClock, shared_sandbox: SharedSandbox
) -> Iterator[Room]:
    home = tmp_path / "home"
    shutil.copytree(home_template, home)
    shared_sandbox.let_in(home)
    steward = open_steward(
        load_settings(home=home), clock=clock, passwords=fast_passwords(), provider=shared_sandbox
    )
    installation = Installation(steward, clock)
    yield Room(steward, installation.scope, installation.owner.user.id)
    installation.close()
