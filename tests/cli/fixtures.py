"""A terminal per test; one process that forks for all of them, per worker."""

import atexit
import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from steward.app import open_steward
from steward.core import load_settings
from steward.identity import Principal, Via
from tests.cli.terminal import Installed, Nursery, Terminal


@cache
def nursery() -> Nursery:
    made = Nursery()
    atexit.register(made.close)
    return made


@pytest.fixture(scope="session")
def started_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after its first start, to copy."""
    terminal = Terminal(nursery(), tmp_path_factory.mktemp("started"))
    with terminal.serving():
        pass
    return terminal.home


@pytest.fixture(scope="session")
def asked_home(started_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same home when a first question has been asked of its data: later ones take a moment."""
    home = shutil.copytree(started_home, tmp_path_factory.mktemp("asked") / "home")
    with closing(open_steward(load_settings(home=home))) as steward:
        owner = steward.identity.users.first_owner()
        assert owner is not None
        principal = Principal(owner.id, owner.email, owner.name, Via.session)
        (demo,) = steward.identity.projects.page(principal, limit=1)
        access = steward.identity.projects.enter(principal, demo.id)
        steward.workbench.insights.learn(access.scope, access.user_id)
    return home


@pytest.fixture
def filled(terminal: Terminal, started_home: Path) -> Terminal:
    """A terminal whose home was started once."""
    shutil.copytree(started_home, terminal.home)
    return terminal


@pytest.fixture
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """Runs commands by forking; with `--full` it runs the installed program instead."""
    full = bool(request.config.getoption("--full"))
    made = Terminal(Installed() if full else nursery(), tmp_path)
    yield made
    made.close()
