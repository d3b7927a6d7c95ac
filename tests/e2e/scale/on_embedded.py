"""The scale proof on the embedded engine with the small model that comes with the gateway."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.scale.asks import Ask
from tests.e2e.scale.sending import Target
from tests.e2e.vllm import servers

FAMILIES = ("hermes", "llama3_json", "mistral_v11", "qwen3_coder")
"""Each is a model in memory of its own."""
LONGEST = 160
AT_ONCE = 4
TIME_BOX = 600.0


@contextmanager
def target(families: Sequence[str], logs: Path) -> Iterator[Target]:
    """A gateway that serves its own model as one of each family."""
    with servers.gateway_serving([_entry(family) for family in families], logs, ["--log-level", "debug"]) as url:
        yield Target(url, _extras, AT_ONCE, TIME_BOX)


def _entry(family: str) -> dict[str, Any]:
    spoken = {"chat_template": f"toolwire/{family}", "parser": family, "template_check": "warn"}
    return {"name": f"small-{family}", "backend": "embedded", "strict_policy": "lenient", **spoken}


def _extras(ask: Ask) -> Mapping[str, Any]:
    return {"model": f"small-{ask.family}", "max_completion_tokens": LONGEST, "temperature": 1.0}
