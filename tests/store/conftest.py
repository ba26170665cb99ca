"""Some tests of the store need several processes."""

from tests.cli.fixtures import terminal

__all__ = ["terminal"]
