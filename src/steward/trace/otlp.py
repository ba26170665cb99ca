"""Sends spans to a collector by OTLP over HTTP, in the background: a collector that is away delays nobody."""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import structlog

from steward.core import Misconfigured, TraceSettings
from steward.trace.spans import Span

_MOST_WAITING: Final = 1_000
_log = structlog.get_logger("steward.trace")

Work = Callable[[], Sequence[Span]]


class Sender(Protocol):
    def export(self, spans: Sequence[Any]) -> Any: ...
    def shutdown(self) -> None: ...


class Collector:
    """Takes work that makes spans, and does it in a thread of its own."""

    def __init__(self, settings: TraceSettings) -> None:
        self._sender, self._converted = _opened(settings)
        self._waiting: queue.Queue[Work | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="steward-trace", daemon=True)
        self._thread.start()

    def take(self, work: Work) -> None:
        """Drops it when too much waits: traces are for looking at, the journal is the record."""
        try:
            self._waiting.put_nowait(work)
        except queue.Full:
            _log.warning("trace_dropped")

    def close(self, seconds: float = 5.0) -> None:
        self._waiting.put(None)
        self._thread.join(seconds)
        self._sender.shutdown()

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            try:
                self._sender.export([self._converted(span) for span in work()])
            except Exception as problem:  # noqa: BLE001
                # Whatever a collector or its library does, the thread goes on.
                _log.warning("trace_not_sent", error=type(problem).__name__)


def _opened(settings: TraceSettings) -> tuple[Sender, Callable[[Span], Any]]:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
    except ModuleNotFoundError:
        raise Misconfigured(
            "Sending traces needs Steward's 'otel' extra; install it first."
        ) from None
    resource = Resource.create({"service.name": settings.service})
    headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
    sender = OTLPSpanExporter(endpoint=settings.otlp_endpoint, headers=headers)

    def context(span: Span, span_id: int) -> SpanContext:
        return SpanContext(span.trace_id, span_id, False, TraceFlags(TraceFlags.SAMPLED))

    def converted(span: Span) -> ReadableSpan:
        parent = span.parent_id
        return ReadableSpan(
            name=span.name,
            context=context(span, span.span_id),
            parent=None if parent is None else context(span, parent),
            resource=resource,
            attributes=dict(span.attributes),
            kind=SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.OK),
            start_time=int(span.start.timestamp() * 1e9),
            end_time=int(span.end.timestamp() * 1e9),
        )

    return sender, converted
