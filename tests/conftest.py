"""Options of our own tests: how long the long ones run, and which browser to drive."""

import gc
from collections.abc import Callable

import pytest
from hypothesis import settings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="Run soaks with their full numbers.")
    parser.addoption("--events", type=int, help="Events of each kind in the soak of triggers.")
    parser.addoption("--seed", type=int, help="Repeats a series of faults of the cluster.")
    parser.addoption("--pictures", default=None, help="Folder for the pictures of the tutorials.")
    parser.addoption("--chromium", default=None, help="Path of the browser for the journeys.")


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile("full", max_examples=1000, deadline=None)
    settings.register_profile(
        # The same examples on every run: a landing does not hang on luck; `--full` looks for new ones.
        "reduced",
        max_examples=25,
        deadline=None,
        derandomize=True,
    )
    settings.load_profile("full" if config.getoption("--full") else "reduced")


def pytest_collection(session: pytest.Session) -> None:
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected stays to the end: looking for garbage in it again and again takes long."""
    gc.enable()
    gc.freeze()


@pytest.fixture
def effort(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """`effort(reduced, full)`: how often to repeat, a few times in `make test`, often in `make soak`."""
    full = bool(request.config.getoption("--full"))
    return lambda reduced, complete: complete if full else reduced
