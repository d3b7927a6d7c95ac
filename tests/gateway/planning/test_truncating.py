"""Conversations that may be shortened: the oldest turns go, whole, until the rest fits the context."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.chat.plan import Prompt
from gateway.chat.request import ChatRequest
from gateway.errors import ContextTooLong
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan
from gateway.planning.truncating import shorter
from tests.support.planned import scripted


class Words:
    """A renderer for which each word of the conversation is a token."""

    def render(self, messages: Any, tools: Any, template_kwargs: Any, **_: Any) -> Prompt:
        text = " ".join(str(message.get("content") or "call") for message in messages)
        return Prompt(text, tuple(range(len(text.split()))), "")


def said(role: str, words: int = 10, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": " ".join([role[:1]] * words), **more}


CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {}}]}
RESULT = said("tool", tool_call_id="c")
CHAT = (said("system"), said("user"), CALL, RESULT, said("assistant"), said("user"), said("assistant"), said("user"))


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> ModelSpec:
    folder: Path = tmp_path_factory.mktemp("turns")
    return replace(scripted(folder, "x"), renderer=Words())


@pytest.mark.parametrize(
    ("context", "left"),
    [
        (100, CHAT),
        (71, (CHAT[0], *CHAT[2:])),
        (55, (CHAT[0], *CHAT[4:])),
        (31, (CHAT[0], *CHAT[6:])),
        (21, (CHAT[0], *CHAT[7:])),
    ],
)
def test_the_oldest_turns_are_left_out(spec: ModelSpec, context: int, left: tuple[dict[str, Any], ...]) -> None:
    made = plan(ChatRequest("m", CHAT, truncates=True), replace(spec, context=context))
    assert made.request.messages == left
    told = [warning for warning in made.warnings if "truncation" in warning]
    gone = len(CHAT) - len(left)
    assert told == ([f"{gone} earlier messages were left out to fit the context (truncation)"] if gone else [])
    assert made.sampling.max_tokens == context - len(made.prompt.token_ids or ())


def test_what_the_user_says_last_is_never_left_out(spec: ModelSpec) -> None:
    with pytest.raises(ContextTooLong):
        plan(ChatRequest("m", CHAT, truncates=True), replace(spec, context=19))


def test_nothing_is_left_out_unasked(spec: ModelSpec) -> None:
    with pytest.raises(ContextTooLong):
        plan(ChatRequest("m", CHAT), replace(spec, context=60))


GROUPS = (
    [said("system", 2)],
    [said("user", 3)],
    [CALL, RESULT],
    [CALL, RESULT, RESULT],
    [said("assistant", 1)],
    [said("user", 30)],
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(GROUPS), max_size=12),
    st.one_of(st.none(), st.tuples(st.integers(50, 100), st.integers(1, 49))),
)
def test_each_step_makes_it_shorter_and_leaves_no_result_without_its_call(
    groups: list[list[dict[str, Any]]], tokens: tuple[int, int] | None
) -> None:
    chat = ChatRequest("m", tuple(message for group in groups for message in group))
    while (following := shorter(chat, ContextTooLong("x", tokens=tokens))) is not None:
        assert len(following.messages) < len(chat.messages)
        kept = following.messages
        assert kept == chat.messages[len(chat.messages) - len(kept) :] or kept[0]["role"] == "system"
        first = next((message for message in kept if message["role"] != "system"), None)
        assert first is not None
        assert first["role"] != "tool"
        chat = following
