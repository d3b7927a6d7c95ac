"""The scale proof on the embedded engine with a model of noise for each family."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import parsers
from tests.e2e.scale import noise_file
from tests.e2e.scale.asks import Ask
from tests.e2e.scale.sending import Target
from tests.e2e.vllm import servers

LONGEST = 1024
AT_ONCE = 4
TIME_BOX = 300.0
UNTAMED = {"top_k": 0, "min_p": 0.0, "top_p": 1.0}
"""Without these llama.cpp draws from the forty likeliest tokens only."""


@contextmanager
def target(families: Sequence[str], logs: Path) -> Iterator[Target]:
    """A gateway that runs a model of each family."""
    files = {family: noise_file.make(family, logs) for family in families}
    biases = {family: noise_file.biases(file, parsers.get(family)) for family, file in files.items()}
    models = [_entry(family, file) for family, file in files.items()]
    # So that the text of a turn that was refused is in its log.
    with servers.gateway_serving(models, logs, ["--log-level", "debug"]) as url:
        yield Target(url, lambda ask: _extras(ask, biases[ask.family]), AT_ONCE, TIME_BOX)


def _entry(family: str, file: Path) -> dict[str, Any]:
    spoken = {"chat_template": f"toolwire/{family}", "parser": family, "template_check": "warn"}
    engine = {"backend": "embedded", "path": str(file), "threads": 1, "parallel": 1}
    return {"name": f"noise-{family}", "strict_policy": "lenient", "recorder": "all", **engine, **spoken}


def _extras(ask: Ask, biases: tuple[Mapping[str, float], Mapping[str, float]]) -> Mapping[str, Any]:
    """Behind a call the model of its own accord ends the turn, so that where it may call it only has to be drawn to that."""
    demanded, free = biases
    common = {"model": f"noise-{ask.family}", "max_completion_tokens": LONGEST, "temperature": 1.0}
    return {**common, "logit_bias": demanded if ask.forced else free, "extra_body": UNTAMED}
