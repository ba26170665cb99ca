"""Brings files and tables in: inspects them with evidence, loads them without losing a record.

Files from people are read through `steward.data.ingest.isolation`, in a process of their own.
"""

from steward.data.ingest.findings import (
    Alternative,
    ColumnFinding,
    Dialect,
    Encoding,
    Header,
    Inspection,
    Loaded,
    Note,
    Sample,
    TableListing,
)
from steward.data.ingest.options import ColumnOption, Limits, Options
from steward.data.ingest.reading import inspect, inspect_server, load, load_server
from steward.data.ingest.retype import retype, retype_sql

__all__ = [
    "Alternative",
    "ColumnFinding",
    "ColumnOption",
    "Dialect",
    "Encoding",
    "Header",
    "Inspection",
    "Limits",
    "Loaded",
    "Note",
    "Options",
    "Sample",
    "TableListing",
    "inspect",
    "inspect_server",
    "load",
    "load_server",
    "retype",
    "retype_sql",
]
