"""Crash tests start and kill real servers and workers."""

from collections.abc import Iterator

import pytest

from tests.cli.fixtures import filled, started_home, terminal
from tests.crash.nursery import Nursery

__all__ = ["filled", "started_home", "terminal"]


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()
