"""Spans of a run: made from its journal once it is over, with ids that follow from it, so that nothing is told twice."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Span:
    trace: str
    """What the trace is made for: the id of the root run."""
    key: str
    """The span within it; unique."""
    name: str
    start: datetime
    end: datetime
    parent: str | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str | None = None

    @property
    def trace_id(self) -> int:
        return trace_id(self.trace)

    @property
    def span_id(self) -> int:
        return span_id(self.trace, self.key)

    @property
    def parent_id(self) -> int | None:
        return None if self.parent is None else span_id(self.trace, self.parent)


def trace_id(trace: str) -> int:
    """Of the run that a person or a trigger started."""
    return _number(f"trace:{trace}", 16)


def span_id(trace: str, key: str) -> int:
    return _number(f"span:{trace}:{key}", 8)


def _number(text: str, size: int) -> int:
    """Never zero: that would mean none."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big") or 1
