"""Untrusted SQL, query plans and Python: guarded first, then run in a process that can do no harm."""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.sandbox import query_plan
from steward.sandbox.compile_plan import compile_plan
from steward.sandbox.contract import Column, Dataset, Envelope, Limits, Request, Response
from steward.sandbox.door import Sandbox
from steward.sandbox.guard_python import check
from steward.sandbox.providers import Place, Provider, load_providers
from steward.sandbox.providers.embedded import Embedded
from steward.sandbox.query_plan import QueryPlan
from steward.sandbox.refused import Refused
from steward.sandbox.walls import Walls

if TYPE_CHECKING:
    # Its library starts threads, and a process that has some cannot enter a user namespace.
    from steward.sandbox.guard_sql import check as check_sql

__all__ = [
    "Column",
    "Dataset",
    "Embedded",
    "Envelope",
    "Limits",
    "Place",
    "Provider",
    "QueryPlan",
    "Refused",
    "Request",
    "Response",
    "Sandbox",
    "Walls",
    "check",
    "check_sql",
    "compile_plan",
    "load_providers",
    "query_plan",
]

__getattr__ = lazily(__name__)
