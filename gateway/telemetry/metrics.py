"""The numbers Prometheus may ask for. One registry per application, so that two of them can live in one process."""

from collections.abc import Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from . import instruments
from .instruments import Distribution, Instrument, Number
from .loop_lag import LoopLag, tasks
from .replicas import ReplicaMetrics

TEXT = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
FIRST = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
EACH = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
OVERHEAD = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
TOKENS = tuple(4**power for power in range(14))
"""The bounds that https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ advises."""
GENERATION = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")


class Metrics:
    """Every metric of the gateway. Labels are configured names or fixed words, never a client's text.

    Names that begin with gen_ai are OpenTelemetry's, as Prometheus writes them; all others are ours.
    """

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each one, which nobody asks for
        self.registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Instrument[Number]:
            return instruments.counter(f"toolwire_{name}", text, labels, registry=self.registry)

        def standard(name: str, text: str, bounds: Sequence[float], *labels: str) -> Instrument[Distribution]:
            return instruments.histogram(f"gen_ai_{name}", text, (*GENERATION, *labels), bounds, registry=self.registry)

        turn = ("model", "format")
        self.http_requests = counter("http_requests", "HTTP answers by route and status", "route", "status")
        self.requests = counter("requests", "Generation requests by outcome", "model", "status")
        self.tokens = counter("tokens", "Tokens by kind", "model", "kind")
        self.attempted = counter("tool_calls_attempted", "Calls the models began or tried", *turn)
        self.completed = counter("tool_calls_completed", "Calls that ended whole", *turn)
        self.truncated = counter("tool_calls_truncated", "Calls that the end of the turn cut short", *turn)
        self.refused = counter("tool_calls_refused", "Calls that broke what the request demanded", *turn)
        self.invalid = counter("tool_calls_schema_invalid", "Whole calls that broke their tool's schema", *turn)
        self.notices = counter("notices", "What was remarkable about turns, by kind", *turn, "kind")
        self.checks = counter("checks", "What holding calls and answers to the request's demands came to", *turn, "step")
        self.duration = standard("server_request_duration_seconds", "From the request to its end", SECONDS, "error_type")
        self.first = standard("server_time_to_first_token_seconds", "From the request to the first event of its turn", FIRST)
        self.each = standard("server_time_per_output_token_seconds", "For each token after the first", EACH)
        self.usage = standard("client_token_usage", "Tokens of one request", TOKENS, "gen_ai_token_type")
        spent = "Time of a generation in which neither the engine nor the client was waited for"
        self.overhead = instruments.histogram(
            "toolwire_overhead_seconds", spent, ("model",), OVERHEAD, registry=self.registry
        )  # fmt: skip
        self.limited = counter("limited_requests", "Requests that a limit of their key refused", "limit")
        self.uncounted = counter("uncounted_requests", "Requests while the store of limits could not be reached").labels()
        self.guards = counter("guards", "Conversations that a guard for agents changed or reported", "model", "guard")
        became = "Turns to be recorded, by what became of the record"  # which threads tell too
        self.records = Counter("toolwire_recorder_turns", became, ("outcome",), registry=self.registry)
        self.running = instruments.gauge(
            "toolwire_requests_running", "Generation requests now", ("model",), registry=self.registry
        )
        self.replicas = ReplicaMetrics(self.registry)
        self.loop_lag = LoopLag()
        lag = Gauge("toolwire_event_loop_lag_seconds", "Worst delay of the event loop in the last 15 s", registry=self.registry)
        lag.set_function(self.loop_lag.worst)
        going = Gauge("toolwire_event_loop_tasks", "Tasks of the event loop now", registry=self.registry)
        going.set_function(tasks)
        ProcessCollector(registry=self.registry)

    def exposition(self) -> bytes:
        """All metrics as text of the type TEXT."""
        return generate_latest(self.registry)
