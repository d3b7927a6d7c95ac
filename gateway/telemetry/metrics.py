"""The numbers Prometheus may ask for. One registry per application, so that two of them can live in one process."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

TEXT = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Every metric of the gateway. Labels are configured names or fixed words, never a client's text."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each one, which nobody asks for
        self.registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"toolwire_{name}", text, labels, registry=self.registry)

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(f"toolwire_{name}", text, labels, registry=self.registry, buckets=SECONDS)

        turn = ("model", "format")
        self.http_requests = counter("http_requests", "HTTP answers by route and status", "route", "status")
        self.requests = counter("requests", "Generation requests by outcome", "model", "status")
        self.tokens = counter("tokens", "Tokens by kind", "model", "kind")
        self.attempted = counter("tool_calls_attempted", "Calls the models began", *turn)
        self.completed = counter("tool_calls_completed", "Calls that ended whole", *turn)
        self.truncated = counter("tool_calls_truncated", "Calls that the end of the turn cut short", *turn)
        self.refused = counter("tool_calls_refused", "Calls that broke what the request demanded", *turn)
        self.notices = counter("notices", "What was remarkable about turns, by kind", *turn, "kind")
        self.checks = counter("checks", "What holding calls and answers to the request's demands came to", *turn, "step")
        self.first_event = histogram("first_event_seconds", "From the request to the first event of its turn", "model")
        self.duration = histogram("request_seconds", "From the request to the end of its turn", "model")
        self.limited = counter("limited_requests", "Requests that a limit of their key refused", "limit")
        self.uncounted = counter("uncounted_requests", "Requests while the store of limits could not be reached")
        self.running = Gauge("toolwire_requests_running", "Generation requests now", ("model",), registry=self.registry)

    def exposition(self) -> bytes:
        """All metrics as text of the type TEXT."""
        return generate_latest(self.registry)
