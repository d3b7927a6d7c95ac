"""A real vLLM generates scripted turns and the right calls arrive: its tokens, stops, usage and grammar masks are at work."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from openai import OpenAI

from tests.e2e.vllm.copycat import Stage, user

LIMIT = 600
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}
TIME = {
    "type": "object",
    "properties": {"zone": {"type": "string"}, "digits": {"type": "integer"}},
    "required": ["zone", "digits"],
    "additionalProperties": False,
}
CALLS = [("get_weather", {"city": 'Zürich "🎉"', "unit": "celsius"}), ("get_time", {"zone": "Europe/Zurich", "digits": 2})]
FIRST, SECOND = (json.dumps(arguments, ensure_ascii=False) for _, arguments in CALLS)

# A family, a turn in its dialect, and how many of CALLS it makes.
TURNS = {
    "hermes": [
        (f'<tool_call>\n{{"name": "get_weather", "arguments": {FIRST}}}\n</tool_call>', 1),
        (
            f'I will look.\n<tool_call>\n{{"name": "get_weather", "arguments": {FIRST}}}\n</tool_call>\n'
            f'<tool_call>\n{{"name": "get_time", "arguments": {SECOND}}}\n</tool_call>',
            2,
        ),
    ],
    "qwen3_coder": [
        (
            '<tool_call>\n<function=get_weather>\n<parameter=city>\nZürich "🎉"\n</parameter>\n'
            "<parameter=unit>\ncelsius\n</parameter>\n</function>\n</tool_call>\n"
            "<tool_call>\n<function=get_time>\n<parameter=zone>\nEurope/Zurich\n</parameter>\n"
            "<parameter=digits>\n2\n</parameter>\n</function>\n</tool_call>",
            2,
        ),
    ],
    "mistral": [
        (f"[TOOL_CALLS]get_weather[ARGS]{FIRST}[TOOL_CALLS]get_time[ARGS]{SECOND}", 2),
        (f'[TOOL_CALLS] [{{"name": "get_weather", "arguments": {FIRST}}}, {{"name": "get_time", "arguments": {SECOND}}}]', 2),
    ],
    "llama3_json": [
        (f'{{"name": "get_weather", "parameters": {FIRST}}}', 1),
        (f'<|python_tag|>{{"name": "get_weather", "parameters": {FIRST}}}', 1),
    ],
    "llama4_pythonic": [
        ('[get_weather(city="Zürich \\"🎉\\"", unit="celsius"), get_time(zone="Europe/Zurich", digits=2)]', 2),
    ],
    "deepseek_v3": [
        (
            f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{FIRST}\n```<｜tool▁call▁end｜>\n"
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{SECOND}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            2,
        ),
    ],
    "deepseek_v31": [
        (
            f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{FIRST}<｜tool▁call▁end｜>"
            f"<｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{SECOND}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            2,
        ),
    ],
    "deepseek_v32": [
        (
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n'
            '<｜DSML｜parameter name="city" string="true">Zürich "🎉"</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="unit" string="true">celsius</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
            '<｜DSML｜invoke name="get_time">\n<｜DSML｜parameter name="zone" string="true">Europe/Zurich</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="digits" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
            2,
        ),
    ],
}


def tools(*, strict: bool = False) -> list[dict[str, Any]]:
    named = {"get_weather": WEATHER, "get_time": TIME}
    return [
        {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": schema, "strict": strict}}
        for name, schema in named.items()
    ]


@pytest.fixture(scope="module")
def client(copycat_gateway: str) -> OpenAI:
    return OpenAI(base_url=copycat_gateway, api_key="none", timeout=120, max_retries=0)


def whole(stage: Stage, messages: Sequence[dict[str, Any]], **options: Any) -> tuple[list[tuple[str, Any]], str, str | None]:
    """Calls, content and finish reason of the answer that is not streamed."""
    choice = stage.client.chat.completions.create(model=stage.model, messages=list(messages), tools=list(stage.tools), **options)
    message = choice.choices[0].message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
    return calls, message.content or "", choice.choices[0].finish_reason


def streamed(stage: Stage, messages: Sequence[dict[str, Any]], **options: Any) -> tuple[list[tuple[str, Any]], str, str | None]:
    """The same of the streamed answer, put together by the SDK; arguments must come in more than one piece."""
    fragments = 0
    with stage.client.chat.completions.stream(
        model=stage.model, messages=list(messages), tools=list(stage.tools), **options
    ) as stream:
        for event in stream:
            fragments += event.type == "tool_calls.function.arguments.delta"
        choice = stream.get_final_completion().choices[0]
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or []]
    assert not calls or fragments > 1, "the arguments came in one piece"
    return calls, choice.message.content or "", choice.finish_reason


def cases() -> list[Any]:
    return [
        pytest.param(family, text, CALLS[:count], id=f"{family}-{number}")
        for family, turns in TURNS.items()
        for number, (text, count) in enumerate(turns)
    ]


@pytest.mark.parametrize(("family", "text", "calls"), cases())
def test_a_scripted_turn_arrives_as_its_calls(client: OpenAI, family: str, text: str, calls: list[tuple[str, Any]]) -> None:
    stage = Stage(client, f"copycat-{family}", tools())
    messages = stage.lines(text)
    for answer in (whole, streamed):
        got, content, finish = answer(stage, messages, max_completion_tokens=LIMIT, temperature=0)
        assert got == calls, f"{answer.__name__}: {got!r}, content {content!r}"
        assert finish == "tool_calls"
        assert content.strip() == ("I will look." if text.startswith("I will look.") else "")


@pytest.mark.parametrize("answer", [whole, streamed])
def test_a_turn_of_real_markers_is_repeated_as_the_same_call(client: OpenAI, answer: Any) -> None:
    """The template writes an earlier call with the model's own marker tokens; the model copies those very tokens."""
    stage = Stage(client, "copycat", tools())
    asked = {"id": "call_1", "type": "function", "function": {"name": CALLS[0][0], "arguments": FIRST}}
    history = [
        user("How is the weather in Zurich?"),
        {"role": "assistant", "content": "", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ]
    got, content, finish = answer(stage, stage.again(history, 1), max_completion_tokens=LIMIT, temperature=0)
    assert (got, content.strip(), finish) == (CALLS[:1], "", "tool_calls")


@pytest.mark.parametrize("answer", [whole, streamed])
def test_a_grammar_overrules_the_script(client: OpenAI, answer: Any) -> None:
    stage = Stage(client, "copycat-hermes", tools(strict=True))
    wrong = FIRST.replace("celsius", "kelvin")
    messages = stage.lines(f'<tool_call>\n{{"name": "get_weather", "arguments": {wrong}}}\n</tool_call>')
    options = {"max_completion_tokens": LIMIT, "temperature": 0, "tool_choice": "required", "parallel_tool_calls": False}
    got, _, finish = answer(stage, messages, **options)
    assert finish == "tool_calls"
    ((name, arguments),) = got
    assert name == "get_weather"
    assert arguments["unit"] in WEATHER["properties"]["unit"]["enum"]


def test_a_call_cut_by_the_token_limit_is_no_call_to_run(client: OpenAI) -> None:
    stage = Stage(client, "copycat-hermes", tools())
    messages = stage.lines(TURNS["hermes"][0][0])
    answer = client.chat.completions.create(
        model=stage.model, messages=messages, tools=list(stage.tools), max_completion_tokens=25, temperature=0
    )
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 25


def test_plain_text_stops_where_the_engine_stops(client: OpenAI) -> None:
    stage = Stage(client, "copycat-hermes")
    answer = client.chat.completions.create(
        model=stage.model, messages=stage.lines("Grüezi 🎉 <b>Welt</b>"), max_completion_tokens=LIMIT, temperature=0
    )
    assert answer.choices[0].message.content == "Grüezi 🎉 <b>Welt</b>"
    assert answer.choices[0].finish_reason == "stop"
