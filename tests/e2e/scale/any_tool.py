"""Tools with any schema at all, as the fuzz draws them."""

import json
from itertools import islice
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.e2e.scale.outcomes import validator
from tests.e2e.scale.tools import Sample
from tests.support.any_schema import parameters

SOUND_PER_UNSOUND = 5
DRAWN_PER_KEPT = 6


def drawn(number: int, *, seed: int) -> list[Sample]:
    """So many tools, the same ones for the same seed: most of them JSON Schema, which what the fuzz draws seldom is."""
    sound: dict[str, Any] = {}
    unsound: dict[str, Any] = {}

    @hypothesis.seed(seed)
    @settings(
        max_examples=DRAWN_PER_KEPT * number + 1,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(parameters())
    def collect(schema: dict[str, Any]) -> None:
        text = json.dumps(schema, ensure_ascii=False)
        if "\ud800" in text:  # half a character, which no client can send
            return
        try:
            validator(text)
        except ValueError:
            unsound[text] = schema
        else:
            sound[text] = schema

    collect()
    few = islice(unsound.values(), number // (SOUND_PER_UNSOUND + 1))
    kept = [*few, *sound.values()][:number]
    return [Sample(f"tool_{at}", schema, "fuzz", "Does anything.") for at, schema in enumerate(kept)]
