"""Which span a call outwards belongs to, for programs that send their own spans: W3C's `traceparent`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from steward.trace.spans import span_id, trace_id

HEADER = "traceparent"
_call: ContextVar[tuple[str, str] | None] = ContextVar("span of a call", default=None)


@contextmanager
def within_call(root_id: str, run_id: str, key: str) -> Iterator[None]:
    """Requests made inside belong to this call of the run."""
    token = _call.set((root_id, f"{run_id}:{key}"))
    try:
        yield
    finally:
        _call.reset(token)


def traceparent() -> str | None:
    """The header's value; None outside of a call."""
    call = _call.get()
    if call is None:
        return None
    root_id, key = call
    return f"00-{trace_id(root_id):032x}-{span_id(root_id, key):016x}-01"
