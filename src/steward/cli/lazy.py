"""Commands that are imported when somebody calls them, so that the terminal answers at once."""

import gc
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from typer import Typer
from typer.core import TyperGroup
from typer.main import get_command

Listed = Mapping[str, tuple[str, str]]
"""Per command the module and name it is defined under, as in `runs:app`, and what it does, in a line."""


class _Commands(dict[str, Any]):
    """All names at once, each command when it is asked for."""

    def __init__(self, known: dict[str, Any], listed: Listed) -> None:
        super().__init__(known)
        self._listed = listed

    def __iter__(self) -> Iterator[str]:
        return iter(
            [*self._listed, *(name for name in super().__iter__() if name not in self._listed)]
        )

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._listed or super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        if not super().__contains__(name):
            self[name] = load(name, *self._listed[name])
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            return default
        return self[name]

    def keys(self) -> Any:
        return list(iter(self))

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]


def load(name: str, place: str, said: str) -> Any:
    """The command of this name, or the group of commands."""
    module, _, attribute = place.partition(":")
    found = getattr(_imported(f"steward.cli.{module}"), attribute)
    # Within another one, as commands below the first one are: without markup and completion of their own.
    around = Typer(add_completion=False, rich_markup_mode=None)
    command: Any
    if isinstance(found, Typer):
        around.add_typer(found, name=name, help=said)
        group: Any = get_command(around)
        command = group.commands[name]
    else:
        around.command(name)(found)
        command = get_command(around)
    command.name = name
    return command


def _imported(name: str) -> ModuleType:
    """Without collecting garbage on the way: what modules make stays, and each look at it all takes a while."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


def group_of(listed: Listed) -> type[TyperGroup]:
    """A group whose help is told from the list alone."""

    class LazyGroup(TyperGroup):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.commands = _Commands(dict(self.commands), listed)

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
            return list(self.commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
            return self.commands.get(cmd_name)

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
            rows = [
                (
                    name,
                    listed[name][1] if name in listed else self.commands[name].get_short_help_str(),
                )
                for name in self.commands
            ]
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    return LazyGroup
