"""The proof at scale that demands are kept: many requests over many schemas, each answer judged without the gateway's code.

python -m tests.e2e.scale vllm --requests 1000 --fuzz 100
python -m tests.e2e.scale embedded --requests 1000 --fuzz 100

Tools written for it are in `schemas`; TOOLWIRE_TOOL_CORPUS may name a file of more. Ends with 1 when any request was delivered
something wrong, hung, let the engine fail, or was refused behind decoding for what the grammar was to hold.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.scale import any_tool, engine, on_embedded, on_vllm, tools
from tests.e2e.scale.asks import Ask, asks
from tests.e2e.scale.report import Report
from tests.e2e.scale.sending import Target, send_all
from tests.e2e.scale.vocabulary import FAMILIES


def main() -> None:
    options = _options()
    logs = Path(tempfile.mkdtemp(prefix="toolwire-scale-"))
    families = options.families or FAMILIES
    samples = tools.chosen(options.schemas, seed=options.seed)
    parts = {
        "real and written schemas": list(asks(options.requests, families, samples, seed=options.seed)),
        "any schema": list(asks(options.fuzz, families, any_tool.drawn(options.fuzz, seed=options.seed), most_offered=1)),
    }
    print(f"{options.engine}: {len(families)} families; logs in {logs}", flush=True)
    told: list[str] = []
    with _serving(options.engine, families, logs, told) as target:
        for name, chosen in parts.items():
            told += _run(name, target, chosen, logs)
    print("\n".join(told) or "Nothing to complain of.")
    sys.exit(bool(told))


@contextmanager
def _serving(kind: str, families: Sequence[str], logs: Path, told: list[str]) -> Iterator[Target]:
    if kind == "embedded":
        with on_embedded.target(families, logs) as target:
            yield target
        return
    with on_vllm.engine(logs) as (url, log):
        with on_vllm.target(url, families, logs) as target:
            yield target
        found = engine.faults(url, log)
    told += [f"engine: {fault}" for fault in found]
    print("The engine serves structural tags as before, and its log tells of no fault." * (not found))


def _run(name: str, target: Target, chosen: Sequence[Ask], logs: Path) -> list[str]:
    """Send them all; what must not have been."""
    if not chosen:
        return []
    used = {sample.name for ask in chosen for sample in ask.tools}
    print(f"\n{name}: {len(chosen)} requests, {len(used)} schemas", flush=True)
    report = Report(len(chosen), sys.stdout)
    try:
        asyncio.run(_fill(report, target, chosen))
    finally:  # also of a run that is given up
        report.write(logs / f"answers-{name.split(maxsplit=1)[0]}.jsonl")
        print(f"{report.table()}\n", flush=True)
    return report.broken


async def _fill(report: Report, target: Target, chosen: Sequence[Ask]) -> None:
    async for ask, answer, outcome in send_all(target, chosen):
        report.add(ask, answer, outcome)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=["vllm", "embedded"])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--schemas", type=int, default=300, help="how many tools to choose from, the written ones included")
    parser.add_argument("--fuzz", type=int, default=0, help="how many more requests, each with any schema")
    parser.add_argument("--families", type=lambda text: tuple(text.split(",")), default=(), help="separated by commas")
    parser.add_argument("--seed", type=int, default=0, help="another one: other tools of the corpus, other noise")
    return parser.parse_args()


if __name__ == "__main__":
    main()
