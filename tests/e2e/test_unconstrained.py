"""An engine without constraints under a forced choice: a turn that ends in its reasoning has made no call, on every wire."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.server import CLIENT, Gateway, replay_model, serving

CALL = '<tool_call>\n{"name": "count", "arguments": {"n": 3}}\n</tool_call>'
BAD = CALL.replace("3", '"three"')
QUOTED = CALL.replace("3", '"3"')
SAID, ANEW = "They want me to count.", "So I count now."
TURNS = [
    {"match": "ended its turn without", "pieces": [f"<think>\n{ANEW}\n</think>\n\n{CALL}"]},
    {"match": "breaks the tool's schema", "role": "tool", "text": CALL},
    {"match": "closed", "text": f"<think>\n{SAID}\n</think>\n\n"},
    {"match": "cut", "text": f"<think>\n{SAID}", "finish": "length"},
    {"match": "drafted", "text": f"<think>\n{SAID} I call {CALL} and that was it."},
    {"match": "inside", "text": f"<think>\n{SAID}\n{CALL}"},
    {"match": "mended", "text": f"<think>\n{SAID}\n</think>\n\n{QUOTED}"},
    {"match": "wrong", "text": f"<think>\n{SAID}\n</think>\n\n{BAD}"},
    {"match": None, "pieces": [f"<think>\n{SAID}"]},
]
SHAPE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
TOLD = "The model ended its turn without the demanded call to 'count'."
PATHS = {"chat": "chat/completions", "responses": "responses", "messages": "messages"}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder: Path = tmp_path_factory.mktemp("turns")
    entries: dict[str, dict[str, Any]] = {"plain": {}, "stubborn": {"strict": "retry"}, "telling": {"strict": "report"}}
    with serving({"models": [replay_model(folder, TURNS, name=name, **entry) for name, entry in entries.items()]}) as running:
        yield running


class Wire:
    """One protocol, whole or streamed, and what its answers say in common."""

    def __init__(self, gateway: Gateway, name: str, streamed: bool) -> None:
        self.gateway = gateway
        self.name = name
        self.streamed = streamed

    def ask(self, text: str, *, model: str = "plain", forced: str = "required") -> httpx.Response:
        """The answer to a question for which there is one function, demanded as one of several or by its name."""
        message = {"role": "user", "content": text}
        described = {"name": "count", "description": "Counts.", "parameters": SHAPE}
        by_name = forced == "named"
        match self.name:
            case "chat":
                choice: Any = {"type": "function", "function": {"name": "count"}} if by_name else "required"
                body = {"messages": [message], "tools": [{"type": "function", "function": described}], "tool_choice": choice}
            case "responses":
                choice = {"type": "function", "name": "count"} if by_name else "required"
                body = {"input": [message], "tools": [{"type": "function", "strict": True, **described}], "tool_choice": choice}
            case _:
                choice = {"type": "tool", "name": "count"} if by_name else {"type": "any"}
                schema = {"name": "count", "description": "Counts.", "input_schema": SHAPE}
                body = {"messages": [message], "tools": [schema], "tool_choice": choice, "max_tokens": 500}
        url = f"{self.gateway.base_url}/{PATHS[self.name]}"
        return CLIENT.post(url, json={"model": model, **body, "stream": self.streamed})

    def failure(self, answer: httpx.Response) -> tuple[str | None, str]:
        """Code and message of the error that an answer is or ends with."""
        if not self.streamed:
            assert answer.status_code == 502
            error = answer.json()["error"]
        else:
            assert answer.status_code == 200
            last = _events(answer)[-1]
            error = last["response"]["error"] if self.name == "responses" else last["error"]
        return error.get("code"), error["message"]

    def ended(self, answer: httpx.Response) -> tuple[list[str], str | None]:
        """The arguments of all calls of an answer, and how it ended."""
        assert answer.status_code == 200, answer.text
        found = _events(answer) if self.streamed else answer.json()
        return getattr(self, f"_{self.name}")(found)

    def _chat(self, found: Any) -> tuple[list[str], str | None]:
        if not self.streamed:
            choice = found["choices"][0]
            return [call["function"]["arguments"] for call in choice["message"].get("tool_calls") or []], choice["finish_reason"]
        choices = [chunk["choices"][0] for chunk in found if chunk.get("choices")]
        made: dict[int, str] = {}
        for call in (call for choice in choices for call in choice["delta"].get("tool_calls") or []):
            made[call["index"]] = made.get(call["index"], "") + (call["function"].get("arguments") or "")
        return list(made.values()), choices[-1]["finish_reason"]

    def _responses(self, found: Any) -> tuple[list[str], str | None]:
        whole = found[-1]["response"] if self.streamed else found
        made = [item["arguments"] for item in whole["output"] if item["type"] == "function_call"]
        return made, (whole["incomplete_details"] or {}).get("reason") or whole["status"]

    def _messages(self, found: Any) -> tuple[list[str], str | None]:
        if not self.streamed:
            made = [json.dumps(block["input"]) for block in found["content"] if block["type"] == "tool_use"]
            return made, found["stop_reason"]
        made_by: dict[int, str] = {
            event["index"]: ""
            for event in found
            if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use"
        }
        for event in found:
            if event["type"] == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
                made_by[event["index"]] += event["delta"]["partial_json"]
        return list(made_by.values()), next(event["delta"]["stop_reason"] for event in found if event["type"] == "message_delta")


def _events(answer: httpx.Response) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


@pytest.fixture(params=[(name, streamed) for name in PATHS for streamed in (False, True)], ids=str)
def wire(request: pytest.FixtureRequest, gateway: Gateway) -> Wire:
    return Wire(gateway, *request.param)


CALLED = {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}
CUT = {"chat": "length", "responses": "max_output_tokens", "messages": "max_tokens"}
FORCED = pytest.mark.parametrize("forced", ["required", "named"])


def called(wire: Wire, forced: str) -> str:
    """How an answer with a demanded call ends."""
    return "stop" if wire.name == "chat" and forced == "named" else CALLED[wire.name]


@FORCED
@pytest.mark.parametrize("text", ["open", "closed"])
def test_a_turn_that_ends_in_its_reasoning_fails_openly(wire: Wire, forced: str, text: str) -> None:
    answer = wire.ask(text, forced=forced)
    code, message = wire.failure(answer)
    assert message == TOLD
    codes = {"chat": "tool_call_invalid", "responses": "server_error" if wire.streamed else "tool_call_invalid"}
    assert code == codes.get(wire.name)
    assert not any(word in answer.text for word in ('"tool_calls"', '"completed"', '"tool_use"', "response.completed"))


@FORCED
def test_it_is_asked_for_again_once(wire: Wire, forced: str) -> None:
    answer = wire.ask("open", model="stubborn", forced=forced)
    assert wire.ended(answer) == (['{"n": 3}'], called(wire, forced))
    assert ANEW in answer.text
    assert SAID not in answer.text, "something of the first attempt was sent, too"


@FORCED
def test_where_failures_are_reported_only_it_ends_as_it_ended(wire: Wire, forced: str) -> None:
    calls, ended = wire.ended(wire.ask("open", model="telling", forced=forced))
    assert calls == []
    assert ended == {"chat": "stop", "responses": "completed", "messages": "end_turn"}[wire.name]


@FORCED
@pytest.mark.parametrize("model", ["plain", "stubborn"])
def test_one_that_is_cut_there_says_so(wire: Wire, forced: str, model: str) -> None:
    assert wire.ended(wire.ask("cut", model=model, forced=forced)) == ([], CUT[wire.name])


@FORCED
def test_a_call_at_the_end_of_open_reasoning_is_one(wire: Wire, forced: str) -> None:
    assert wire.ended(wire.ask("inside", forced=forced)) == (['{"n": 3}'], called(wire, forced))


def test_one_that_reasoning_goes_on_behind_is_none(wire: Wire) -> None:
    assert wire.failure(wire.ask("drafted"))[1] == TOLD


@FORCED
def test_the_chain_from_check_to_failure(wire: Wire, forced: str) -> None:
    """A value with one reading is read; what has none is asked for again where the entry says so, and fails where not."""
    assert wire.ended(wire.ask("mended", forced=forced)) == (['{"n": 3}'], called(wire, forced))
    assert wire.failure(wire.ask("wrong", forced=forced))[1].startswith("The model's call to 'count' breaks the tool's schema: ")
    assert wire.ended(wire.ask("wrong", model="stubborn", forced=forced)) == (['{"n": 3}'], called(wire, forced))


def test_the_client_is_told_that_nothing_is_held_while_decoding(wire: Wire) -> None:
    assert "this engine takes no constraints" in wire.ask("inside").headers["x-toolwire-warnings"]
