"""The routes of the API as its OpenAPI document describes them, for tests that call all of them."""

from functools import cache
from typing import Any

from steward.api import create_routes

METHODS = frozenset({"get", "post", "put", "patch", "delete"})


@cache
def openapi_document() -> dict[str, Any]:
    """Made once: describing all routes takes seconds."""
    return create_routes().openapi()
