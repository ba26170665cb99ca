"""What happened, for operators: structured logs, metrics, and redaction of secrets."""

from steward.trace import genai
from steward.trace.context import HEADER, traceparent, within_call
from steward.trace.logs import add_to_context, configure_logs, get_logger, log_context
from steward.trace.metrics import Metrics, ReadGauge
from steward.trace.otlp import Collector
from steward.trace.redact import MASK, redact, redact_text
from steward.trace.spans import Span, Value, trace_id

__all__ = [
    "HEADER",
    "MASK",
    "Collector",
    "Metrics",
    "ReadGauge",
    "Span",
    "Value",
    "add_to_context",
    "configure_logs",
    "genai",
    "get_logger",
    "log_context",
    "redact",
    "redact_text",
    "trace_id",
    "traceparent",
    "within_call",
]
