"""What is counted without locks is told as prometheus_client tells its own."""

import prometheus_client
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from gateway.telemetry import instruments

BOUNDS = (0.5, 1.0, 2.5)
AMOUNTS = st.lists(
    st.sampled_from(["a", "b"]).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from([0.0, 0.5, 0.75, 1.0, 2.5, 9.0])))
)


@given(AMOUNTS)
def test_the_same_is_told(amounts: list[tuple[str, float]]) -> None:
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    labels = ("model",)
    counter = instruments.counter("things", "Things.", labels, registry=ours)
    gauge = instruments.gauge("now", "Now.", labels, registry=ours)
    histogram = instruments.histogram("seconds", "Seconds.", labels, BOUNDS, registry=ours)
    their_counter = prometheus_client.Counter("things", "Things.", labels, registry=theirs)
    their_gauge = prometheus_client.Gauge("now", "Now.", labels, registry=theirs)
    their_histogram = prometheus_client.Histogram("seconds", "Seconds.", labels, registry=theirs, buckets=BOUNDS)
    for name, amount in amounts:
        counter.labels(name).inc(amount)
        their_counter.labels(name).inc(amount)
        gauge.labels(name).inc()
        their_gauge.labels(name).inc()
        histogram.labels(name).observe(amount)
        their_histogram.labels(name).observe(amount)
    for name in {name for name, _ in amounts}:
        gauge.labels(name).dec()
        their_gauge.labels(name).dec()
    assert generate_latest(ours) == generate_latest(theirs)
