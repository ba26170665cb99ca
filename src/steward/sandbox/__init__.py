"""Untrusted SQL, query plans and Python: guarded first, then run in a process that can do no harm."""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.sandbox import query_plan
from steward.sandbox.compile_plan import compile_plan
from steward.sandbox.contract import (
    Column,
    Dataset,
    Envelope,
    Limits,
    Refusal,
    Request,
    Response,
    ScratchFile,
    Tier,
)
from steward.sandbox.door import Sandbox
from steward.sandbox.guard_python import check
from steward.sandbox.providers import Provider
from steward.sandbox.providers.embedded import Embedded
from steward.sandbox.query_plan import QueryPlan
from steward.sandbox.refused import Refused
from steward.sandbox.walls import Walls

if TYPE_CHECKING:
    from steward.sandbox.providers._cluster import reach
    from steward.sandbox.providers.docker import Docker
    from steward.sandbox.providers.kubernetes import Kubernetes, Placement
    from steward.sandbox.providers.microsandbox import Microsandbox

__all__ = [
    "Column",
    "Dataset",
    "Docker",
    "Embedded",
    "Envelope",
    "Kubernetes",
    "Limits",
    "Microsandbox",
    "Placement",
    "Provider",
    "QueryPlan",
    "Refusal",
    "Refused",
    "Request",
    "Response",
    "Sandbox",
    "ScratchFile",
    "Tier",
    "Walls",
    "check",
    "compile_plan",
    "query_plan",
    "reach",
]

__getattr__ = lazily(
    __name__,
    {
        "steward.sandbox.providers._cluster": ["reach"],
        "steward.sandbox.providers.docker": ["Docker"],
        "steward.sandbox.providers.kubernetes": ["Kubernetes", "Placement"],
        "steward.sandbox.providers.microsandbox": ["Microsandbox"],
    },
)
