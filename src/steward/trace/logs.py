"""Structured logs: one JSON object per line with the ids that tie lines together; never payloads."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from steward.core import LogSettings
from steward.trace.redact import redact

CONTEXT_KEYS = ("request_id", "principal", "run_id", "thread_id")
# Names that say nothing about their value; their text is looked at all the same.
_OWN_NAMES = {"timestamp", "level", "event", "logger", "exception", *CONTEXT_KEYS}


def configure_logs(settings: LogSettings) -> None:
    """Sets up logging of this process, ours and that of libraries alike."""
    as_json = settings.format == "json" or (settings.format == "auto" and not sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        # The pretty formatter would show the values of local variables.
        else structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                # Last, so that the text of exceptions is looked at too.
                _redact_fields,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.level.upper())
    for noisy in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        library = logging.getLogger(noisy)
        library.handlers, library.propagate = [], True
        # Requests are logged by our own middleware, with ids and without query strings.
        library.setLevel("WARNING")
    # They log whole addresses: a signature or the key of a webhook may be part of one.
    for telling in ("httpx2", "httpcore2", "httpx", "httpcore"):
        logging.getLogger(telling).setLevel("WARNING")
    logging.getLogger("alembic").setLevel("WARNING")


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(name)
    return logger


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Adds ids to every line logged within the block."""
    with structlog.contextvars.bound_contextvars(**ids):
        yield


def add_to_context(**ids: str) -> None:
    structlog.contextvars.bind_contextvars(**ids)


def _redact_fields(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: redact(value, "" if key in _OWN_NAMES else key) for key, value in event.items()}
