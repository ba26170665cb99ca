"""Rooms use each other through their doors: what a room's `__init__` lists in `__all__`, or a sub-room's."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/steward"
MODULES = sorted(SOURCE.rglob("*.py"))
_LAZY_DOOR = "steward.core.lazy_doors"
"""With it doors are made, so it stands in front of them."""


def _file(module: str) -> Path | None:
    place = SOURCE.parent / module.replace(".", "/")
    found = [place / "__init__.py", place.with_suffix(".py")]
    return next((each for each in found if each.exists()), None)


@cache
def _listed(door: str) -> frozenset[str]:
    """The names in the `__all__` of a package; none where the module is no package."""
    path = _file(door)
    if path is None or path.name != "__init__.py":
        return frozenset()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def _past_doors(path: Path) -> list[str]:
    own = path.relative_to(SOURCE).parts[0]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name.startswith("steward.")]
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("steward."):
            continue
        module = str(node.module)
        if module.split(".")[1] == own or module == _LAZY_DOOR:
            continue
        unlisted = {each.name for each in node.names} - _listed(module)
        found += [f"line {node.lineno}: {each} of {module}" for each in sorted(unlisted)]
    return found


def test_rooms_use_each_other_through_their_doors() -> None:
    wrong = {str(path.relative_to(SOURCE)): _past_doors(path) for path in MODULES}
    assert {path: each for path, each in wrong.items() if each} == {}


DOORS = sorted({".".join(("steward", *path.parent.relative_to(SOURCE).parts)) for path in MODULES})


@pytest.mark.parametrize("door", [each for each in DOORS if _listed(each)])
def test_a_door_has_what_it_lists(door: str) -> None:
    room = __import__(door, fromlist=sorted(_listed(door)))
    assert [name for name in sorted(_listed(door)) if not hasattr(room, name)] == []
