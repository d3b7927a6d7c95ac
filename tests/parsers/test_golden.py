"""Golden turns: a text, and what it says, however it is cut.

`tests/golden/<family>/<case>.txt` is the turn as the model wrote it; the `.json` beside it holds the tools, what the prompt wrote
of the turn (`opening`), why the engine stopped (`finish`), and what is to be read.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import parsers
from tests.support import order
from tests.support.turns import read

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = sorted(GOLDEN.glob("*/*.txt"))


def said(events: list[parsers.Event]) -> dict[str, Any]:
    message, finish = parsers.fold(events), events[-1]
    assert isinstance(finish, parsers.Finish)
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "tool_calls": [
            {"name": call.name, "arguments": call.arguments, "id": call.id, "complete": call.complete}
            for call in message.tool_calls
        ],
        "notices": [notice.kind for notice in message.notices],
        "finish": finish.reason,
    }


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_turn_says_the_same_at_every_cut(path: Path) -> None:
    fmt = parsers.get(path.parent.name)
    text = path.read_bytes().decode()
    case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    told = {"tools": case["tools"], "opening": case["opening"], "finish": case["finish"]}

    events = read(fmt, [text], **told)
    order.check(events)
    assert said(events) == case["expect"]

    whole = parsers.normal(events)
    assert parsers.normal(read(fmt, list(text), **told)) == whole
    for at in range(1, len(text)):
        assert parsers.normal(read(fmt, [text[:at], text[at:]], **told)) == whole, f"cut at {at}"


def test_every_turn_has_its_expectation_and_its_family() -> None:
    assert {path.stem for path in GOLDEN.glob("*/*.json")} == {path.stem for path in CASES}
    assert {path.parent.name for path in CASES} <= set(parsers.names())
