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

        self.plans = Counter(
            "steward_plans_total",
            "Plans, by who made them.",
            ["made_by"],
            registry=self.registry,
        )
        self.plan_seconds = Histogram(
            "steward_plan_seconds", "Time to make a plan.", registry=self.registry
        )
        self.plan_problems = Counter(
            "steward_plan_validation_failures_total",
            "Plans of a model that were not valid at first.",
            registry=self.registry,
        )
        self.plan_deviations = Counter(
            "steward_plan_deviations_total",
            "What was done or tried otherwise than planned, by kind.",
            ["kind"],
            registry=self.registry,
        )
        self.plan_adherence = Histogram(
            "steward_plan_adherence",
            "Share of a turn's steps that a planned tool did.",
            buckets=(0.0, 0.25, 0.5, 0.75, 0.9, 1.0),
            registry=self.registry,
        )

    def exposition(self) -> bytes:
        return generate_latest(self.registry)
