"""Untrusted SQL, query plans and Python: guarded first, then run in a process that can do no harm."""

from steward.sandbox.contract import (
    Column,
    Dataset,
    Limits,
    Refusal,
    Request,
    Response,
    ScratchFile,
    Tier,
)
from steward.sandbox.door import Sandbox
from steward.sandbox.walls import Walls

__all__ = [
    "Column",
    "Dataset",
    "Limits",
    "Refusal",
    "Request",
    "Response",
    "Sandbox",
    "ScratchFile",
    "Tier",
    "Walls",
]
