"""The tools of the scale proof: those written for it, and as many of a corpus of real ones as there is.

The corpus is a file of JSON lines, each with a list `tools` in OpenAI's shape, such as the Berkeley Function Calling Leaderboard
converts to. `TOOLWIRE_TOOL_CORPUS` names it; without one the tools written here are all there are.
"""

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent / "schemas"
CORPUS = "TOOLWIRE_TOOL_CORPUS"


@dataclass(frozen=True, slots=True)
class Sample:
    """A tool. `source`: the file it is written in, or `corpus`."""

    name: str
    schema: dict[str, Any]
    source: str
    description: str = ""


def written() -> list[Sample]:
    """The tools of the folder `schemas`: one file per feature, each an object of names and schemas."""
    return [
        Sample(name, schema, file.stem, f"Does what {name.replace('_', ' ')} says.")
        for file in sorted(SCHEMAS.glob("*.json"))
        for name, schema in json.loads(file.read_text("utf-8")).items()
    ]


def corpus() -> list[Sample]:
    """The tools of the corpus whose schemas differ, each with a name of its own; none when no corpus is named."""
    path = os.environ.get(CORPUS)
    return list(_different(Path(path))) if path else []


def _different(path: Path) -> Iterator[Sample]:
    names: set[str] = set()
    schemas: set[str] = set()
    for line in path.read_text("utf-8").splitlines():
        for tool in json.loads(line)["tools"]:
            function = tool["function"]
            schema = json.dumps(function["parameters"], sort_keys=True)
            if function["name"] in names or schema in schemas:
                continue
            names.add(function["name"])
            schemas.add(schema)
            yield Sample(function["name"], function["parameters"], "corpus", function.get("description", "")[:300])


def chosen(number: int, *, seed: int = 0) -> list[Sample]:
    """All written tools and as many of the corpus as make that number, mixed; the same ones for the same seed."""
    own, real = written(), corpus()
    dice = random.Random(seed)
    dice.shuffle(real)
    samples = own + real[: max(0, number - len(own))]
    dice.shuffle(samples)
    return samples
