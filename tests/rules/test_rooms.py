"""`make test ROOM=x` leaves out no test that a change to the room can break."""

import re
import tomllib

import grimp
import pytest

from scripts.rooms import ROOT, affected_tests, imports_room, rooms, rooms_above


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("steward", cache_dir=None)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_whoever_imports_a_room_is_tested_with_it(graph: grimp.ImportGraph) -> None:
    importing: dict[str, set[str]] = {room: {room} for room in rooms()}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            if _room(imported) in importing:
                importing[_room(imported)].add(_room(module))
    for room, needed in importing.items():
        assert needed - {"", "testing"} <= rooms_above(room, graph), room


def test_rooms_are_reached_through_others(graph: grimp.ImportGraph) -> None:
    above = rooms_above("store", graph)
    assert {"runs", "broker", "flows", "api", "cli"} <= above
    assert "core" not in above
    assert rooms_above("cli", graph) == {"cli"}
    assert "api" in rooms_above("skills", graph), "read as files by agents"


def test_a_small_room_needs_a_part_of_the_tests(graph: grimp.ImportGraph) -> None:
    chosen = affected_tests("observe", graph)
    assert {"tests/observe", "tests/api", "tests/rules"} <= set(chosen)
    assert "tests/versions" not in chosen
    assert "tests/crash" not in chosen
    assert "tests/crash" in affected_tests("store", graph)
    assert affected_tests("testing", graph) == ["tests"]


def test_single_files_elsewhere_that_name_the_room_come_along(graph: grimp.ImportGraph) -> None:
    files = [ROOT / name for name in affected_tests("cli", graph) if name.endswith(".py")]
    assert files
    assert all("steward.cli" in path.read_text() for path in files)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("from steward.cli.main import app", True),
        ("import steward.cli", True),
        ("from steward import cli", True),
        ("def late():\n    from steward.cli import main", True),
        ("from steward.client import x", False),
        ("said = 'steward.cli'", False),
    ],
)
def test_what_counts_as_an_import(text: str, named: bool) -> None:
    assert imports_room(text, "cli") is named


def test_the_page_about_architecture_draws_the_floors_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    floors = [re.findall(r"steward\.(\w+)", layer) for layer in layers]
    page = (ROOT / "docs/architecture.md").read_text()
    drawn = page.partition("```text\n")[2].partition("\n```")[0].splitlines()
    assert [line.split(" · ") for line in drawn] == floors
    assert {room for floor in floors for room in floor} == set(rooms()) - {"skills"}
