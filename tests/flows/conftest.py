"""The room of one test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.core import MovableClock
from tests.flows.kit import Room, opened


@pytest.fixture
def room(home_template: Path, tmp_path: Path, clock: MovableClock) -> Iterator[Room]:
    with opened(home_template, tmp_path / "home", clock) as made:
        yield made
        made.replayed()
