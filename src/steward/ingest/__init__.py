"""Brings files and tables in: inspects them with evidence, loads them without losing a record.

Files from people are read through `steward.ingest.isolation`, in a process of their own.
"""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.ingest import isolation
from steward.ingest.address import is_address, parse_address
from steward.ingest.findings import (
    ColumnFinding,
    Encoding,
    Header,
    Inspection,
    Loaded,
    Note,
    Sample,
)
from steward.ingest.options import ColumnOption, Limits, Options
from steward.ingest.reach import INSIDE, PUBLIC
from steward.ingest.reading import inspect, inspect_server, load, load_server
from steward.ingest.retype import retype, retype_sql

if TYPE_CHECKING:
    from steward.ingest.querying import Asked

__all__ = [
    "INSIDE",
    "PUBLIC",
    "Asked",
    "ColumnFinding",
    "ColumnOption",
    "Encoding",
    "Header",
    "Inspection",
    "Limits",
    "Loaded",
    "Note",
    "Options",
    "Sample",
    "inspect",
    "inspect_server",
    "is_address",
    "isolation",
    "load",
    "load_server",
    "parse_address",
    "retype",
    "retype_sql",
]

__getattr__ = lazily(__name__)
