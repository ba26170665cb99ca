"""Doors that load a module only when somebody asks for a name of it: libraries that few commands need cost much to load."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def lazily(door: str) -> Callable[[str], Any]:
    """The `__getattr__` of a door: it loads what the door imports under `if TYPE_CHECKING`."""

    def load(name: str) -> Any:
        found = _modules(door).get(name)
        if found is None:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        return getattr(import_module(found[0]), found[1])

    return load


@cache
def _modules(door: str) -> dict[str, tuple[str, str]]:
    """Which module has each of the names, and under which name, as the door's file says."""
    tree = ast.parse(Path(str(sys.modules[door].__file__)).read_text(encoding="utf-8"))
    later = [
        line
        for part in tree.body
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"
        for line in part.body
    ]
    return {
        each.asname or each.name: (line.module, each.name)
        for line in later
        # Modules of the door itself are found by the import system.
        if isinstance(line, ast.ImportFrom) and line.module and line.module != door
        for each in line.names
    }
