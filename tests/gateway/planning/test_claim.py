"""What a request may take is reckoned from what it says, and bounded by what its model can give."""

from pathlib import Path
from typing import Any

import pytest

from gateway.chat.plan import Prompt
from gateway.chat.request import ChatRequest, Sampling
from gateway.planning.claim import Claim, of_body, of_plan
from gateway.planning.planner import plan_of_prompt
from gateway.settings import SamplingDefaults
from tests.support.planned import scripted

IDS = Prompt("", tuple(range(100)), "")


@pytest.mark.parametrize(
    ("sampling", "entry", "tokens"),
    [
        (Sampling(max_tokens=50), {}, 150),
        (Sampling(max_tokens=50, n=3), {}, 250),
        (Sampling(max_tokens=0), {}, 100),
        (Sampling(), {}, 100 + 1000),
        (Sampling(), {"context": 400}, 400),
        (Sampling(max_tokens=5000), {"context": 400}, 400),
        (Sampling(max_tokens=5000), {"max_tokens": 60}, 160),
        (Sampling(), {"sampling": SamplingDefaults(max_tokens=70)}, 170),
        (Sampling(max_tokens=50), {"sampling": SamplingDefaults(max_tokens=70)}, 150),
    ],
)
def test_of_a_plan(tmp_path: Path, sampling: Sampling, entry: dict[str, Any], tokens: int) -> None:
    spec = scripted(tmp_path, "hi", **entry)
    plan = plan_of_prompt(ChatRequest("m", messages=(), sampling=sampling), spec, IDS)
    assert of_plan(plan, spec).tokens(1000) == tokens


def test_a_text_of_which_nobody_here_knows_the_tokens(tmp_path: Path) -> None:
    spec = scripted(tmp_path, "hi")
    plan = plan_of_prompt(ChatRequest("m", messages=(), sampling=Sampling(max_tokens=1)), spec, Prompt("zwölf Ä", None, ""))
    assert of_plan(plan, spec).tokens(1000) == 3 + 1


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"prompt": "abcdef"}, 2 + 16),
        ({"prompt": "abcdef", "max_tokens": 5}, 2 + 5),
        ({"prompt": "abcdef", "max_tokens": None, "input": "x"}, 2 + 16),
        ({"prompt": ["abcdef", "abc"], "max_tokens": 5, "n": 2}, 3 + 20),
        ({"prompt": [1, 2, 3, 4], "max_tokens": 5, "best_of": 3}, 4 + 15),
        ({"prompt": [[1, 2], [3]], "max_tokens": 500}, 3 + 2 * 64),
        ({"prompt": []}, 16),
        ({"prompt": 7}, 16),
        ({"input": "abcdef"}, 2),
        ({"input": [[1, 2], [3]]}, 3),
        ({"input": ["abc", "abcd"]}, 3),
        ({}, 0),
    ],
)
def test_of_a_body_that_goes_on_as_it_came(tmp_path: Path, body: dict[str, Any], tokens: int) -> None:
    assert of_body(body, scripted(tmp_path, "hi", max_tokens=64)).tokens(1000) == tokens


def test_an_answer_without_a_length_is_assumed() -> None:
    assert [Claim(10).tokens(7), Claim(10, said=3).tokens(7), Claim(10, most=5).tokens(7)] == [17, 13, 15]
