"""Tools with any schema at all, as the fuzz draws them."""

import json

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.e2e.scale.tools import Sample
from tests.support.any_schema import parameters


def drawn(number: int, *, seed: int) -> list[Sample]:
    """So many tools, the same ones for the same seed; without half characters, which no client can send."""
    found: dict[str, dict[str, object]] = {}

    @hypothesis.seed(seed)
    @settings(
        max_examples=2 * number + 1, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(parameters())
    def collect(schema: dict[str, object]) -> None:
        text = json.dumps(schema, ensure_ascii=False)
        if "\ud800" not in text:
            found[text] = schema

    collect()
    return [Sample(f"tool_{at}", schema, "fuzz", "Does anything.") for at, schema in enumerate(found.values())][:number]
