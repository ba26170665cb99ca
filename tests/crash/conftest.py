"""Crash tests start and kill real servers."""

from tests.cli.fixtures import filled, started_home, terminal

__all__ = ["filled", "started_home", "terminal"]
