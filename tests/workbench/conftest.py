"""What tests about data stand on."""

from tests.kits.data_fixtures import connection, kit, shelf

__all__ = ["connection", "kit", "shelf"]
