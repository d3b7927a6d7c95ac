"""What a mask allows, the engine takes: random walks through constraints of every family, over a real vocabulary.

An engine samples from the mask, and ends the request with an error where its matcher then refuses the token. So they must agree,
and whatever walk comes to an end is a turn of valid calls.
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import parsers
from gateway.planning import unheld
from gateway.planning.built import Wanted, built
from gateway.planning.names import unwritable
from parsers import Tool
from parsers.grammars.tree import thinking_of
from tests.e2e.scale import noise
from tests.e2e.scale.asks import Ask, asks
from tests.e2e.scale.outcomes import Answer, Outcome, judged
from tests.e2e.scale.tools import written
from tests.e2e.scale.vocabulary import FAMILIES, Bias
from tests.e2e.vllm import install

WALKS = 150
"""Enough for every tool that is written for the suite."""
MOST_OFFERED = 2
MOST_ENDLESS = 0.2
"""Share of walks that may go on and on: chance alone ends recursion, lists of calls, and values whose ends are several tokens."""
SCRIPT = Path(__file__).with_name("mask_walks.py")


@dataclass(frozen=True, slots=True)
class Walk:
    """What came of one, and what was asked for."""

    ask: Ask
    text: str
    ended: bool
    faults: Sequence[str]

    def told(self, what: str) -> str:
        return f"{self.ask.family}, {self.ask.kind} of {', '.join(sample.name for sample in self.ask.callable)}: {what}"

    def outcome(self) -> Outcome:
        """What a client would be told of this turn, judged."""
        opening = _opening(self.ask.family)
        parser = parsers.Parser(parsers.get(self.ask.family), tools=_tools(self.ask), opening=opening)
        message = parsers.fold(parser.feed(self.text) + parser.finish("stop"))
        calls = [call for call in message.tool_calls if call.complete]
        finish = "tool_calls" if calls and self.ask.kind != "named" else "stop"
        names, arguments = [call.name for call in calls], [call.arguments for call in calls]
        return judged(self.ask, Answer(names=names, arguments=arguments, content=message.content or "", finish=finish))


@pytest.fixture(scope="module")
def walks() -> list[Walk]:
    chosen = list(islice(filter(_is_held, asks(2 * WALKS, parsers.names(), written(), most_offered=MOST_OFFERED)), WALKS))
    model = noise.folder()
    bias = Bias.of(model)
    size = json.loads((model / "config.json").read_text("utf-8"))["vocab_size"]
    jobs = "".join(json.dumps(_job(ask, bias)) + "\n" for ask in chosen)
    command = (str(install.engine_python()), str(SCRIPT), str(model), str(size))
    done = subprocess.run(command, input=jobs, env=install.clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [Walk(ask, **json.loads(line)) for ask, line in zip(chosen, done.stdout.splitlines(), strict=True)]


def _is_held(ask: Ask) -> bool:
    """Whether constraints can hold these schemas, and hold them wholly."""
    fmt = parsers.get(ask.family)
    return not any(unwritable(tool, fmt) or unheld.places(tool.parameters, "structural_tag", fmt) for tool in _tools(ask))


def _opening(family: str) -> str:
    """Reasoning that is over, where its end is no token of this vocabulary: nothing but chance would end it."""
    thinking = thinking_of(parsers.get(family).turn)
    if thinking is None or family in FAMILIES:
        return ""
    return f"{thinking.openers[0]}\n\n{thinking.closers[0]}{thinking.after}"


def _tools(ask: Ask) -> list[Tool]:
    return [Tool(sample.name, sample.description, sample.schema, strict=True) for sample in ask.callable]


def _job(ask: Ask, bias: Bias) -> dict[str, Any]:
    fmt, choice = parsers.get(ask.family), "required" if ask.forced else "auto"
    wanted = Wanted(fmt, choice, not ask.one_call, "structural_tag", _opening(ask.family))
    constraint, problem = built(wanted, _tools(ask))
    assert constraint is not None, problem
    known = ask.family in FAMILIES and not ask.forced
    pulls = bias.to_call(ask.family, and_stop=True) if known else bias.to_end(ask.family)
    return {"tag": json.dumps(constraint.value), "bias": pulls, "stop": bias.ids[bias.end_of_turn], "seed": ask.number}


def test_mask_and_matcher_agree(walks: list[Walk]) -> None:
    faults = [walk.told(fault) for walk in walks for fault in walk.faults]
    assert not faults, "\n".join(faults)


def test_walks_come_to_an_end(walks: list[Walk]) -> None:
    endless = [walk.told(walk.text[-300:]) for walk in walks if not walk.ended and not walk.faults]
    assert len(endless) <= MOST_ENDLESS * WALKS, "\n".join(endless)


def test_walks_are_turns_of_valid_calls(walks: list[Walk]) -> None:
    outcomes = [(walk, walk.outcome()) for walk in walks if walk.ended]
    wrong = [walk.told(f"{found.reason}\n{walk.text}") for walk, found in outcomes if found.verdict not in ("valid", "silent")]
    assert not wrong, "\n".join(wrong)
    assert any(found.verdict == "valid" and not walk.ask.forced for walk, found in outcomes)
