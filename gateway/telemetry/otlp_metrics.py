"""The metrics for a collector: those that Prometheus may ask for, sent every so often under OpenTelemetry's names."""

import asyncio
import logging
import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.samples import Sample

from .otlp import opened

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import HistogramDataPoint, Metric, MetricExporter, MetricsData, NumberDataPoint
    from opentelemetry.sdk.resources import Resource
    from prometheus_client.metrics_core import Metric as Family

INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
EVERY = 60_000
"""Milliseconds between two reports, where the environment says nothing."""
PATIENCE = 3.0
"""Seconds that the last report gets to leave."""
STANDARD = {
    "gen_ai_server_request_duration_seconds": "gen_ai.server.request.duration",
    "gen_ai_server_time_to_first_token_seconds": "gen_ai.server.time_to_first_token",
    "gen_ai_server_time_per_output_token_seconds": "gen_ai.server.time_per_output_token",
    "gen_ai_client_token_usage": "gen_ai.client.token.usage",
    "gen_ai_operation_name": "gen_ai.operation.name",
    "gen_ai_provider_name": "gen_ai.provider.name",
    "gen_ai_request_model": "gen_ai.request.model",
    "gen_ai_token_type": "gen_ai.token.type",
    "error_type": "error.type",
}
"""OpenTelemetry's names, which Prometheus cannot write."""
log = logging.getLogger(__name__)
Labels = tuple[tuple[str, str], ...]


class MetricsSender:
    """Reports one registry. A collector that is away misses reports; the sums in the next one are whole.

    Figures are taken in the event loop, some of which are about it, and sent by a thread.
    """

    def __init__(self, registry: CollectorRegistry, exporter: "MetricExporter", resource: "Resource") -> None:
        self._registry = registry
        self._exporter = exporter
        self._resource = resource
        self._since = time.time_ns()
        self._every = _interval()
        self._reports: queue.Queue[MetricsData | None] = queue.Queue(maxsize=2)
        self._thread = threading.Thread(target=self._send_all, name="metrics", daemon=True)

    async def watch(self) -> None:
        """Report every so often, until cancelled."""
        self._thread.start()
        while True:
            await asyncio.sleep(self._every)
            if self._reports.empty():
                self._reports.put_nowait(self.report())

    async def close(self) -> None:
        """Report once more, and stop. A collector that does not answer is given up after some seconds."""
        if not self._thread.is_alive():
            return
        with suppress(queue.Empty):
            while True:
                self._reports.get_nowait()
        self._reports.put_nowait(self.report())
        self._reports.put_nowait(None)
        await asyncio.to_thread(self._thread.join, PATIENCE)

    def _send_all(self) -> None:
        while (report := self._reports.get()) is not None:
            try:
                self._exporter.export(report)
            except Exception as error:  # whatever it is, the next report may leave
                log.warning("metrics cannot be sent: %s", type(error).__name__)
        self._exporter.shutdown()

    def report(self) -> "MetricsData":
        """All metrics as they are now."""
        from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        metrics = [metric for family in self._registry.collect() if (metric := self._metric(family)) is not None]
        scope = ScopeMetrics(InstrumentationScope("toolwire"), metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])

    def _metric(self, family: "Family") -> "Metric | None":
        from opentelemetry.sdk.metrics.export import AggregationTemporality, Gauge, Histogram, Metric, Sum

        cumulative = AggregationTemporality.CUMULATIVE
        data: Gauge | Histogram | Sum
        match family.type:
            case "counter":
                data = Sum(self._numbers(family.samples), cumulative, is_monotonic=True)
            case "gauge":
                data = Gauge(self._numbers(family.samples))
            case "histogram":
                data = Histogram(list(self._histograms(family)), cumulative)
            case _:
                return None
        return Metric(_name(family.name), family.documentation, _unit(family.name), data) if family.samples else None

    def _numbers(self, samples: list[Sample]) -> "list[NumberDataPoint]":
        from opentelemetry.sdk.metrics.export import NumberDataPoint

        now = time.time_ns()
        return [NumberDataPoint(_attributes(sample.labels), self._since, now, sample.value) for sample in samples]

    def _histograms(self, family: "Family") -> "Iterator[HistogramDataPoint]":
        """Prometheus counts all that is below a bound, OpenTelemetry what is between two."""
        from opentelemetry.sdk.metrics.export import HistogramDataPoint

        series: dict[Labels, dict[str, float]] = {}
        for sample in family.samples:
            labels = tuple((name, value) for name, value in sample.labels.items() if name != "le")
            kind = sample.name.removeprefix(family.name)
            series.setdefault(labels, {})[sample.labels["le"] if kind == "_bucket" else kind] = sample.value
        for labels, values in series.items():
            below = [count for bound, count in values.items() if not bound.startswith("_")]
            bounds = [float(bound) for bound in values if not bound.startswith("_") and bound != "+Inf"]
            between = [int(count - before) for before, count in zip([0.0, *below], below, strict=False)]
            yield HistogramDataPoint(
                attributes=_attributes(dict(labels)),
                start_time_unix_nano=self._since,
                time_unix_nano=time.time_ns(),
                count=int(values["_count"]),
                sum=values["_sum"],
                bucket_counts=between,
                explicit_bounds=bounds,
                min=None,  # type: ignore[arg-type]  # not known, which the wire can say
                max=None,  # type: ignore[arg-type]
            )


def _interval() -> float:
    """Seconds."""
    said = os.environ.get(INTERVAL) or str(EVERY)
    if said.isdecimal() and int(said):
        return int(said) / 1000
    log.warning("%s has no effect: it must be a number of milliseconds", INTERVAL)
    return EVERY / 1000


def _name(name: str) -> str:
    """A metric's name without its unit: gen_ai.server.request.duration, toolwire.requests_running."""
    return STANDARD.get(name) or name.removesuffix("_seconds").replace("_", ".", 1)


def _unit(name: str) -> str:
    return "s" if name.endswith("_seconds") else "{token}" if name.endswith(("_tokens", "_usage")) else "1"


def _attributes(labels: Mapping[str, str]) -> dict[str, str]:
    """Without those that are empty, which Prometheus has instead of none."""
    return {STANDARD.get(name, name): value for name, value in labels.items() if value}


def open_metrics_sender(endpoint: str | None, registry: CollectorRegistry, version: str) -> MetricsSender | None:
    """What sends the metrics, or None when nobody wants them. SettingsError: they are configured, but the extra is missing."""

    def sender(url: str | None) -> MetricsSender:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        from .resource import resource_of

        return MetricsSender(registry, OTLPMetricExporter(endpoint=url), resource_of(version))

    return opened("metrics", endpoint, sender)
