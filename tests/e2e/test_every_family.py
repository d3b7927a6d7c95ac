"""Every family's turns through the official `openai` client: what was written comes back, under every choice."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionMessage

import parsers
from parsers import Message, ToolCall, UnwritableError
from tests.support.server import replay_model, serving

FAMILIES = parsers.names()
BOOK = {"title": "Fjällbacka — 東京 🎉", "guests": 2, "nights": 3.5, "sure": True}
NESTED = {"who": {"name": "Åsa", "tags": ["a", 1, None, {"deep": False}]}, "rows": [[1, 2], []]}
BIG = {"count": 123456789012345678901234567890, "title": 'she said "hi"\nand left \\ {[<a>'}


def call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False))


ASKED = {
    "text": Message("Hello, it is 21 degrees in Malmö."),
    "one": Message(tool_calls=(call("book_room", BOOK),)),
    "two": Message(tool_calls=(call("book_room", BOOK), call("ping", {}))),
    "said": Message("Let me look.", tool_calls=(call("book_room", BOOK),)),
    "thought": Message("Done.", "They want to know."),
    "planned": Message(None, "First I book.", (call("book_room", BOOK),)),
    "ping": Message(tool_calls=(call("ping", {}),)),
    "nested": Message(tool_calls=(call("save_all", NESTED),)),
    "big": Message(tool_calls=(call("book_room", BIG),)),
}
NEEDED = ("text", "one", "ping")
"""What every family can say."""
RESULT = Message("It is booked.")


def tool(name: str, *, strict: bool = False, **types: str) -> dict[str, Any]:
    properties = {key: {"type": kind} | ({"items": {}} if kind == "array" else {}) for key, kind in types.items()}
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if strict:
        parameters |= {"required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "parameters": parameters, "strict": strict}}


ROOM = {"title": "string", "guests": "integer", "nights": "number", "sure": "boolean"}
TOOLS = [
    tool("book_room", **ROOM, count="integer"),
    tool("ping"),
    tool("save_all", who="object", rows="array"),
]


def text_of(family: str, message: Message) -> str | None:
    """The turn as the family writes it, None where it has no place for all of the message."""
    try:
        return parsers.write(parsers.get(family), message)
    except UnwritableError:
        return None


def turns_of(family: str) -> dict[str, str]:
    found = {name: text for name, message in ASKED.items() if (text := text_of(family, message)) is not None}
    assert set(NEEDED) <= set(found)
    return found


def script(family: str) -> list[dict[str, Any]]:
    asked = [{"match": f"^{name}$", "text": text} for name, text in turns_of(family).items()]
    return [{"match": "booked", "role": "tool", "text": text_of(family, RESULT)}, *asked]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    # a template that opens nothing of the turn, so that each is read from its beginning
    entry = {"chat_template": "toolwire/hermes", "template_check": "off"}
    folder = tmp_path_factory.mktemp("turns")
    models = [replay_model(folder, script(family), name=family, parser=family, **entry) for family in FAMILIES]
    with serving({"models": models}) as gateway, openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


class Asker:
    """Asks one family's model, both ways, and holds the two answers against one another."""

    def __init__(self, client: openai.OpenAI, family: str) -> None:
        self.client = client
        self.family = family
        self.turns = turns_of(family)

    def __call__(self, question: str | list[Any], **fields: Any) -> ChatCompletion:
        given: dict[str, Any] = {"model": self.family, "tools": TOOLS, **fields}
        given["messages"] = [{"role": "user", "content": question}] if isinstance(question, str) else question
        whole = self.client.chat.completions.create(**given)
        streamed = self.streamed(given)
        assert told(streamed) == told(whole)
        assert streamed.usage == whole.usage
        return whole

    def streamed(self, given: dict[str, Any]) -> ChatCompletion:
        """The client's own account of a stream, whose chunks are held to the order that clients rely on."""
        seen: list[Any] = []
        with self.client.chat.completions.stream(**given, stream_options={"include_usage": True}) as stream:
            for event in stream:
                if event.type == "chunk":
                    seen.append(event.chunk)
            check_order(seen)
            return stream._state.current_completion_snapshot  # the final one is refused for answers that were cut


@pytest.fixture(params=FAMILIES)
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Asker:
    return Asker(client, request.param)


def told(answer: ChatCompletion) -> list[Any]:
    """All that an answer says; ids are only checked, since they differ from answer to answer."""
    found = []
    for choice in answer.choices:
        made = choice.message.tool_calls or []
        assert len({one.id for one in made}) == len(made)
        assert all(one.id.startswith("call_") and one.type == "function" for one in made)
        texts = (choice.message.content, *thoughts(choice.message))
        found.append((choice.index, texts, written(choice.message), choice.finish_reason))
    return found


def thoughts(message: ChatCompletionMessage) -> tuple[str | None, str | None]:
    extra = message.model_extra or {}
    return extra.get("reasoning"), extra.get("reasoning_content")


def written(message: ChatCompletionMessage) -> list[tuple[str, str]]:
    return [(one.function.name, one.function.arguments) for one in message.tool_calls or [] if one.type == "function"]


def values(calls: Sequence[tuple[str, str]]) -> list[tuple[str, Any]]:
    return [(name, json.loads(arguments)) for name, arguments in calls]


def check_order(chunks: list[Any]) -> None:
    """One identity, one role, each call opened once with all it has, its fragments before the next, one reason, then usage."""
    assert len({(chunk.id, chunk.created, chunk.model, chunk.object) for chunk in chunks}) == 1
    assert chunks[-1].choices == []
    assert [chunk.usage is None for chunk in chunks] == [True] * (len(chunks) - 1) + [False]
    choices = [chunk.choices[0] for chunk in chunks[:-1]]
    assert [choice.delta.role for choice in choices] == ["assistant"] + [None] * (len(choices) - 1)
    assert [choice.finish_reason is None for choice in choices] == [True] * (len(choices) - 1) + [False]
    opened = -1
    for part in [part for choice in choices for part in choice.delta.tool_calls or []]:
        if part.id is not None:
            opened += 1
            assert (part.type, part.function.arguments) == ("function", "")
            assert part.function.name
        else:
            assert (part.type, part.function.name) == (None, None)
            assert part.function.arguments
        assert part.index == opened


@pytest.mark.parametrize("question", ASKED)
def test_what_the_model_wrote_comes_back(ask: Asker, question: str) -> None:
    if question not in ask.turns:
        pytest.skip("this family has no place for it")
    wanted = ASKED[question]
    answer = ask(question).choices[0]
    assert answer.message.content == wanted.content
    assert thoughts(answer.message) == (wanted.reasoning, wanted.reasoning)
    assert values(written(answer.message)) == values([(one.name, one.arguments) for one in wanted.tool_calls])
    assert answer.finish_reason == ("tool_calls" if wanted.tool_calls else "stop")


def test_the_result_of_a_call_leads_to_an_answer(ask: Asker) -> None:
    made = ask("one").choices[0].message
    history = [
        {"role": "user", "content": "one"},
        made.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": made.tool_calls[0].id, "content": "booked: room 7"},
    ]
    answer = ask(history).choices[0]
    assert (answer.message.content, answer.message.tool_calls, answer.finish_reason) == (RESULT.content, None, "stop")


def test_a_call_that_is_demanded(ask: Asker) -> None:
    room = [tool("book_room", strict=True, **ROOM), tool("ping", strict=True)]
    named = {"type": "function", "function": {"name": "book_room"}}
    for choice, reason in (("auto", "tool_calls"), ("required", "tool_calls"), (named, "stop")):
        answer = ask("one", tools=room, tool_choice=choice).choices[0]
        assert values(written(answer.message)) == [("book_room", BOOK)]
        assert answer.finish_reason == reason


def test_a_demand_that_is_not_met_is_an_error(ask: Asker) -> None:
    wrong = [tool("book_room", strict=True, title="integer")]
    for question, tools, choice in (("text", TOOLS, "required"), ("one", wrong, "auto")):
        with pytest.raises(openai.InternalServerError) as whole:
            ask(question, tools=tools, tool_choice=choice)
        assert whole.value.code == "tool_call_invalid"
        with pytest.raises(openai.APIError) as streamed:
            ask.streamed({"model": ask.family, "messages": [{"role": "user", "content": question}], "tools": tools,
                          "tool_choice": choice})  # fmt: skip
        assert streamed.value.code == "tool_call_invalid"


def test_no_call_where_none_is_wanted(ask: Asker) -> None:
    for fields in ({"tool_choice": "none"}, {"tools": []}, {"tools": [tool("other")]}):
        answer = ask("one", **fields).choices[0]
        assert answer.message.tool_calls is None
        assert "book_room" in (answer.message.content or "")
        assert answer.finish_reason == "stop"


def test_one_call_where_one_is_wanted(ask: Asker) -> None:
    if "two" not in ask.turns:
        pytest.skip("this family writes one call at a time")
    answer = ask("two", parallel_tool_calls=False).choices[0]
    assert values(written(answer.message)) == [("book_room", BOOK)]
    assert answer.finish_reason == "tool_calls"


def test_a_turn_that_was_cut(ask: Asker) -> None:
    whole = ask("one")
    ((_, wanted),) = written(whole.choices[0].message)
    length = whole.usage.completion_tokens
    for most in (1, length // 3, length // 2, length - 2):
        answer = ask("one", max_tokens=most)
        assert answer.choices[0].finish_reason == "length"
        assert answer.usage.completion_tokens == most
        for name, arguments in written(answer.choices[0].message):
            assert name == "book_room"
            assert begun_behind(wanted, arguments).replace("\\n", "\n") in ask.turns["one"]


def begun_behind(wanted: str, arguments: str) -> str:
    """What arguments that were cut have beside the wanted: where a value was cut, what was begun behind it may be markup."""
    same = next((at for at, (one, other) in enumerate(zip(wanted, arguments, strict=False)) if one != other), len(arguments))
    return arguments[same:]
