"""What happened, for operators: structured logs, metrics, and redaction of secrets."""

from steward.trace.logs import add_to_context, configure_logs, get_logger, log_context
from steward.trace.metrics import Metrics, ReadGauge
from steward.trace.redact import redact, redact_text

__all__ = [
    "Metrics",
    "ReadGauge",
    "add_to_context",
    "configure_logs",
    "get_logger",
    "log_context",
    "redact",
    "redact_text",
]
