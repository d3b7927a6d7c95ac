"""What is refused where the answer is the rest of the client's own text."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.chat.request import ChatRequest, ResponseFormat
from gateway.errors import RequestError
from gateway.pipeline.again import second_request
from gateway.planning.planner import plan
from parsers import Message
from tests.support.planned import asked, scripted


def begun(text: str = "It is", **fields: Any) -> ChatRequest:
    request = asked(**fields)
    return replace(request, messages=(*request.messages, {"role": "assistant", "content": text}), continues=True)


def test_the_turn_so_far_is_in_the_prompt(tmp_path: Path) -> None:
    found = plan(begun(), scripted(tmp_path, "x"))
    assert found.prompt.text.endswith("assistant\nIt is")
    assert found.prompt.opening == "It is"


@pytest.mark.parametrize("wanted", [ResponseFormat("json_object"), ResponseFormat("json_schema", {}, place="text.format")])
def test_half_an_answer_cannot_be_held_to_a_format(tmp_path: Path, wanted: ResponseFormat) -> None:
    with pytest.raises(RequestError, match=f"'{wanted.place}' cannot be held") as refused:
        plan(begun(response_format=wanted), scripted(tmp_path, "x"))
    assert (refused.value.status, refused.value.param) == (400, wanted.place)


def test_a_second_attempt_says_the_whole_turn_and_continues_nothing() -> None:
    problem = RequestError("no")
    again = second_request(begun(), Message(content=" so."), problem)  # type: ignore[arg-type]
    assert [message["content"] for message in again.messages[:2]] == ["hello", "It is so."]
    assert not again.continues
