"""Brings files and tables in: inspects them with evidence, loads them without losing a record.

Files from people are read through `steward.ingest.isolation`, in a process of their own.
"""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.ingest import isolation
from steward.ingest.address import is_address, parse_address
from steward.ingest.findings import Encoding, Inspection, Loaded, Note
from steward.ingest.options import ColumnOption, Limits, Options
from steward.ingest.reading import inspect, inspect_server, load, load_server
from steward.ingest.retype import retype

if TYPE_CHECKING:
    from steward.ingest.querying import Asked

__all__ = [
    "Asked",
    "ColumnOption",
    "Encoding",
    "Inspection",
    "Limits",
    "Loaded",
    "Note",
    "Options",
    "inspect",
    "inspect_server",
    "is_address",
    "isolation",
    "load",
    "load_server",
    "parse_address",
    "retype",
]

__getattr__ = lazily(__name__)
