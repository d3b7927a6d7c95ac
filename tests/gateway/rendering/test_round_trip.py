"""What a chat template writes for a message is read back by its format's parser."""

import json
from typing import Any

import pytest

import chat_templates
import parsers
from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.round_trip import pick_format
from gateway.rendering.samples import rendered_turn
from parsers import Message, Tool, ToolCall

TEMPLATES = {name: parsers.get(name).name for name in chat_templates.names()}
TOOL = Tool(
    "set_thing",
    "",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "none": {"type": "null"},
            "nested": {"type": "object"},
            "list": {"type": "array"},
        },
    },
)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "empty": {},
    "text": {"text": "plain"},
    "numbers": {"count": -3, "ratio": 2.5},
    "big": {"count": 9007199254740993},
    "words": {"on": True, "none": None},
    "nested": {"nested": {"a": [1, {"b": None}], "c": "x"}, "list": ["é", 2, False]},
    "unicode": {"text": "naïve 東京 🎉"},
    "escapes": {"text": 'a "quoted" \\ back\nline\ttab'},
    "looks typed": {"text": "00123"},
    "looks like json": {"text": '{"a": 1}'},
    "markup": {"text": "<b> & </b> [x] (y)"},
    "edges": {"text": "  two\n\n"},
}


def renderer(name: str) -> Renderer:
    return Renderer(chat_templates.load(name), Vocabulary({"bos_token": "<s>", "eos_token": "</s>"}))


def called(arguments: dict[str, Any], number: int = 1) -> ToolCall:
    return ToolCall("set_thing", json.dumps(arguments, ensure_ascii=False), f"callid00{number}")


def read(name: str, turn: str) -> Message:
    parser = parsers.Parser(parsers.get(TEMPLATES[name]), tools=[TOOL])
    message = parsers.fold([*parser.feed(turn), *parser.finish("stop")])
    assert message.notices == ()  # nothing had to be repaired
    return message


def plain(message: Message) -> tuple[str | None, str | None, list[tuple[str, Any]]]:
    return message.content, message.reasoning, [(call.name, json.loads(call.arguments)) for call in message.tool_calls]


def test_formats_name_templates_that_exist() -> None:
    named = {parsers.get(name).template for name in parsers.names()} - {None}
    assert named <= {f"{name}.jinja" for name in chat_templates.names()}
    assert len(named) >= 8


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("case", ARGUMENTS)
def test_a_call_comes_back(name: str, case: str) -> None:
    message = Message(tool_calls=(called(ARGUMENTS[case]),))
    assert plain(read(name, rendered_turn(renderer(name), message))) == plain(message)


@pytest.mark.parametrize("name", TEMPLATES)
def test_two_calls_come_back(name: str) -> None:
    message = Message(tool_calls=(called(ARGUMENTS["nested"]), called(ARGUMENTS["escapes"], 2)))
    assert plain(read(name, rendered_turn(renderer(name), message))) == plain(message)


@pytest.mark.parametrize("name", TEMPLATES)
def test_text_comes_back(name: str) -> None:
    message = Message(content="It is so.\n\nYes: 1 < 2.")
    assert plain(read(name, rendered_turn(renderer(name), message))) == plain(message)


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "llama3_json"])
def test_text_beside_a_call_comes_back(name: str) -> None:
    message = Message(content="I look.", tool_calls=(called({"text": "x"}),))
    assert plain(read(name, rendered_turn(renderer(name), message))) == plain(message)


def test_llama_tells_text_and_call_as_two_messages() -> None:
    turn = rendered_turn(renderer("llama3_json"), Message(content="I look.", tool_calls=(called({}),)))
    assert turn == 'I look.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n{"name": "set_thing", "parameters": {}}'


@pytest.mark.parametrize("name", [name for name in TEMPLATES if renderer(name).capabilities.reasoning_key])
def test_reasoning_comes_back(name: str) -> None:
    answer = Message(content="Done.", reasoning="" if name == "kimi_k2" else "Nothing to do.")  # Kimi forgets it with the answer
    for message in (
        Message(reasoning="It must be set.", tool_calls=(called({"count": 1}),)),
        answer if answer.reasoning else Message(content="Done."),
        Message(content="I set it.", reasoning="It must be set.", tool_calls=(called({"count": 1}),)),
    ):
        assert plain(read(name, rendered_turn(renderer(name), message, thinking=True))) == plain(message)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_format_is_found_from_the_template(name: str) -> None:
    assert pick_format(renderer(name)) == TEMPLATES[name]


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}",
        "{% for m in messages %}{{ raise_exception('never') }}{% endfor %}",
        "{{ tools }}{% for m in messages %}<{{ m.role }}>"
        "{% for c in m.tool_calls or [] %}¡{{ c.function | tojson }}!{% endfor %}{% endfor %}",
    ],
    ids=["no calls", "refuses", "unknown dialect"],
)
def test_no_format_is_guessed(template: str) -> None:
    assert pick_format(Renderer(template, Vocabulary())) is None


@pytest.mark.parametrize("name", TEMPLATES)
def test_history_continues_the_prompt(name: str) -> None:
    """What the engine has cached of a conversation stays valid when the answer is appended."""
    voice = renderer(name)
    history = [{"role": "user", "content": "Set it."}]
    prompt = voice.render(history, [TOOL])
    answered = voice.history([*history, {"role": "assistant", "content": "Done."}], [TOOL])
    assert answered.startswith(prompt.text.removesuffix(prompt.opening))
