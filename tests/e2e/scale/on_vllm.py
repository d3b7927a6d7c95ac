"""The scale proof on a real vLLM with the model of noise."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.scale import noise
from tests.e2e.scale.asks import Ask
from tests.e2e.scale.sending import Target
from tests.e2e.scale.vocabulary import Bias
from tests.e2e.vllm import servers
from tests.e2e.vllm.families import entry

LONGEST = 1024
LEAST_FREE = 96
"""Tokens before which a free turn does not end: time enough for the bias to begin a call."""
AT_ONCE = 12
TIME_BOX = 600.0


@contextmanager
def engine(logs: Path) -> Iterator[tuple[str, Path]]:
    """The address of vLLM and its log."""
    noise.folder()
    with servers.vllm_serving(noise.NAME, logs) as url:
        (log,) = logs.glob(f"vllm-{noise.NAME}-*.log")
        yield url, log


@contextmanager
def target(engine_url: str, families: Sequence[str], logs: Path) -> Iterator[Target]:
    """A gateway in front of it that serves its model as one of each family."""
    models = [{**entry(noise.NAME, engine_url, family), "strict_policy": "lenient"} for family in families]
    bias = Bias.of(noise.folder())
    # So that the text of a turn that was refused is in its log.
    with servers.gateway_serving(models, logs, ["--log-level", "debug"]) as url:
        yield Target(url, lambda ask: _extras(ask, bias), AT_ONCE, TIME_BOX)


def _extras(ask: Ask, bias: Bias) -> Mapping[str, Any]:
    common = {"model": f"{noise.NAME}-{ask.family}", "max_completion_tokens": LONGEST, "temperature": 1.0}
    if ask.forced:
        return {**common, "logit_bias": bias.to_end(ask.family)}
    if ask.one_call:  # the turn ends behind its call, as the grammar has it
        return {**common, "logit_bias": bias.to_call(ask.family, and_stop=False)}
    return {**common, "logit_bias": bias.to_call(ask.family, and_stop=True), "extra_body": {"min_tokens": LEAST_FREE}}
