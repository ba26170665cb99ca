"""The terminal door: `steward`; no logic of its own."""

from steward.cli.main import main

__all__ = ["main"]
