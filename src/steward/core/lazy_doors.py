"""Doors that load a module only when somebody asks for a name of it: libraries that few commands need cost much to load."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazily(door: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a door that lists, for each module, the names it has."""
    modules = {name: module for module, found in names.items() for name in found}

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return load
