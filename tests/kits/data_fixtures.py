"""What tests about data stand on: a session, tables on a shelf, versions in a workspace."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from steward.core import MovableClock
from steward.tables.engine import session
from tests.kits import shelf as shelves
from tests.kits.shelf import Shelf
from tests.versions import versions_kit
from tests.versions.versions_kit import Kit


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with session() as opened:
        yield opened


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelves.opened(tmp_path) as filled:
        yield filled


@pytest.fixture
def kit(
    database_url: str | None, home_template: Path, tmp_path: Path, clock: MovableClock
) -> Iterator[Kit]:
    """On every database that the tests run on."""
    with versions_kit.opened(tmp_path, home_template, database_url, clock) as made:
        yield made
