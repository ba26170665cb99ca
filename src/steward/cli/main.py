"""The command tree."""

import platform
from typing import Final

import typer

from steward import __version__
from steward.cli.lazy import Listed, group_of
from steward.cli.output import AsJson, command, say, show
from steward.core import package_text


def _listed() -> Listed:
    lines = package_text("steward.cli", "commands.txt").splitlines()
    split = [line.split(maxsplit=2) for line in lines if not line.startswith("#")]
    return {name: (place, said) for name, place, said in split}


COMMANDS: Final = _listed()

app = typer.Typer(
    name="steward",
    cls=group_of(COMMANDS),
    help="Steward: data work by agents that people can trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _steward() -> None:
    """Steward: data work by agents that people can trust."""


@app.command()
@command
def version(*, as_json: AsJson = False) -> None:
    """Print the version."""
    if not as_json:
        say(f"steward {__version__}")
        return
    # The store knows the database driver, and takes a while to load.
    from steward.store import sqlite_version

    document = {
        "steward": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    show(document, as_json=True, text=str)


def main() -> None:
    app()
