"""Installations for evaluations in tests: the sample data is loaded once, each suite works in a copy."""

import pytest

from steward.app.evaluation_sites import Sites
from steward.core import load_settings
from steward.evaluation import Cast
from tests.evaluation.playing import Play


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    folder = tmp_path_factory.mktemp("evaluation")
    return Play(Sites(load_settings(home=folder / "none"), folder, Cast()).open)
