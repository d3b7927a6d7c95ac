"""What a hostile turn can cost: little unread text, and time that grows with the length and not with its square."""

import time

import pytest

import parsers
from tests.support.turns import KEYS, TOOLS, markers

UNREAD_LIMIT = 1024
"""Characters that a parser may keep without having read them, whatever arrives."""
SMALL, LARGE = 2_000, 8_000
GROWTH = 8
"""Four times the text costs about four times the time; sixteen times would be its square."""
NOISE = 0.01
ATTEMPTS = 10
FILLERS = (" ", "\n", '"', "'", "{", "[", "<", "\\", "a", "1", ",", '{"a":', '"a", ')

every_format = pytest.mark.parametrize("name", parsers.names())


def repeated(text: str, size: int) -> str:
    return text * (size // len(text))


def call_of(name: str) -> str:
    call = parsers.ToolCall("get_weather", '{"city": "Oslo and Bergen"}')
    return parsers.write(parsers.get(name), parsers.Message(tool_calls=(call,)))


def seconds(name: str, text: str) -> float:
    parser = parsers.Parser(parsers.get(name), tools=TOOLS, prompt_known=True)
    begun = time.process_time()
    parser.feed(text)
    parser.finish("length")
    return time.process_time() - begun


def grows_with_its_length(name: str, text: str) -> bool:
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small = min(small, seconds(name, repeated(text, SMALL)))
        large = min(large, seconds(name, repeated(text, LARGE)))
        if large <= GROWTH * small + NOISE:
            return True
    return False


@every_format
def test_a_repeated_text_costs_time_by_its_length(name: str) -> None:
    own = [marker for marker in markers(name) if not any(key in marker for key in KEYS)]
    assert [text for text in (*own, *FILLERS) if not grows_with_its_length(name, text)] == []


@every_format
@pytest.mark.parametrize("part", [0.0, 0.4, 0.7, 0.9])
def test_little_stays_unread(name: str, part: float) -> None:
    call = call_of(name)
    for filler in FILLERS:
        parser = parsers.Parser(parsers.get(name), tools=TOOLS, prompt_known=True)
        parser.feed(call[: int(len(call) * part)])
        for character in repeated(filler, 2 * UNREAD_LIMIT):
            parser.feed(character)
            assert len(parser.buffer) - parser.at <= UNREAD_LIMIT, f"{filler!r} is held"


@every_format
def test_prose_leaves_at_once(name: str) -> None:
    """Of text that holds no marker only the white space at its end is held back."""
    parser = parsers.Parser(parsers.get(name), tools=TOOLS, prompt_known=True)
    for word in ("The ", "weather ", "is ", "fine,", " 3.5", " é", " 東京."):
        shown = "".join(event.text for event in parser.feed(word) if isinstance(event, parsers.ContentDelta))
        assert shown.strip() == word.strip()


@every_format
def test_nothing_of_a_plain_answer_waits_where_no_tool_is_declared(name: str) -> None:
    fmt = parsers.get(name)
    parser = parsers.Parser(fmt, tools=(), prompt_known=True)
    if parser.has_messages:
        pytest.skip("a message's white space is known to be its own when it ends")
    words = (" is ", "raining", "\n\n", "in Oslo. ")
    parser.feed("It")
    assert [parser.feed(word) for word in words] == [[parsers.ContentDelta(word)] for word in words]
