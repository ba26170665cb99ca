"""Terminals for the tests of commands."""

from tests.cli.fixtures import filled, started_home, terminal

__all__ = ["filled", "started_home", "terminal"]
