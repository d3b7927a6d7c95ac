"""What the gateway adds between clients and an engine, beside nginx and nothing, in one run.

    python -m benchmarks.gateway [--tokenizer FOLDER] [--scenario NAME ...] [--seconds 6] [--minutes 0]

The engine streams a Hermes turn: a sentence and a call, token by token. The gateway renders the chat template, sends token ids
where it has a tokenizer, parses the call and writes OpenAI's chunks; nginx passes the bytes on; direct is the engine itself.
Each target gets the same scenarios:

    stream64 stream256 stream1000   so many streams of 100 chunks at once, 20 ms (1000: 50 ms) between two chunks
    long256                         256 streams of 500 chunks, 20 ms between two: what is left where requests are rare
    first64                         64 short streams at once: how much later the first token comes
    plain64                         64 clients without streaming: what a request costs
    cancel                          8 clients hang up, streaming and not: how many generations the engine stops within a second
    steady                          64 streams for --minutes: what the process's memory does

CPU is the target's own processor time, user and system, over the chunks or requests that the engine counted meanwhile. Ratios
are those of one run; on a busy machine the absolute figures are too high for all targets alike. Linux only (/proc).
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.traffic.load import Load
from benchmarks.traffic.targets import PATIENCE, RAW, Engine, Target, free_port, gateway, nginx, process


@dataclass(frozen=True)
class Scenario:
    """Clients at once, and the engine's pace in seconds."""

    clients: int
    first: float = 0.05
    between: float = 0.02
    chunks: int = 100
    stream: bool = True


SCENARIOS = {
    "stream64": Scenario(64),
    "stream256": Scenario(256),
    "stream1000": Scenario(1000, between=0.05),
    "long256": Scenario(256, chunks=500),
    "first64": Scenario(64, first=0.005, chunks=45),
    "plain64": Scenario(64, first=0.0, between=0.0, chunks=45, stream=False),
}
SPECIAL = ("cancel", "steady")
HEAD = """\
| scenario | target | requests/s | chunks/s | first token ms p50 / p99 | added | us/chunk | x nginx | us/request | MB | errors |
|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        home = Path(folder)
        engine = Engine(free_port())
        running.enter_context(process([sys.executable, "-m", "benchmarks.traffic.engine", str(engine.port)], engine.port))
        targets = [Target("direct", engine.port, "/v1/completions", RAW)]
        if shutil.which("nginx"):
            targets.append(running.enter_context(nginx(home, engine)))
        else:
            print("nginx is not installed, so it is not compared with")
        targets.append(running.enter_context(gateway(home, engine, options.tokenizer)))
        _print(options, engine, targets)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", help="folder of the tokenizer; without one prompts go out as text")
    parser.add_argument("--scenario", nargs="+", choices=[*SCENARIOS, *SPECIAL], default=[*SCENARIOS, "cancel"])
    parser.add_argument("--seconds", type=float, default=6.0, help="that each scenario is measured for")
    parser.add_argument("--minutes", type=float, default=1.0, help="that `steady` takes")
    return parser.parse_args()


def _print(options: argparse.Namespace, engine: Engine, targets: list[Target]) -> None:
    print(HEAD)
    for name in options.scenario:
        if name in SCENARIOS:
            _print_rows(name, [_measured(target, engine, SCENARIOS[name], options.seconds) for target in targets])
    if "cancel" in options.scenario:
        for target in targets:
            for stream in (True, False):
                print(
                    f"cancel {target.name} {'streaming' if stream else 'whole'}: {_cancelled(target, engine, stream=stream)} of 8"
                )
    if "steady" in options.scenario:
        _steady(targets[-1], engine, options.minutes * 60)


@dataclass(frozen=True)
class Measured:
    """One scenario on one target."""

    target: str
    requests: float
    chunks: float
    first: list[float]
    cpu_chunk: float
    cpu_request: float
    memory: float
    errors: dict[str, int]

    def at(self, part: float) -> float:
        """The quantile of the first token's times, ms."""
        return sorted(self.first)[int(part * (len(self.first) - 1))] if self.first else 0.0


def _measured(target: Target, engine: Engine, scenario: Scenario, seconds: float) -> Measured:
    engine.ask("/pace", {"first": scenario.first, "between": scenario.between, "chunks": scenario.chunks})
    load = _load(target, scenario, seconds)
    process = _start(load)
    time.sleep(load.warm)
    before, cpu, began = engine.ask("/counts"), target.cpu(), time.monotonic()
    time.sleep(seconds)
    after, spent, took = engine.ask("/counts"), target.cpu() - cpu, time.monotonic() - began
    memory = target.memory()
    seen = json.loads(process.communicate(timeout=PATIENCE)[0])
    chunks, requests = (max(1, after[key] - before[key]) for key in ("chunks", "asked"))
    rates = (requests / took, chunks / took)
    return Measured(target.name, *rates, seen["first"], spent / chunks * 1e6, spent / requests * 1e6, memory, seen["errors"])


def _print_rows(scenario: str, rows: list[Measured]) -> None:
    direct = rows[0].at(0.5)
    proxy = next((row.cpu_chunk for row in rows if row.target == "nginx"), 0.0)
    for row in rows:
        ratio = f"{row.cpu_chunk / proxy:.1f}" if proxy else "-"
        print(
            f"| {scenario} | {row.target} | {row.requests:.0f} | {row.chunks:.0f} | {row.at(0.5):.1f} / {row.at(0.99):.1f} "
            f"| {row.at(0.5) - direct:.1f} | {row.cpu_chunk:.1f} | {ratio} | {row.cpu_request:.0f} | {row.memory:.0f} "
            f"| {row.errors or 0} |",
            flush=True,
        )


def _load(target: Target, scenario: Scenario, seconds: float, *, leave_after: float = 0.0) -> Load:
    body = {**target.body, "max_tokens": 1000, "stream": scenario.stream}
    warm = max(1.0, scenario.clients / 200)
    return Load(target.port, target.path, body, scenario.clients, seconds, warm, leave_after)


def _start(load: Load) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.traffic.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(load)))
    process.stdin.close()
    process.stdin = None
    return process


def _cancelled(target: Target, engine: Engine, *, stream: bool) -> int:
    """How many of eight generations ended at the engine within a second of their clients' leaving."""
    engine.ask("/pace", {"first": 0.05, "between": 0.05, "chunks": 200})
    before = engine.ask("/counts")["aborted"]
    process = _start(_load(target, Scenario(8, stream=stream), 0.1, leave_after=1.0))
    process.communicate(timeout=PATIENCE)
    time.sleep(1)
    return engine.ask("/counts")["aborted"] - before


def _steady(target: Target, engine: Engine, seconds: float) -> None:
    scenario = SCENARIOS["stream64"]
    engine.ask("/pace", {"first": scenario.first, "between": scenario.between, "chunks": scenario.chunks})
    process = _start(_load(target, scenario, seconds))
    sizes: list[float] = []
    while process.poll() is None and (len(sizes) + 1) * 5 <= seconds:
        time.sleep(5)
        sizes.append(target.memory())
        print(f"\rsteady: {len(sizes) * 5} s, {sizes[-1]:.0f} MB", end="", flush=True)
    process.communicate(timeout=PATIENCE)  # what the clients saw fills its pipe, which must be read for it to end
    third = max(1, len(sizes) // 3)
    print(f"\nsteady: median of the first third {statistics.median(sizes[:third]):.0f} MB, of the last "
          f"{statistics.median(sizes[-third:]):.0f} MB, greatest {max(sizes):.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
