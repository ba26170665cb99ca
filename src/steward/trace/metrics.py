"""Prometheus metrics of one process, in a registry of their own."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Counter(
            "steward_http_requests_total",
            "HTTP requests, by route template and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.latency = Histogram(
            "steward_http_request_seconds",
            "Time to answer an HTTP request, streams excepted.",
            ["method", "route"],
            registry=self.registry,
        )
        self.streams = Gauge("steward_event_streams", "Open event streams.", registry=self.registry)
        self.refused = Counter(
            "steward_refused_total",
            "Requests refused, by error code.",
            ["code"],
            registry=self.registry,
        )

    def exposition(self) -> bytes:
        return generate_latest(self.registry)
