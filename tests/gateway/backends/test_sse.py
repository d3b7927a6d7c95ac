"""The SSE decoder: the same events for every cutting of the same bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.sse import LONGEST_EVENT, SSEDecoder
from gateway.errors import BackendGarbled

DATA = st.lists(st.text(alphabet='ab é🎉:{}"\\', max_size=6), min_size=1, max_size=3)
NOISE = st.sampled_from([": comment", "id: 7", "event: delta", "retry: 10", ":", "unknown"])
LINE_END = st.sampled_from(["\n", "\r", "\r\n"])


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream and the data in it."""
    text, expected = "", []
    for lines in draw(st.lists(DATA, max_size=5)):
        for line in lines:
            if draw(st.booleans()):
                text += draw(NOISE) + draw(LINE_END)
            text += draw(st.sampled_from(["data: ", "data:"])) if not line.startswith(" ") else "data: "
            text += line + draw(LINE_END)
        # "\r" right before "\n" is one line end, not two: the blank line ends as the line before it could not
        text += "\r\n" if text.endswith("\n") or draw(st.booleans()) else "\r"
        expected.append("\n".join(lines).encode())
    return text.encode(), expected


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted({place % (len(whole) + 1) for place in places}), len(whole)]
    return [whole[a:b] for a, b in pairwise(bounds)]


@given(streams(), st.lists(st.integers(0, 10_000), max_size=12))
def test_any_cutting_gives_the_same_events(stream, places):
    whole, expected = stream
    decoder = SSEDecoder()
    assert [data for block in cut(whole, places) for data in decoder.feed(block)] == expected


@given(streams())
def test_single_bytes_give_the_same_events(stream):
    whole, expected = stream
    decoder = SSEDecoder()
    assert [data for byte in whole for data in decoder.feed(bytes([byte]))] == expected


@pytest.mark.parametrize(
    ("whole", "expected"),
    [
        (b"data: a\n\ndata:b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\r", [b"a", b"b"]),
        (b": keep-alive\n\ndata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b"data:  two\n\n", [b" two"]),
        (b"data: never ended\n", []),
        (b"database: x\n\n", []),
        (b"\n\n\n", []),
    ],
)
def test_known_streams(whole, expected):
    assert SSEDecoder().feed(whole) == expected


def test_a_line_of_many_small_reads_costs_linear_time():
    decoder = SSEDecoder()
    assert decoder.feed(b"data: ") == []
    for _ in range(200_000):
        decoder.feed(b"x")
    assert len(decoder.feed(b"\n\n")[0]) == 200_000


def test_an_endless_event_is_garbled():
    decoder = SSEDecoder()
    megabyte = b"data: " + b"x" * (2**20 - 6)
    for _ in range(LONGEST_EVENT // 2**20):
        assert decoder.feed(megabyte) == []
    with pytest.raises(BackendGarbled):
        decoder.feed(megabyte)
