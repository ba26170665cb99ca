"""The registry: built-ins and installed packages through one door, names taken once."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.core import Registry
from steward.core.errors import Conflict, NotFound

Greeter = Callable[[], str]


def _hello() -> str:
    return "hello"


def test_things_are_found_by_name_and_listed_in_order() -> None:
    registry: Registry[Greeter] = Registry("greeter")
    registry.add("b", _hello)
    registry.register("a")(_hello)
    assert registry.get("a") is _hello
    assert [name for name, _ in registry] == ["a", "b"]
    assert len(registry) == 2
    assert "a" in registry
    assert "c" not in registry


def test_an_unknown_name_says_what_there_is_and_how_to_add() -> None:
    registry: Registry[Greeter] = Registry("greeter")
    with pytest.raises(NotFound, match=r"no greeter called 'x'\. Known: none"):
        registry.get("x")
    registry.add("polite", _hello)
    with pytest.raises(NotFound, match=r"Known: polite.*steward\.greeter"):
        registry.get("x")


def test_a_name_is_taken_once_and_the_first_stays() -> None:
    registry: Registry[Greeter] = Registry("greeter")
    registry.add("polite", _hello, origin="builtin.greeters")
    with pytest.raises(Conflict, match=r"builtin\.greeters.*other\.package"):
        registry.add("polite", lambda: "rude", origin="other.package:rude")
    assert registry.get("polite")() == "hello"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package that declares entry points, as pip would leave it."""
    (tmp_path / "greeting_plugin.py").write_text("def rude():\n    return 'what'\n")
    info = tmp_path / "greeting_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[steward.greeter]\nrude = greeting_plugin:rude\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "greeting_plugin:rude"


def test_entry_points_are_found(plugin: str) -> None:
    registry: Registry[Greeter] = Registry("greeter")
    registry.load_entry_points()
    assert registry.get("rude")() == "what"
    others: Registry[Greeter] = Registry("other")
    others.load_entry_points()
    assert len(others) == 0


def test_a_package_cannot_take_the_name_of_a_builtin(plugin: str) -> None:
    registry: Registry[Greeter] = Registry("greeter")
    registry.add("rude", _hello, origin="builtin")
    with pytest.raises(Conflict, match=f"builtin.*{plugin}"):
        registry.load_entry_points()
    assert registry.get("rude") is _hello


def test_a_package_of_builtins_loads_its_public_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "greeters_here"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from steward.core import Registry\nregistry = Registry('greeter')\n"
    )
    (package / "polite.py").write_text(
        "from greeters_here import registry\n"
        "@registry.register('polite')\ndef polite():\n    return 'good day'\n"
    )
    (package / "_private.py").write_text("raise AssertionError('not a plug-in')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry: Registry[Greeter] = Registry("unused")
    registry.load_package("greeters_here")
    found: Registry[Greeter] = sys.modules["greeters_here"].registry
    assert found.get("polite")() == "good day"
