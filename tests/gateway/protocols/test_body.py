"""Bodies are bounded, and what is wrong with one is said."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.errors import BodyTooLarge, BodyUnreadable, RequestError
from gateway.protocols.body import ClientGone, counted, parse, read
from gateway.settings import Limits

DEPTH = 128


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"  ", "empty"),
        (b"{", "EOF"),
        (b"hello", "line 1"),
        (b"[]", "JSON object"),
        (b'"text"', "JSON object"),
        (b"null", "JSON object"),
        (b'{"a": NaN}', "line 1"),
        (b'{"a": -Infinity}', "line 1"),
        (b'{"a": "x\x00y"}', "NUL"),
        (b'\x00{"a": 1}', "NUL"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b'{"a": 1} {"b": 2}', "trailing"),
        (b'{"a": ' + b"[" * 100_000, "nested"),
        (b'{"a": ' + b'{"b":' * 150 + b"1" + b"}" * 151, "nested"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "range"),
    ],
)
def test_an_unreadable_body_is_explained(body: bytes, words: str) -> None:
    with pytest.raises(BodyUnreadable) as caught:
        parse(body, DEPTH)
    assert words in caught.value.message
    assert caught.value.message.startswith("We could not parse the JSON body of your request.")
    assert (caught.value.status, caught.value.code) == (400, None)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'\xef\xbb\xbf{"a": "\xc3\xa9"}', {"a": "é"}),
        (b'{"a": "\\u0000"}', {"a": "\x00"}),
        (b'{"a": "cut \\ud83d"}', {"a": "cut \ufffd"}),
        (b'{"a": "\\ude00\\ud83d\\ud83d\\ude00\\ude00"}', {"a": "\ufffd\ufffd\U0001f600\ufffd"}),
        (b'{"a": "\\\\ud83d \\\\\\ud83d"}', {"a": "\\ud83d \\\ufffd"}),
        (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", None),
    ],
)
def test_unusual_json_is_read(body: bytes, value: Any) -> None:
    assert value is None or parse(body, DEPTH) == value
    assert parse(body, DEPTH)


class Client:
    """A client that sends these chunks, then goes away."""

    def __init__(self, chunks: Sequence[bytes], *, ends: bool = True) -> None:
        last = len(chunks) - 1
        self.messages = [
            {"type": "http.request", "body": chunk, "more_body": not ends or index < last} for index, chunk in enumerate(chunks)
        ]
        self.taken = 0

    async def receive(self) -> dict[str, Any]:
        if self.taken == len(self.messages):
            return {"type": "http.disconnect"}
        self.taken += 1
        return self.messages[self.taken - 1]


def test_chunks_are_joined() -> None:
    client = Client([b"ab", b"", b"cd"])
    assert asyncio.run(read({"headers": []}, client.receive, 10)) == b"abcd"


def test_a_long_body_is_read_to_its_end_and_refused() -> None:
    client = Client([b"x" * 10] * 5)
    with pytest.raises(BodyTooLarge) as caught:
        asyncio.run(read({"headers": []}, client.receive, 15))
    assert (caught.value.status, caught.value.code) == (413, "request_too_large")
    assert client.taken == 5


def test_a_body_without_end_is_not_read_for_ever() -> None:
    client = Client([b"x" * 10] * 1000)
    with pytest.raises(BodyTooLarge):
        asyncio.run(read({"headers": []}, client.receive, 15))
    assert client.taken < 20


@pytest.mark.parametrize(("declared", "taken"), [(b"1000", 0), (b"nonsense", 1), (b"-5", 1)])
def test_a_body_declared_far_too_long_is_not_read_at_all(declared: bytes, taken: int) -> None:
    client = Client([b"x" * 16])
    with pytest.raises(BodyTooLarge):
        asyncio.run(read({"headers": [(b"content-length", declared)]}, client.receive, 15))
    assert client.taken == taken


def test_a_client_that_leaves_in_mid_body() -> None:
    with pytest.raises(ClientGone):
        asyncio.run(read({"headers": []}, Client([b"{"], ends=False).receive, 15))


def test_a_body_that_stops_coming() -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    with pytest.raises(RequestError, match="stopped coming") as caught:
        asyncio.run(read({"headers": []}, receive, 15, patience=0.01))
    assert (caught.value.status, caught.value.code) == (408, "request_timeout")


@pytest.mark.parametrize("field", ["messages", "input"])
def test_more_messages_than_are_looked_at(field: str) -> None:
    limits = Limits(messages=3)
    assert counted({field: [1, 2, 3]}, limits)
    with pytest.raises(RequestError, match="maximum length 3, but got an array with length 4") as caught:
        counted({field: [1, 2, 3, 4]}, limits)
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, "array_above_max_length", field)
