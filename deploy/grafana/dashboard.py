"""The dashboard, as JSON: `python deploy/grafana/dashboard.py > deploy/grafana/toolwire.json`."""

import json
import sys
from typing import Any

SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH, HEIGHT = 8, 8
PER_ROW = 24 // WIDTH
MODEL = 'model=~"$model"'
GEN_AI = 'gen_ai_request_model=~"$model"'
WINDOW = "[$__rate_interval]"


def rate(metric: str, by: str, match: str = MODEL) -> str:
    return f"sum by ({by}) (rate({metric}{{{match}}}{WINDOW}))"


def share(part: str, whole: str, by: str) -> str:
    """Of `whole`, as a number from 0 to 1; nothing where there was nothing."""
    return f"{part} / ({rate(whole, by)} > 0)"


def quantile(part: float, metric: str, match: str = GEN_AI, by: str = "gen_ai_request_model") -> str:
    return f"histogram_quantile({part}, {rate(f'{metric}_bucket', f'le, {by}', match)})"


CALLS = "toolwire_tool_calls_attempted_total"
NOTICES = 'model=~"$model", kind="{kind}"'
ROWS: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "Requests": [
        ("Requests by status", "reqps", {"{{model}} {{status}}": rate("toolwire_requests_total", "model, status")}),
        ("Running", "short", {"{{model}}": f"sum by (model) (toolwire_requests_running{{{MODEL}}})"}),
        ("Tokens", "short", {"{{model}} {{kind}}": rate("toolwire_tokens_total", "model, kind")}),
    ],
    "Time": [
        (
            "First token",
            "s",
            {
                f"{{{{gen_ai_request_model}}}} p{int(part * 100)}": quantile(part, "gen_ai_server_time_to_first_token_seconds")
                for part in (0.5, 0.95)
            },
        ),
        ("Each token after it, p95", "s", {
            "{{gen_ai_request_model}}": quantile(0.95, "gen_ai_server_time_per_output_token_seconds"),
        }),
        ("The gateway's own share", "s", {
            "{{model}} p95": quantile(0.95, "toolwire_overhead_seconds", MODEL, "model"),
            "event loop lag {{instance}}": "toolwire_event_loop_lag_seconds",
        }),
    ],
    "Tool calls": [
        ("Calls", "ops", {
            "{{model}} completed": rate("toolwire_tool_calls_completed_total", "model"),
            "{{model}} attempted": rate(CALLS, "model"),
        }),
        ("Went wrong, share of calls", "percentunit", {
            f"{{{{model}}}} {kind}": share(rate("toolwire_notices_total", "model", NOTICES.format(kind=kind)), CALLS, "model")
            for kind in ("malformed", "undeclared", "dialect", "truncated")
        }),
        ("Repaired, and invalid against their schemas", "percentunit", {
            "{{model}} repaired": share(
                rate("toolwire_notices_total", "model", NOTICES.format(kind="repaired")), CALLS, "model"
            ),
            "{{model}} schema invalid": share(rate("toolwire_tool_calls_schema_invalid_total", "model"), CALLS, "model"),
            "{{model}} refused": share(rate("toolwire_tool_calls_refused_total", "model"), CALLS, "model"),
        }),
    ],
    "Replicas": [
        ("Taking requests", "short", {"{{model}} {{replica}}": f"toolwire_replica_up{{{MODEL}}}"}),
        ("Requests at each", "short", {"{{replica}}": f"sum by (replica) (toolwire_replica_requests_running{{{MODEL}}})"}),
        ("Retries, ejections, fallbacks", "ops", {
            "retry {{model}} {{cause}}": rate("toolwire_retries_total", "model, cause"),
            "out {{replica}} {{cause}}": rate("toolwire_replica_ejections_total", "replica, cause"),
            "{{model}} instead by {{fallback}}": rate("toolwire_fallbacks_total", "model, fallback"),
        }),
        ("Queue", "short", {
            "{{model}} waiting": f"sum by (model) (toolwire_queue_requests_waiting{{{MODEL}}})",
            "{{model}} wait p95 (s)": quantile(0.95, "toolwire_queue_seconds", MODEL, "model"),
        }),
        ("Refused for want of a replica", "reqps", {"{{model}} {{cause}}": rate("toolwire_queue_refused_total", "model, cause")}),
        ("Held to demands", "ops", {"{{model}} {{step}}": rate("toolwire_checks_total", "model, step")}),
    ],
    "Callers": [
        ("Refused by limits", "reqps", {"{{limit}}": f"sum by (limit) (rate(toolwire_limited_requests_total{WINDOW}))"}),
        ("Guards for agents", "ops", {"{{model}} {{guard}}": rate("toolwire_guards_total", "model, guard")}),
        ("HTTP answers", "reqps", {
            "{{route}} {{status}}": f"sum by (route, status) (rate(toolwire_http_requests_total{WINDOW}))",
        }),
    ],
}  # fmt: skip


def panel(number: int, title: str, unit: str, queries: dict[str, str], *, at: tuple[int, int]) -> dict[str, Any]:
    return {
        "id": number,
        "title": title,
        "type": "timeseries",
        "datasource": SOURCE,
        "gridPos": {"x": at[0], "y": at[1], "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for place, (legend, query) in enumerate(queries.items())
        ],
    }


def panels() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    y = 0
    for name, contents in ROWS.items():
        made.append(
            {"id": len(made) + 1, "type": "row", "title": name, "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}, "panels": []}
        )
        y += 1
        for place, (title, unit, queries) in enumerate(contents):
            at = (place % PER_ROW * WIDTH, y + place // PER_ROW * HEIGHT)
            made.append(panel(len(made) + 1, title, unit, queries, at=at))
        y += -(-len(contents) // PER_ROW) * HEIGHT
    return made


def dashboard() -> dict[str, Any]:
    """Everything, in Grafana's shape."""
    model = {
        "name": "model", "label": "Model", "type": "query", "datasource": SOURCE, "refresh": 2, "includeAll": True, "multi": True,
        "query": "label_values(toolwire_requests_running, model)", "current": {"text": "All", "value": "$__all"},
    }  # fmt: skip
    source = {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus", "current": {}}
    return {
        "uid": "toolwire", "title": "Toolwire", "schemaVersion": 41, "version": 1, "editable": True, "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"}, "tags": ["toolwire"], "templating": {"list": [source, model]},
        "panels": panels(),
    }  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(dashboard(), indent=1) + "\n")
