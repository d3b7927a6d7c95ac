"""What only a real engine tells: which stop text ended an answer, and that a conversation does not fit its context."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.server import CLIENT, Gateway, serving

CAPITAL: Any = [{"role": "user", "content": "What is the capital of France?"}]
LONG: Any = [{"role": "user", "content": "word " * 60}, {"role": "assistant", "content": "fine " * 60}] * 5
HI: Any = {"role": "user", "content": "Say hi."}


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    pytest.importorskip("xllamacpp")
    model = {"name": "small", "backend": "embedded", "context": 512, "threads": 1, "parallel": 1, "max_tokens": 20}
    with serving({"models": [model]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


def post(gateway: Gateway, path: str, **fields: Any) -> Any:
    body = {"model": "small", "messages": CAPITAL, "temperature": 0, "max_tokens": 20, **fields}
    return CLIENT.post(f"{gateway.base_url}/{path}", json=body).json()


def test_the_stop_text_that_ended_an_answer_is_told(gateway: Gateway) -> None:
    choice = post(gateway, "chat/completions", stop=["never", " is"])["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("The capital of France", "stop")
    assert choice["stop_reason"] == " is"
    message = post(gateway, "messages", stop_sequences=["never", " is"])
    assert (message["content"][0]["text"], message["stop_reason"]) == ("The capital of France", "stop_sequence")
    assert message["stop_sequence"] == " is"
    whole = post(gateway, "messages", stop_sequences=["never"])
    assert (whole["stop_reason"], whole["stop_sequence"]) == ("end_turn", None)


def test_a_conversation_that_the_engine_finds_too_long(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="maximum context length is 512 tokens") as caught:
        client.responses.create(model="small", input=[*LONG, HI])
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "input")


def test_the_oldest_messages_may_be_left_out(client: openai.OpenAI) -> None:
    raw = client.responses.with_raw_response.create(model="small", input=[*LONG, HI], truncation="auto")
    assert "earlier messages were left out to fit the context" in raw.headers["x-toolwire-warnings"]
    answer = raw.parse()
    assert answer.usage is not None
    assert answer.usage.input_tokens < 512
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model="small", input="word " * 600, truncation="auto")
