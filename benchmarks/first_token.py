"""What a constraint adds to the time of the first token, through the gateway, on a real vLLM with a small model of noise.

python benchmarks/first_token.py [--families hermes,llama3_json] [--tools 1,10,50,100] [--rounds 5]

Each request generates one token. `free` has the same prompt and no constraint, and comes first, so that the engine has read the
prompt before; `first` is the first request with these tools under `tool_choice: required`, `again` the same request repeated.
The engine is installed by `make test-vllm`; TOOLWIRE_TOOL_CORPUS may name a file of more tools (see tests/e2e/scale/tools.py).
"""

import argparse
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.scale import noise, tools
from tests.e2e.vllm import servers
from tests.e2e.vllm.families import entry

LONG_PROMPTS = ("--max-model-len=32768", "--max-num-batched-tokens=32768")


def main() -> None:
    options = _options()
    logs = Path(tempfile.mkdtemp(prefix="toolwire-first-token-"))
    noise.folder()
    print(f"starting the engine and the gateway; logs in {logs}", flush=True)
    with servers.vllm_serving(noise.NAME, logs, LONG_PROMPTS) as engine:
        models = [{**entry(noise.NAME, engine, family), "strict_policy": "lenient"} for family in options.families]
        with servers.gateway_serving(models, logs) as gateway, httpx.Client(base_url=f"{gateway}/v1", timeout=300) as client:
            _measure(client, options.families[0], 1, 2)  # the engine's own first constraint
            print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
            print("family            tools  prompt tokens   free ms  first ms  again ms  first adds  again adds")
            for family, number in itertools.product(options.families, options.tools):
                _measure_and_print(client, family, number, options.rounds)


def _measure_and_print(client: httpx.Client, family: str, number: int, rounds: int) -> None:
    try:
        prompt, free, first, again = _measure(client, family, number, rounds)
    except httpx.HTTPStatusError as refused:
        print(f"{family:<16} {number:6} refused: {refused.response.json()['error']['message']}", flush=True)
        return
    times = f"{free:9.0f} {first:9.0f} {again:9.0f} {first - free:11.0f} {again - free:11.0f}"
    print(f"{family:<16} {number:6} {prompt:14} {times}", flush=True)


def _measure(client: httpx.Client, family: str, number: int, rounds: int) -> tuple[int, float, float, float]:
    """Tokens of the prompt; then milliseconds: without a constraint, with it the first time, and again."""
    offered = _offered(number, f"{family}_{number}_{rounds}")
    prompt, _ = _ask(client, family, offered, "auto")
    free = statistics.median(_ask(client, family, offered, "auto")[1] for _ in range(rounds))
    _, first = _ask(client, family, offered, "required")
    again = statistics.median(_ask(client, family, offered, "required")[1] for _ in range(rounds))
    return prompt, free, first, again


def _ask(client: httpx.Client, family: str, offered: Sequence[dict[str, Any]], choice: str) -> tuple[int, float]:
    """Tokens of the prompt, and milliseconds until the only token is there. Without strict tools `auto` needs no constraint."""
    body = {
        "model": f"{noise.NAME}-{family}",
        "messages": [{"role": "user", "content": "Use one."}],
        "tools": offered,
        "tool_choice": choice,
        "max_completion_tokens": 1,
        "seed": 1,
    }
    began = time.perf_counter()
    answer = client.post("/chat/completions", json=body)
    spent = (time.perf_counter() - began) * 1000
    answer.raise_for_status()
    return int(answer.json()["usage"]["prompt_tokens"]), spent


def _offered(number: int, mark: str) -> list[dict[str, Any]]:
    """So many tools, under names that no other measurement uses, so that nothing of them is known yet."""
    samples = tools.corpus() or tools.written()
    named = [(f"{sample.name[:40]}_{mark}", sample) for sample in itertools.islice(itertools.cycle(samples), number)]
    return [
        {"type": "function", "function": {"name": f"{name}_{at}", "description": sample.description, "parameters": sample.schema}}
        for at, (name, sample) in enumerate(named)
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--families", type=lambda text: text.split(","), default=["hermes", "qwen3_coder", "deepseek_v31", "llama3_json"]
    )
    parser.add_argument("--tools", type=lambda text: [int(number) for number in text.split(",")], default=[1, 10, 50, 100])
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
