"""The same installation as for other connections."""

from tests.connections.conftest import room

__all__ = ["room"]
