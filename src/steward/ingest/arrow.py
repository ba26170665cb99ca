"""Arrow, loaded when first needed: the idle server never pays for it."""

from importlib import import_module
from typing import Any


def arrow() -> Any:
    """The pyarrow package, which carries no types."""
    return import_module("pyarrow")


def arrow_parquet() -> Any:
    return import_module("pyarrow.parquet")
