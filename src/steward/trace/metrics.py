"""Prometheus metrics of one process, in a registry of their own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector


@dataclass(frozen=True)
class ReadGauge:
    """A figure that is read when somebody asks for the metrics, for each value of its label."""

    name: str
    text: str
    values: Mapping[str, float]
    label: str | None = None


class _Read(Collector):
    def __init__(self, read: Callable[[], Sequence[ReadGauge]]) -> None:
        self._read = read

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: otherwise registering it would read."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for gauge in self._read():
            labels = [gauge.label] if gauge.label is not None else []
            family = GaugeMetricFamily(gauge.name, gauge.text, labels=labels)
            for value, number in gauge.values.items():
                family.add_metric([value] if labels else [], number)
            yield family


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

        self.runs_ended = Counter(
            "steward_runs_ended_total",
            "Runs that ended in this process, by kind of run and how they ended.",
            ["program", "status"],
            registry=self.registry,
        )
        self.run_seconds = Histogram(
            "steward_run_seconds",
            "From the start of a run to its end, waits included.",
            ["program"],
            buckets=(0.1, 0.3, 1, 3, 10, 30, 60, 300, 1800, 7200, 86400),
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

    def read_on_demand(self, read: Callable[[], Sequence[ReadGauge]]) -> None:
        self.registry.register(_Read(read))

    def exposition(self) -> bytes:
        return generate_latest(self.registry)
