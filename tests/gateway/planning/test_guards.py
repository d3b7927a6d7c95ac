"""Guards for agents: what they do to a conversation, and that they do nothing where the model's entry does not say so."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.chat.request import ChatRequest, ToolChoice
from gateway.planning.guards import guarded
from gateway.planning.planner import plan, prompt_of
from gateway.settings import GuardSettings
from parsers import Tool, ToolCallStart
from tests.support.planned import TIME, WEATHER, hermes_call, scripted
from tests.support.walk import walk

Json = dict[str, Any]
TOOLS = (WEATHER, TIME)
HI: Json = {"role": "user", "content": "hi"}


def a_round(number: int = 0, arguments: Any = '{"city": "Oslo"}', result: Any = "rain", name: str = "get_weather") -> list[Json]:
    call = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
    ]


def conversation(*messages: Any, **fields: Any) -> ChatRequest:
    flat = [message for each in messages for message in (each if isinstance(each, list) else [each])]
    return ChatRequest("scripted", tuple(flat), tools=fields.pop("tools", TOOLS), **fields)


def act(folder: Path, request: ChatRequest, **bounds: Any) -> tuple[ChatRequest, tuple[str, ...]]:
    """The guarded request, and which guards acted."""
    found = guarded(request, scripted(folder, "x", guards=GuardSettings(**bounds)))
    assert len(found.request.warnings) == len(found.acted)
    return found.request, found.acted


# ---- rounds


def test_after_the_last_round_tools_are_withheld_and_the_model_is_told_to_answer(tmp_path: Path) -> None:
    request = conversation(HI, a_round(0), HI, a_round(1), a_round(2))
    found, acted = act(tmp_path, request, tool_rounds=3)
    assert acted == ("tool_rounds",)
    assert found.tools == ()
    assert found.tool_choice == ToolChoice("none")
    assert found.messages[-1]["content"].startswith("rain\n\n[Tools were called in 3 turns")
    assert found.messages[:-1] == request.messages[:-1]
    assert "3 turns with calls in this conversation" in found.warnings[0]
    assert act(tmp_path, request, tool_rounds=4) == (request, ())


def test_rounds_may_be_counted_from_the_users_last_message_on(tmp_path: Path) -> None:
    request = conversation(HI, a_round(0), HI, a_round(1), a_round(2))
    assert act(tmp_path, request, tool_rounds_per_question=3) == (request, ())
    found, acted = act(tmp_path, request, tool_rounds_per_question=2)
    assert (found.tools, acted) == ((), ("tool_rounds",))
    assert act(tmp_path, conversation(*request.messages, HI), tool_rounds_per_question=2)[1] == ()


def test_a_call_that_was_required_is_not_once_tools_are_withheld(tmp_path: Path) -> None:
    request = conversation(HI, a_round(), tool_choice=ToolChoice("required"))
    found = plan(request, scripted(tmp_path, "x", guards=GuardSettings(tool_rounds=1)))
    assert found.guards == ("tool_rounds",)
    assert found.tools == ()
    assert found.constraint is None
    assert "get_time" not in found.prompt.text
    assert "Answer now" in found.prompt.text
    assert any("withheld" in warning for warning in found.warnings)


def test_a_message_that_is_continued_gets_no_note(tmp_path: Path) -> None:
    request = conversation(HI, a_round(), {"role": "assistant", "content": "It is"}, continues=True)
    found, acted = act(tmp_path, request, tool_rounds=1)
    assert (found.messages, acted) == (request.messages, ("tool_rounds",))


# ---- repeats


@pytest.mark.parametrize("again", ['{"city": "Oslo"}', '{ "city":"Oslo" }', {"city": "Oslo"}])
def test_the_same_call_again_and_again_is_told(tmp_path: Path, again: Any) -> None:
    found, acted = act(tmp_path, conversation(HI, a_round(0), a_round(1), a_round(2, again)), repeated_calls=3)
    assert acted == ("repeated_calls",)
    assert "[get_weather was called 3 times with the same arguments." in found.messages[-1]["content"]
    assert "get_weather (3 times)" in found.warnings[0]
    assert found.tools == TOOLS


@pytest.mark.parametrize(
    "messages",
    [
        [HI, a_round(0), a_round(1, '{"city": "Rome"}'), a_round(2)],
        [HI, a_round(0), HI, a_round(1), a_round(2)],
        [HI, a_round(0), a_round(1), a_round(2), a_round(3, "{}", name="get_time")],
        [HI],
    ],
)
def test_other_calls_and_those_before_the_question_are_no_repetition(tmp_path: Path, messages: list[Any]) -> None:
    assert act(tmp_path, conversation(*messages), repeated_calls=3)[1] == ()


# ---- results


@pytest.mark.parametrize("length", [201, 250, 1000, 100_000])
def test_a_long_result_loses_its_middle_and_says_how_much(tmp_path: Path, length: int) -> None:
    text = "".join(f"line {number}\n" for number in range(length))[:length]
    request = conversation(HI, a_round(0, result=text), a_round(1, result="short"))
    found, acted = act(tmp_path, request, result_characters=200)
    assert acted == ("result_characters",)
    cut = found.messages[2]["content"]
    head, rest = cut.split("\n[... ")
    notice, tail = rest.split(" ...]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert notice == f"{length - len(head) - len(tail)} of this result's {length} characters were left out here"
    assert len(cut) <= 200
    assert act(tmp_path, replace(found, warnings=()), result_characters=200)[1] == (), "what was cut is not cut again"
    assert f"(of {length} characters)" in found.warnings[0]
    assert found.messages[4] == request.messages[4]


def test_parts_of_a_result_are_cut_as_one_text_and_images_stay(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    parts = [{"type": "text", "text": "a" * 300}, image, {"type": "text", "text": "b" * 300}]
    found, _ = act(tmp_path, conversation(HI, a_round(result=parts)), result_characters=300)
    text, kept = found.messages[-1]["content"]
    assert kept == image
    assert text["text"].startswith("aaa")
    assert text["text"].endswith("bbb")
    assert len(text["text"]) <= 300


# ---- definitions


def tool(name: str, description: str = "", size: int = 400) -> Tool:
    filler = {"type": "object", "properties": {"x": {"type": "string", "pattern": "y" * size}}}
    return Tool(name, description, filler)


MANY = (
    *(tool(f"tool_{number}", f"Does thing number {number}.") for number in range(20)),
    tool("send_invoice", "Sends a bill to a customer."),
    tool("cancel_flight", "Cancels a booked journey by plane."),
)


def test_definitions_over_the_budget_are_reported(tmp_path: Path) -> None:
    request = conversation(HI, tools=MANY)
    found, acted = act(tmp_path, request, tool_tokens=1000)
    assert acted == ("tool_tokens",)
    assert found.tools == MANY
    assert "22 tools" in found.warnings[0]
    assert "more than 1000" in found.warnings[0]
    assert act(tmp_path, request, tool_tokens=100_000)[1] == ()
    assert act(tmp_path, request, tool_search=True) == (request, ()), "there is no budget"


def test_a_search_shows_what_fits_what_was_called_and_what_is_named(tmp_path: Path) -> None:
    question = {"role": "user", "content": [{"type": "text", "text": "Please cancel my flight and send the invoices."}]}
    request = conversation(question, a_round(name="tool_7"), tools=MANY, pinned=("tool_3",))
    request = replace(request, tool_places=tuple(f"place {number}" for number in range(len(MANY))))
    found, acted = act(tmp_path, request, tool_tokens=600, tool_search=True)
    assert acted == ("tool_search",)
    assert [each.name for each in found.tools] == ["tool_3", "tool_7", "send_invoice", "cancel_flight"]
    assert found.tool_places == ("place 3", "place 7", "place 20", "place 21")
    assert "4 of them" in found.warnings[0]


def test_one_tool_is_shown_however_long_it_is(tmp_path: Path) -> None:
    found, _ = act(tmp_path, conversation(HI, tools=(tool("a"), tool("b"))), tool_tokens=16, tool_search=True)
    assert [each.name for each in found.tools] == ["a"]


def test_tokens_are_counted_by_the_models_tokenizer_where_there_is_one(tmp_path: Path) -> None:
    spec = scripted(tmp_path, "x", guards=GuardSettings(tool_tokens=100))

    class Counting:
        def count(self, text: str) -> int:
            return 51 if json.loads(text)["name"] == "a" else 50

    found = guarded(conversation(HI, tools=(tool("a"), tool("b"))), replace(spec, renderer=Counting()))  # type: ignore[arg-type]
    assert "have 101 tokens" in found.request.warnings[0]


# ---- all of them


def test_a_turn_that_is_asked_again_is_no_further_round(tmp_path: Path) -> None:
    turns = [
        {"match": "Nothing was carried out", "role": "tool", "text": hermes_call()},
        {"match": None, "role": "user", "text": hermes_call(arguments={})},
    ]
    model = walk(tmp_path, turns, strict="retry", guards=GuardSettings(tool_rounds=1))
    events = model.events(conversation(HI, tool_choice=ToolChoice("required")))
    assert [event.name for event in events if isinstance(event, ToolCallStart)] == ["get_weather"]
    assert model.counted("guards_total", model="scripted", guard="tool_rounds") == 0


def test_a_prompt_is_measured_as_it_is_sent(tmp_path: Path) -> None:
    spec = scripted(tmp_path, "x", guards=GuardSettings(result_characters=200, tool_rounds=1))
    request = conversation(HI, a_round(result="z" * 5000))
    assert prompt_of(request, spec).text == plan(request, spec).prompt.text


def test_without_bounds_nothing_is_touched(tmp_path: Path) -> None:
    request = conversation(HI, *[a_round(number, result="z" * 10_000) for number in range(50)], tools=MANY)
    assert act(tmp_path, request) == (request, ())
