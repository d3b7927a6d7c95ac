"""Broken conversations are made whole without losing anything."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.chat.history import NO_RESULT, heal

Message = dict[str, Any]


def calls(*names: str | None) -> Message:
    made = [{"type": "function", "function": {"name": "f", "arguments": "{}"}} | ({"id": name} if name else {}) for name in names]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(name: str | None, content: str = "r") -> Message:
    return {"role": "tool", "content": content} | ({"tool_call_id": name} if name else {})


def user(content: str = "u") -> Message:
    return {"role": "user", "content": content}


def test_a_sound_history_is_left_alone() -> None:
    messages = [user(), calls("a", "b"), result("a"), result("b"), user(), calls("a"), result("a", "again")]
    healed = heal(messages)
    assert list(healed.messages) == messages
    assert healed.warnings == ()


def test_a_conversation_without_tools_is_the_same_object_by_object() -> None:
    messages = [user(), {"role": "assistant", "content": "hello"}]
    assert all(a is b for a, b in zip(heal(messages).messages, messages, strict=True))


def test_results_of_one_turn_come_in_the_order_of_the_calls_without_a_warning() -> None:
    healed = heal([calls("a", "b"), result("b", "2"), result("a", "1")])
    assert [message["content"] for message in healed.messages[1:]] == ["1", "2"]
    assert healed.warnings == ()


def test_a_missing_result_is_filled_in() -> None:
    healed = heal([calls("a", "b"), result("a"), user()])
    assert healed.messages[2] == {"role": "tool", "tool_call_id": "b", "content": NO_RESULT}
    assert healed.messages[3] == user()
    assert "no result for b" in healed.warnings[0]


def test_a_late_result_is_moved_to_its_call() -> None:
    healed = heal([calls("a"), user(), result("a", "late")])
    assert [message["role"] for message in healed.messages] == ["assistant", "tool", "user"]
    assert healed.messages[1]["content"] == "late"
    assert "moved" in healed.warnings[0]


def test_an_early_result_is_moved_to_its_call() -> None:
    healed = heal([result("a", "early"), user(), calls("a")])
    assert [message["role"] for message in healed.messages] == ["user", "assistant", "tool"]
    assert healed.messages[2]["content"] == "early"


def test_a_result_nobody_asked_for_becomes_user_text() -> None:
    healed = heal([user(), result("zz", "stray")])
    assert healed.messages[1]["role"] == "user"
    assert healed.messages[1]["content"].endswith("stray")
    assert "zz" in healed.warnings[0]


def test_parts_of_a_stray_result_are_kept() -> None:
    parts = [{"type": "text", "text": "stray"}]
    healed = heal([{"role": "tool", "tool_call_id": "zz", "content": parts}])
    assert healed.messages[0]["content"][1:] == parts


def test_ids_that_are_missing_are_made_up_and_results_follow_in_order() -> None:
    healed = heal([calls(None, None), result(None, "1"), result(None, "2")])
    ids = [call["id"] for call in healed.messages[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(message["tool_call_id"], message["content"]) for message in healed.messages[1:]] == list(zip(ids, "12", strict=True))


def test_two_calls_with_one_id_are_told_apart() -> None:
    healed = heal([calls("a", "a"), result("a", "1")])
    ids = [call["id"] for call in healed.messages[0]["tool_calls"]]
    assert ids[0] == "a"
    assert ids[1] != "a"
    assert [message["content"] for message in healed.messages[1:]] == ["1", NO_RESULT]


def test_an_id_used_in_every_turn_belongs_to_the_latest_turn() -> None:
    healed = heal([calls("call_0"), user("cancelled"), calls("call_0"), result("call_0", "second")])
    assert [message["content"] for message in healed.messages if message["role"] == "tool"] == [NO_RESULT, "second"]


IDS = st.sampled_from(["a", "b", "c", None])
MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.text(max_size=3)),
        st.lists(IDS, min_size=1, max_size=3).map(lambda ids: calls(*ids)),
        st.builds(result, IDS, st.uuids().map(str)),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_every_call_has_one_result_after_it_and_nothing_is_lost(messages: list[Message]) -> None:
    healed = heal(messages).messages
    position = 0
    while position < len(healed):
        message = healed[position]
        position += 1
        assert message["role"] != "tool"
        for call in message.get("tool_calls") or ():
            assert healed[position]["role"] == "tool"
            assert healed[position]["tool_call_id"] == call["id"]
            position += 1
    text = "\n".join(str(message["content"]) for message in healed)
    assert all(message["content"] in text for message in messages if message["role"] == "tool")


@given(MESSAGES)
def test_healing_twice_changes_nothing_more(messages: list[Message]) -> None:
    once = heal(messages)
    twice = heal(once.messages)
    assert twice.messages == once.messages
    assert twice.warnings == ()


@pytest.mark.parametrize("count", [2000])
def test_long_histories_take_linear_time(count: int) -> None:
    messages = [message for turn in range(count) for message in (calls(f"c{turn}"), result(f"c{turn}"))]
    assert len(heal(messages).messages) == 2 * count


def broken(arguments: str) -> Message:
    made = calls("a")
    made["tool_calls"][0]["function"]["arguments"] = arguments
    return made


@pytest.mark.parametrize(
    ("messages", "index", "reason"),
    [
        ([user(), calls("a"), user()], 1, "no result for a"),
        ([user(), result("x"), calls("a"), result("a")], 1, "without a call"),
        ([user(), calls("a"), user(), result("a")], 3, "does not follow its call"),
        ([user(), result("a"), calls("a")], 1, "stands before its call"),
        ([user(), calls("a"), result(None)], 2, "without tool_call_id"),
        ([user(), broken('{"x": '), result("a")], 1, "arguments of a are not a JSON object"),
        ([user(), broken("[1]"), result("a")], 1, "not a JSON object"),
    ],
)
def test_what_was_broken_is_told_with_its_message(messages: list[Message], index: int, reason: str) -> None:
    fault = heal(messages).faults[0]
    assert fault.index == index
    assert reason in fault.reason


def test_a_sound_history_has_no_faults() -> None:
    assert heal([user(), calls("a", "b"), result("b"), result("a"), broken(""), result("a"), user()]).faults == ()
