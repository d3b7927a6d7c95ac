"""Compressed bodies: read however they are cut, bounded while they inflate, and what is wrong with one is said."""

import asyncio
import gzip
import json
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import BodyTooLarge, BodyUnreadable, CodingUnknown
from gateway.protocols.body import read
from tests.support.server import CLIENT, Gateway, replay_model, serving

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def bare(data: bytes) -> bytes:
    """Deflate without zlib's frame, as some clients send it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


WRITERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("X-GZIP", gzip.compress),
    ("zstd", zstd.compress),
    ("deflate", zlib.compress),
    ("deflate", bare),
]
LIMIT = 4 * 1024 * 1024


def inflated(chunks: list[bytes], coding: str, limit: int = LIMIT) -> bytes:
    waiting = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    return asyncio.run(read({"headers": [(b"content-encoding", coding.encode())]}, receive, limit))


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(WRITERS),
    st.lists(st.integers(0, 400), max_size=5),
    st.integers(1, 3),
)
def test_whatever_the_cutting_the_body_is_the_same(
    text: bytes, writer: tuple[str, Callable[[bytes], bytes]], cuts: list[int], members: int
) -> None:
    coding, write = writer
    whole = write(text) * members
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    assert inflated([whole[a:b] for a, b in pairwise(places)], coding) == text * members


@pytest.mark.parametrize(("coding", "write"), WRITERS)
def test_a_bomb_is_refused_before_it_takes_memory(coding: str, write: Callable[[bytes], bytes]) -> None:
    bomb = write(b"\0" * 200_000_000)
    tracemalloc.start()
    with pytest.raises(BodyTooLarge) as caught:
        inflated([bomb], coding)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (caught.value.status, caught.value.code) == (413, "request_too_large")
    assert peak < 4 * LIMIT


@pytest.mark.parametrize(("coding", "write"), WRITERS)
def test_a_body_is_as_long_as_what_it_inflates_to(coding: str, write: Callable[[bytes], bytes]) -> None:
    text = bytes(range(256)) * 64
    assert inflated([write(text)], coding, len(text)) == text
    with pytest.raises(BodyTooLarge, match=f"limit is {len(text) - 1} bytes"):
        inflated([write(text)], coding, len(text) - 1)


def test_a_body_within_the_limit_may_not_be_a_bomb_either() -> None:
    with pytest.raises(BodyTooLarge, match="200 times"):
        inflated([zstd.compress(b"\0" * (LIMIT - 1))], "zstd")
    assert len(inflated([zstd.compress(b"\0" * 500_000)], "zstd")) == 500_000


def test_a_zstd_window_larger_than_the_web_allows_is_refused() -> None:
    parameter = zstd.CompressionParameter
    wide = zstd.compress(b"x" * 100_000_000, options={parameter.window_log: 27, parameter.content_size_flag: 0})
    with pytest.raises(BodyUnreadable, match="not zstd"):
        inflated([wide], "zstd")


@pytest.mark.parametrize(("coding", "write"), WRITERS)
def test_what_is_not_of_its_coding_is_told(coding: str, write: Callable[[bytes], bytes]) -> None:
    whole = write(b'{"model": "x"}' * 10)
    for broken in (whole[:-3], b"no such thing", whole + b"no such thing"):
        with pytest.raises(BodyUnreadable, match="inflate") as caught:
            inflated([broken], coding)
        assert caught.value.status == 400


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "compress", "\xff"])
def test_codings_that_are_not_read_are_refused_with_those_that_are(coding: str) -> None:
    with pytest.raises(CodingUnknown, match="gzip, zstd, deflate") as caught:
        inflated([b"{}"], coding)
    assert (caught.value.status, caught.value.code) == (415, "unsupported_media_type")
    assert inflated([b"{}"], "identity") == inflated([b"{}"], "") == b"{}"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder: Path = tmp_path_factory.mktemp("turns")
    with serving({"models": [replay_model(folder, [{"match": None, "text": "Hello!"}])]}) as running:
        yield running


@pytest.mark.parametrize(("coding", "write"), WRITERS)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_every_protocol_takes_compressed_bodies(
    gateway: Gateway, path: str, coding: str, write: Callable[[bytes], bytes]
) -> None:
    message = {"role": "user", "content": "hi"}
    body = {"model": "scripted", "max_tokens": 9, "messages": [message], "input": "hi"}
    content = write(json.dumps(body).encode())
    answer = CLIENT.post(gateway.url + path, content=content, headers={"content-encoding": coding})
    assert answer.status_code == 200
    assert "Hello!" in answer.text


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/v1/chat/completions", "invalid_request_error"), ("/v1/responses", "invalid_request_error"), ("/v1/messages", "")],
)
def test_what_is_refused_has_the_protocols_own_shape(gateway: Gateway, path: str, kind: str) -> None:
    bomb = CLIENT.post(gateway.url + path, content=gzip.compress(b"\0" * 50_000_000), headers={"content-encoding": "gzip"})
    assert (bomb.status_code, bomb.json()["error"]["type"]) == (413, kind or "request_too_large")
    other = CLIENT.post(gateway.url + path, content=b"{}", headers={"content-encoding": "br"})
    assert (other.status_code, other.headers["accept-encoding"]) == (415, "gzip, zstd, deflate")
    assert other.json()["error"]["type"] == "invalid_request_error"
