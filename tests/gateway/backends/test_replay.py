"""Scripted turns: which one is played, how it is cut, and what a wrong file is told."""

import time
from typing import Any

import pytest

from gateway.backends.replay import ReplayBackend
from gateway.chat.events import Usage
from gateway.errors import BackendRefused, SettingsError

TURNS = """
{"match": "sunny", "role": "tool", "text": "It is sunny."}

{"match": "(?i)weather in (paris|rome)", "text": "<tool_call>\\n{\\"name\\": \\"w\\"}\\n</tool_call>"}
{"match": "slow", "pieces": ["a", "b", "c"], "delay_ms": 30}
{"match": "cut", "pieces": ["one ", "two END three"], "finish": "length"}
{"match": "parts 1", "text": "seen"}
{"match": null, "text": "Hello  there,\\nünïcode 🎉!"}
"""


@pytest.fixture
def backend(tmp_path):
    path = tmp_path / "turns.jsonl"
    path.write_text(TURNS, "utf-8")
    return ReplayBackend(path)


def says(run, kit, backend, *messages: Any, **sampling: Any):
    shaped = tuple({"role": "user", "content": message} if isinstance(message, str) else message for message in messages)
    return run(kit.read_all(backend, kit.plan("a rendered prompt", messages=shaped, **sampling)))


def test_the_first_turn_that_matches_the_last_user_message(run, kit, backend):
    assert kit.text_of(says(run, kit, backend, "x", "The Weather in Rome?")) == '<tool_call>\n{"name": "w"}\n</tool_call>'
    assert kit.text_of(says(run, kit, backend, "weather in Rome", "something else")).startswith("Hello")


def test_parts_are_searched_as_one_text(run, kit, backend):
    parts = {"role": "user", "content": [{"type": "text", "text": "parts"}, {"type": "text", "text": " 1"}]}
    assert kit.text_of(says(run, kit, backend, parts)) == "seen"


def test_a_tool_result_is_answered_by_a_turn_for_tools_only_when_it_is_last(run, kit, backend):
    result = {"role": "tool", "tool_call_id": "1", "content": "sunny, 20"}
    assert kit.text_of(says(run, kit, backend, "weather in Paris", result)) == "It is sunny."
    assert kit.text_of(says(run, kit, backend, "weather in Paris", result, "weather in Rome")).startswith("<tool_call>")
    assert kit.text_of(says(run, kit, backend, "it is sunny")).startswith("Hello")


def test_a_text_streams_in_small_pieces_that_lose_nothing(run, kit, backend):
    pieces = says(run, kit, backend, "hi")
    assert kit.text_of(pieces) == "Hello  there,\nünïcode 🎉!"
    assert len([piece for piece in pieces if piece.text]) >= 6
    assert pieces[-2].finish_reason == "stop"
    assert pieces[-1].usage == Usage(3, len(pieces) - 2)


def test_pieces_come_as_they_are_with_their_delay(run, kit, backend):
    began = time.monotonic()
    pieces = says(run, kit, backend, "slow")
    assert time.monotonic() - began >= 0.09
    assert [piece.text for piece in pieces][:3] == ["a", "b", "c"]


def test_stop_and_max_tokens(run, kit, backend):
    stopped = says(run, kit, backend, "cut", stop=("END", "never"))
    assert kit.text_of(stopped) == "one two "
    assert [(piece.finish_reason, piece.stop) for piece in stopped if piece.finish_reason] == [("stop", "END")]
    short = says(run, kit, backend, "slow", max_tokens=2)
    assert kit.text_of(short) == "ab"
    assert [piece.finish_reason for piece in short if piece.finish_reason] == ["length"]
    cut = says(run, kit, backend, "cut", max_tokens=2)
    assert kit.text_of(cut) == "one two END three"
    assert {piece.stop for piece in (*short, *cut)} == {None}


def test_choices_all_say_the_same(run, kit, backend):
    pieces = says(run, kit, backend, "slow", n=3)
    assert [kit.text_of(pieces, choice) for choice in range(3)] == ["abc"] * 3
    assert sorted(piece.choice for piece in pieces if piece.finish_reason) == [0, 1, 2]
    assert pieces[-1].usage == Usage(3, 9)


def test_no_turn_for_a_conversation(run, kit, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text('{"match": "x", "text": "y"}\n', "utf-8")
    with pytest.raises(BackendRefused, match=r"No turn in one\.jsonl") as caught:
        says(run, kit, ReplayBackend(path), "hello")
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[1]", "a list where a JSON object"),
        ('{"match": "(", "text": "a"}', "not a regular expression"),
        ('{"match": 1, "text": "a"}', "match must be"),
        ('{"match": null}', "exactly one of text and pieces"),
        ('{"match": null, "text": "a", "pieces": []}', "exactly one of text and pieces"),
        ('{"match": null, "text": 5}', "text must be a string"),
        ('{"match": null, "pieces": ["a", 1]}', "pieces must be a list of strings"),
        ('{"match": null, "text": "a", "dealy_ms": 1}', "unknown key 'dealy_ms'; known keys: match"),
        ('{"match": null, "text": "a", "delay_ms": -1}', "delay_ms must be"),
        ('{"match": null, "text": "a", "finish": "tool_calls"}', "finish must be one of stop, length"),
        ('{"match": null, "text": "a", "role": "system"}', "role must be one of user, tool"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, told):
    path = tmp_path / "turns.jsonl"
    path.write_text('{"match": null, "text": "fine"}\n' + line + "\n", "utf-8")
    with pytest.raises(SettingsError) as caught:
        ReplayBackend(path)
    assert caught.value.message.startswith(f"{path}:2: ")
    assert told in caught.value.message


@pytest.mark.parametrize(("content", "told"), [(None, "No such file"), (b"\xff\xfe", "not UTF-8"), (b"\n \n", "no turns in it")])
def test_a_file_that_cannot_be_played(tmp_path, content, told):
    path = tmp_path / "turns.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=told):
        ReplayBackend(path)
