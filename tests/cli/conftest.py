"""Terminals for the tests of commands."""

from tests.cli.fixtures import asked_home, filled, started_home, terminal

__all__ = ["asked_home", "filled", "started_home", "terminal"]
