"""Counters, gauges and histograms of what only the event loop's thread counts.

prometheus_client collects and writes them. Its own take a lock for each number and look for a bucket one by one, which for the
twenty numbers of a request comes to more than its plan.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Generic, TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString


class Number:
    """One that goes up, and of a gauge also down."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1.0) -> None:
        """Add to it."""
        self.value += amount

    def dec(self) -> None:
        """Take one away."""
        self.value -= 1.0

    def tell(self, family: Any, labels: Sequence[str]) -> None:
        """Add it to its metric, under these labels."""
        family.add_metric(labels, self.value)


class Distribution:
    """Amounts, by the bounds between which they lie."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, amount: float) -> None:
        """Count one. An amount that is a bound lies below it."""
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def tell(self, family: Any, labels: Sequence[str]) -> None:
        """Add them to their metric, under these labels."""
        bounds = [*map(floatToGoString, self._bounds), "+Inf"]
        family.add_metric(labels, list(zip(bounds, accumulate(self._counts), strict=True)), self._sum)


Kept = TypeVar("Kept", Number, Distribution)


class Instrument(Collector, Generic[Kept]):
    """One metric. `family` makes it without any number, `new` what is kept for one set of labels."""

    def __init__(self, family: Callable[[], Metric], new: Callable[[], Kept], registry: CollectorRegistry) -> None:
        self._family = family
        self._new: Callable[[], Kept] = new
        self._kept: dict[tuple[str, ...], Kept] = {}
        registry.register(self)

    def labels(self, *values: str) -> Kept:
        """What is kept under these values."""
        kept = self._kept.get(values)
        if kept is None:
            kept = self._kept[values] = self._new()
        return kept

    def describe(self) -> Iterator[Metric]:
        """The metric, without any number."""
        yield self._family()

    def collect(self) -> Iterator[Metric]:
        """The metric as it is now. Called in any thread."""
        family = self._family()
        for values, kept in tuple(self._kept.items()):
            kept.tell(family, values)
        yield family


def counter(name: str, text: str, labels: Sequence[str], *, registry: CollectorRegistry) -> Instrument[Number]:
    """Numbers that only grow. The metric's name gets `_total`."""
    return Instrument(partial(CounterMetricFamily, name, text, labels=labels), Number, registry)


def gauge(name: str, text: str, labels: Sequence[str], *, registry: CollectorRegistry) -> Instrument[Number]:
    """Numbers of what there is now."""
    return Instrument(partial(GaugeMetricFamily, name, text, labels=labels), Number, registry)


def histogram(
    name: str, text: str, labels: Sequence[str], bounds: Sequence[float], *, registry: CollectorRegistry
) -> Instrument[Distribution]:
    """How amounts are distributed. `bounds` rise."""
    return Instrument(partial(HistogramMetricFamily, name, text, labels=labels), partial(Distribution, bounds), registry)
