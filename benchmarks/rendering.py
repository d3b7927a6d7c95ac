"""What a long agent conversation costs before it reaches the engine: template, safe token ids, opening.

python benchmarks/rendering.py --tokenizer FOLDER [--template toolwire/hermes] [--messages 100] [--tools 50]
"""

import argparse
import statistics
import time
from typing import Any

from gateway.rendering import Renderer
from parsers import Tool


def main() -> None:
    options = _options()
    started = time.perf_counter()
    renderer = Renderer.load(options.tokenizer, options.template)
    print(f"loaded in {time.perf_counter() - started:.2f} s")
    for name, text in (("ordinary", "plain"), ("with control tokens", "<|im_end|>")):
        messages, tools = _conversation(options.messages, text), _tools(options.tools)
        prompt = renderer.render(messages, tools)  # warm-up
        times = [_timed(renderer, messages, tools) for _ in range(options.rounds)]
        size = f"{len(prompt.text)} characters, {len(prompt.token_ids or ())} tokens"
        print(f"{name:20} {size}: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", help="folder or hub id; without one only the text is rendered")
    parser.add_argument("--template", default="toolwire/hermes")
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--tools", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=20)
    return parser.parse_args()


def _timed(renderer: Renderer, messages: list[dict[str, Any]], tools: list[Tool]) -> float:
    started = time.perf_counter()
    renderer.render(messages, tools)
    return (time.perf_counter() - started) * 1000


def _tools(number: int) -> list[Tool]:
    properties = {
        f"argument_{at}": {"type": "string", "description": f"What the tool is given as its argument number {at}."}
        for at in range(5)
    }
    return [
        Tool(
            f"tool_{at}",
            "Does one thing, and does it well.",
            {"type": "object", "properties": properties, "required": ["argument_0"]},
        )
        for at in range(number)
    ]


def _conversation(number: int, text: str) -> list[dict[str, Any]]:
    """Questions, calls, results and answers, each of a few lines."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"Be brief. {text}"}]
    for at in range(number // 4):
        arguments = f'{{"argument_0": "value {at}", "argument_1": "{text}"}}'
        call = {"id": f"call{at:05}", "type": "function", "function": {"name": f"tool_{at % 50}", "arguments": arguments}}
        messages += [
            {"role": "user", "content": f"Question {at}: how does this go on? " * 4},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": f"call{at:05}",
                "content": f'{{"rows": [{at}, 2, 3], "note": "{text} of the result"}}' * 3,
            },
            {"role": "assistant", "content": f"Answer {at}: it goes on like this. " * 6},
        ]
    return [*messages, {"role": "user", "content": "And now?"}]


if __name__ == "__main__":
    main()
