"""The vLLM at the end of a run: it still serves structural tags, and its log tells of no fault."""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.scale.noise import NAME

TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<", "content": {"type": "regex", "pattern": "[a-c]{5}"}, "end": ">"},
}
"""A tag that only xgrammar reads: behind a switch to another grammar engine it is an internal error."""
FAULTS = re.compile(r'\bERROR\b|Traceback|EngineDeadError|HTTP/1\.\d" 5\d\d')
MOST_TOLD = 20


def faults(url: str, log: Path) -> list[str]:
    """What is wrong with the engine by now; to be asked when all requests have ended."""
    return [*_of_tag(url), *_of_log(log)]


def _of_tag(url: str) -> Iterator[str]:
    body = {"model": NAME, "prompt": "x", "max_tokens": 50, "structured_outputs": {"structural_tag": json.dumps(TAG)}}
    request = urllib.request.Request(
        f"{url}/v1/completions", json.dumps(body).encode(), headers={"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            text = json.load(response)["choices"][0]["text"]
    except OSError as error:
        yield f"the engine no longer serves structural tags: {error}"
        return
    if not re.fullmatch("<[a-c]{5}>", text):
        yield f"the engine no longer keeps structural tags: it wrote {text!r}"


def _of_log(log: Path) -> Iterator[str]:
    lines = [line for line in log.read_text("utf-8", errors="replace").splitlines() if FAULTS.search(line)]
    yield from lines[:MOST_TOLD]
    if len(lines) > MOST_TOLD:
        yield f"... and {len(lines) - MOST_TOLD} more lines of this kind in {log}"
