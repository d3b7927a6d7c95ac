"""Raw prompts to engines without such an endpoint: the official client against recorded turns and the real small model."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.server import CLIENT, SLOW_TURN, Gateway, replay_model, serving, wait_for

TURNS = [
    {"match": "weather", "pieces": ["It ", "is ", "sunny", "."]},
    {"match": "call", "text": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'},
    SLOW_TURN,
    {"match": None, "pieces": ["Hello", " 👋!"]},
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    pytest.importorskip("xllamacpp")
    small = {"name": "small", "backend": "embedded", "context": 512, "threads": 1, "parallel": 2, "max_tokens": 40}
    replay = replay_model(tmp_path_factory.mktemp("turns"), TURNS)
    with serving({"models": [replay, small], "limits": {"choices": 4}}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Any:
    """Asks for a completion, whole or streamed and put together; both must be the same."""

    def asked(prompt: Any, **fields: Any) -> tuple[list[tuple[str, Any, Any]], Any]:
        if request.param == "whole":
            answer = client.completions.create(prompt=prompt, **fields)
            choices = sorted(answer.choices, key=lambda choice: choice.index)
            return [(each.text, each.finish_reason, each.logprobs) for each in choices], answer.usage
        texts: dict[int, str] = {}
        finishes: dict[int, Any] = {}
        usage = None
        options: Any = {"include_usage": True}
        for chunk in client.completions.create(prompt=prompt, stream=True, stream_options=options, **fields):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                assert choice.index not in finishes
                texts[choice.index] = texts.get(choice.index, "") + choice.text
                if choice.finish_reason is not None:
                    finishes[choice.index] = choice.finish_reason
        return [(texts[index], finishes[index], None) for index in sorted(texts)], usage

    return asked


def test_text_in_text_out(ask: Any) -> None:
    choices, usage = ask("the weather today", model="scripted")
    assert choices == [("It is sunny.", "stop", None)]
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (3, 4, 7)


def test_nothing_in_a_raw_answer_is_a_call(ask: Any) -> None:
    choices, _ = ask("call", model="scripted", max_tokens=100)
    assert choices[0][0] == TURNS[1]["text"]


def test_several_prompts_and_choices(ask: Any) -> None:
    choices, usage = ask(["weather", "hi"], model="scripted", n=2)
    assert [text for text, _, _ in choices] == ["It is sunny."] * 2 + ["Hello 👋!"] * 2
    assert usage.completion_tokens == 12


def test_the_prompt_is_repeated_where_that_is_asked(ask: Any) -> None:
    choices, _ = ask(["weather: ", "hi "], model="scripted", echo=True, stop=" is", max_tokens=3)
    assert [(text, finish) for text, finish, _ in choices] == [("weather: It", "stop"), ("hi Hello 👋!", "stop")]


def test_the_embedded_engine_goes_on_with_a_prompt(ask: Any) -> None:
    wishes = {"model": "small", "temperature": 0}
    (text, finish, _), *_ = ask("The capital of France is", **wishes, max_tokens=8)[0]
    assert "Paris" in text
    assert finish == "length"
    (cut, finish, _), *_ = ask("The capital of France is", **wishes, stop=["Paris"])[0]
    assert (cut, finish) == (text.partition("Paris")[0], "stop")
    assert ask([504, 3575, 282, 4649, 314], **wishes, max_tokens=8)[0] == [(text, "length", None)]


def test_log_probabilities_have_the_legacy_shape(client: openai.OpenAI) -> None:
    answer = client.completions.create(model="small", prompt="One two three", temperature=0, max_tokens=3, logprobs=2)
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None
    assert "".join(logprobs.tokens or ()) == answer.choices[0].text
    assert [len(best) for best in logprobs.top_logprobs or ()] == [2, 2, 2]
    lengths = [len(token) for token in logprobs.tokens or ()]
    assert logprobs.text_offset == [sum(lengths[:place]) for place in range(3)]
    assert all(value <= 0 for value in logprobs.token_logprobs or ())


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"prompt": []}, "empty_array", "prompt"),
        ({"prompt": {}}, "invalid_type", "prompt"),
        ({"prompt": [1, "a"]}, "invalid_type", "prompt[0]"),
        ({"prompt": [True]}, "invalid_type", "prompt[0]"),
        ({"prompt": [-1]}, "invalid_value", "prompt"),
        ({"prompt": ["a"] * 5}, "array_above_max_length", "prompt"),
        ({"prompt": ["a"] * 3, "n": 2}, "array_above_max_length", "prompt"),
        ({"suffix": "x"}, "unsupported_parameter", "suffix"),
        ({"best_of": 3}, "unsupported_parameter", "best_of"),
        ({"echo": True, "logprobs": 1}, "unsupported_parameter", "echo"),
        ({"echo": True, "prompt": [1]}, "unsupported_parameter", "echo"),
        ({"logprobs": 21}, "integer_above_max_value", "logprobs"),
        ({"temperature": 3}, "decimal_above_max_value", "temperature"),
        ({"stop": 3}, "invalid_type", "stop"),
    ],
)
def test_what_cannot_be_done_is_told(client: openai.OpenAI, fields: dict[str, Any], code: str, param: str) -> None:
    body = {"model": "scripted", "prompt": "hi", **fields}
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(**body)
    assert (caught.value.code, caught.value.param, caught.value.type) == (code, param, "invalid_request_error")


@pytest.mark.parametrize("prompt", [[999_999_999], [0, 49_152]])
def test_ids_that_the_vocabulary_lacks_are_refused(gateway: Gateway, client: openai.OpenAI, prompt: list[int]) -> None:
    with pytest.raises(openai.BadRequestError):
        client.completions.create(model="small", prompt=prompt)
    assert client.completions.create(model="small", prompt="Hi", max_tokens=1).usage


def test_a_prompt_that_is_too_long_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(model="small", prompt=[100] * 600)
    assert caught.value.code == "context_length_exceeded"


def test_fields_without_effect_are_named(gateway: Gateway) -> None:
    body = {"model": "scripted", "prompt": "hi", "logit_processors": [], "user": "me", "max_tokens": 2}
    answer = CLIENT.post(f"{gateway.base_url}/completions", json=body)
    assert answer.headers["x-toolwire-warnings"] == "logit_processors has no effect here"


def test_tokens_are_counted_and_a_stream_that_is_left_stops(gateway: Gateway) -> None:
    body = {"model": "scripted", "prompt": "slow", "max_tokens": 10_000, "stream": True}
    with CLIENT.stream("POST", f"{gateway.base_url}/completions", json=body) as answer:
        lines = answer.iter_lines()
        first = next(lines)
        assert json.loads(first.removeprefix("data: "))["choices"][0]["text"] == "word "
        assert wait_for(lambda: gateway.running() == 1)
    assert gateway.wait_until_idle()
    text = CLIENT.get(f"{gateway.url}/metrics").text
    line = next(line for line in text.splitlines() if 'tokens_total{kind="completion",model="scripted"}' in line)
    assert float(line.split()[-1]) > 0
