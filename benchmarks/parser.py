"""What parsing one delta costs, for each format, as the arguments of a call grow.

    python benchmarks/parser.py [--format NAME ...] [--sizes 1000 10000 100000] [--runs 5]

A turn with one call, whose largest argument is a text of the given size, is fed in pieces of about one token. The figures are
processor time of the parsing thread, the best of several runs. `growth` is the cost of a delta at the largest size over that at
the smallest: 1.0 is linear; ten or a hundred would mean that each delta reads the whole text again.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence

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


def seconds(fmt: parsers.Format, deltas: Sequence[str]) -> float:
    """Processor time of parsing these deltas once; the call must come out whole."""
    parser = parsers.Parser(fmt, tools=[TOOL])
    events: list[parsers.Event] = []
    began = time.thread_time()
    for delta in deltas:
        events += parser.feed(delta)
    events += parser.finish("stop")
    spent = time.thread_time() - began
    message = parsers.fold(events)
    if [call.complete for call in message.tool_calls] != [True]:
        raise SystemExit(f"{fmt.name}: expected one complete call, got {message.tool_calls!r:.200}")
    return spent


def cost(fmt: parsers.Format, size: int, runs: int) -> float:
    """Microseconds a delta, the best of `runs`."""
    deltas = pieces(turn(fmt, size))
    return min(seconds(fmt, deltas) for _ in range(runs)) / len(deltas) * 1e6


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--format", nargs="+", default=parsers.names(), metavar="NAME")
    arguments.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000], metavar="N")
    arguments.add_argument("--runs", type=int, default=5)
    options = arguments.parse_args()
    sizes = sorted(options.sizes)
    print("microseconds a delta, arguments of N characters")
    print(f"{'format':<20}" + "".join(f"{size:>10,}" for size in sizes) + f"{'growth':>9}")
    for name in options.format:
        fmt = parsers.get(name)
        costs = [cost(fmt, size, options.runs) for size in sizes]
        print(f"{fmt.name:<20}" + "".join(f"{each:>10.2f}" for each in costs) + f"{costs[-1] / costs[0]:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
