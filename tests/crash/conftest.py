"""Crash tests start and kill real servers and workers."""

from collections.abc import Callable, Iterator

import pytest

from tests.cli.fixtures import filled, started_home, terminal
from tests.crash.nursery import Nursery

__all__ = ["filled", "started_home", "terminal"]


@pytest.fixture
def events(request: pytest.FixtureRequest, effort: Callable[[int, int], int]) -> int:
    """How many events of one kind arrive: few in `make test`, 10,000 in the soak, or as `--events` says."""
    return int(request.config.getoption("--events") or effort(60, 10_000))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()
