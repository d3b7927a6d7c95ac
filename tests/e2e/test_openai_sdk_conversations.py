"""The official `openai` client's conversations, and conversations made shorter, over a real socket with both stores."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from openai.types.conversations import ConversationItem
from pydantic import TypeAdapter

from gateway.protocols.responses.seal import unsealed
from tests.support.planned import hermes_call
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import SLOW_TURN, Gateway, replay_model, serving

TURNS = [
    {"match": "sunny", "role": "tool", "text": "It is sunny."},
    {"match": "Summarise", "text": "<think>\nHm.\n</think>\n\nThe user asked for the weather in Bern; it is sunny."},
    {"match": "weather", "text": hermes_call("get_weather", {"city": "Bern"})},
    {"match": "cut", "text": "never whole", "finish": "length"},
    SLOW_TURN,
    {"match": None, "text": "Hello!"},
]
ITEMS: TypeAdapter[Any] = TypeAdapter(ConversationItem)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
TOOL: Any = {"type": "function", "name": "get_weather", "description": "", "parameters": SCHEMA, "strict": True}


@pytest.fixture(scope="module", params=["memory", "redis"])
def gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    models = [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]
    if request.param == "memory":
        with serving({"models": models}) as running:
            yield running
    elif PROGRAM is None:
        pytest.skip(MISSING)
    else:
        with redis_server() as url, serving({"store": {"kind": "redis", "url": url}, "models": models}) as running:
            yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="mine", max_retries=0) as made:
        yield made


def said(client: openai.OpenAI, conversation_id: str) -> list[tuple[str, str]]:
    """The conversation's items from the first on: what each is and says. Every one must be what the client's types expect."""
    found = []
    for item in client.conversations.items.list(conversation_id, order="asc", limit=2):  # more pages than one
        read = ITEMS.validate_python(item.to_dict())
        text = read.content[0].text if read.type == "message" else getattr(read, "output", getattr(read, "arguments", ""))
        found.append((getattr(read, "role", read.type), text))
    return found


def test_a_conversation_grows_with_its_responses(client: openai.OpenAI) -> None:
    made = client.conversations.create(
        items=[{"type": "message", "role": "developer", "content": "Be brief."}], metadata={"topic": "weather"}
    )
    assert (made.object, made.metadata) == ("conversation", {"topic": "weather"})
    first = client.responses.create(model="scripted", input="weather?", conversation=made.id, tools=[TOOL])
    assert first.conversation is not None
    assert first.conversation.id == made.id
    call = first.output[-1]
    assert call.type == "function_call"
    result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
    with client.responses.stream(model="scripted", input=result, conversation={"id": made.id}, tools=[TOOL]) as stream:
        assert stream.get_final_response().output_text == "It is sunny."
    assert said(client, made.id) == [
        ("developer", "Be brief."),
        ("user", "weather?"),
        ("function_call", '{"city": "Bern"}'),
        ("function_call_output", "sunny"),
        ("assistant", "It is sunny."),
    ]
    whole = client.responses.input_tokens.count(model="scripted", input="hi", conversation=made.id)
    alone = client.responses.input_tokens.count(model="scripted", input="hi")
    assert whole.input_tokens > alone.input_tokens


def test_items_are_added_read_and_taken_out(client: openai.OpenAI) -> None:
    made = client.conversations.create()
    added = client.conversations.items.create(
        made.id, items=[{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    )
    assert (added.has_more, added.first_id, added.last_id) == (False, added.data[0].id, added.data[1].id)
    one = client.conversations.items.retrieve(added.data[0].id, conversation_id=made.id)
    assert one == added.data[0]
    assert client.conversations.items.delete(added.data[0].id, conversation_id=made.id).id == made.id
    assert said(client, made.id) == [("assistant", "two")]
    with pytest.raises(openai.NotFoundError, match="not found in conversation"):
        client.conversations.items.retrieve(added.data[0].id, conversation_id=made.id)
    latest = client.conversations.items.create(made.id, items=[{"role": "user", "content": "three"}])
    newest_first = client.conversations.items.list(made.id)
    assert [item.id for item in newest_first.data] == [latest.data[0].id, added.data[1].id]
    again = client.responses.create(
        model="scripted", input=[{"type": "item_reference", "id": latest.data[0].id}], conversation=made.id
    )
    assert again.output_text == "Hello!"


def test_a_conversation_is_described_and_forgotten(client: openai.OpenAI) -> None:
    made = client.conversations.create(metadata={"a": "1"}, items=[{"role": "user", "content": "x"}])
    assert client.conversations.update(made.id, metadata={"b": "2"}).metadata == {"b": "2"}
    assert client.conversations.retrieve(made.id).metadata == {"b": "2"}
    assert client.conversations.delete(made.id).deleted
    for ask in (
        lambda: client.conversations.retrieve(made.id),
        lambda: client.conversations.delete(made.id),
        lambda: client.conversations.update(made.id, metadata={}),
        lambda: client.conversations.items.list(made.id),
        lambda: client.conversations.items.create(made.id, items=[]),
        lambda: client.responses.create(model="scripted", input="hi", conversation=made.id),
    ):
        with pytest.raises(openai.NotFoundError, match=f"Conversation with id '{made.id}' not found"):
            ask()


def test_a_conversation_belongs_to_one_key(gateway: Gateway, client: openai.OpenAI) -> None:
    made = client.conversations.create()
    with openai.OpenAI(base_url=gateway.base_url, api_key="other", max_retries=0) as other:
        with pytest.raises(openai.NotFoundError):
            other.conversations.retrieve(made.id)
        with pytest.raises(openai.NotFoundError):
            other.responses.create(model="scripted", input="hi", conversation=made.id)


@pytest.mark.parametrize(
    ("items", "param"),
    [
        ([{"role": "user"}], "items[0].content"),
        ([{"role": "user", "content": "x"}, {"type": "nope"}], "items[1].type"),
        ([{"type": "function_call_output", "call_id": "c", "output": ""}], "input"),
        ([{"type": "item_reference", "id": "msg_nobody"}], "items"),
        ([{"role": "user", "content": "x"}] * 21, "items"),
        ("x", "items"),
    ],
)
def test_items_that_are_wrong_are_not_kept(client: openai.OpenAI, items: Any, param: str) -> None:
    made = client.conversations.create()
    for ask in (
        lambda: client.conversations.create(items=items),
        lambda: client.conversations.items.create(made.id, items=items),
    ):
        with pytest.raises((openai.BadRequestError, openai.NotFoundError)) as caught:
            ask()
        assert caught.value.param == param
    assert said(client, made.id) == []


def test_a_conversation_and_a_previous_response_exclude_one_another(client: openai.OpenAI) -> None:
    made = client.conversations.create()
    first = client.responses.create(model="scripted", input="hi")
    with pytest.raises(openai.BadRequestError, match="Mutually exclusive"):
        client.responses.create(model="scripted", input="hi", conversation=made.id, previous_response_id=first.id)


def test_only_what_was_answered_is_added(client: openai.OpenAI, gateway: Gateway) -> None:
    made = client.conversations.create()
    with client.responses.create(model="scripted", input="slow", conversation=made.id, stream=True) as stream:
        next(iter(stream))
    assert gateway.wait_until_idle()
    assert said(client, made.id) == []
    client.responses.create(model="scripted", input="cut", conversation=made.id, store=False)
    assert said(client, made.id) == [("user", "cut"), ("assistant", "never whole")]


def test_answers_at_the_same_time_all_find_their_place(client: openai.OpenAI) -> None:
    made = client.conversations.create()

    def ask(number: int) -> None:
        client.responses.create(model="scripted", input=f"hi {number}", conversation=made.id)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    found = said(client, made.id)
    assert sorted(text for role, text in found if role == "user") == [f"hi {number}" for number in range(8)]
    assert [role for role, _ in found] == ["user", "assistant"] * 8


def test_a_conversation_in_the_background(client: openai.OpenAI) -> None:
    made = client.conversations.create()
    with client.responses.create(model="scripted", input="hi", conversation=made.id, background=True, stream=True) as stream:
        assert [event.type for event in stream][-1] == "response.completed"
    assert said(client, made.id) == [("user", "hi"), ("assistant", "Hello!")]


WEATHER: Any = [
    {"role": "user", "content": "weather?"},
    {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Bern"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    {"role": "assistant", "content": "It is sunny."},
]
SUMMARY = "The user asked for the weather in Bern; it is sunny."


def test_a_conversation_is_made_shorter(client: openai.OpenAI) -> None:
    short = client.responses.compact(model="scripted", input=WEATHER, instructions="Be brief.")
    assert short.object == "response.compaction"
    assert [item.type for item in short.output] == ["message", "compaction"]
    user, summary = short.output
    assert user.type == "message"
    assert [part.text for part in user.content] == ["weather?"]  # type: ignore[union-attr]
    assert summary.type == "compaction"
    assert unsealed(summary.encrypted_content) == SUMMARY
    assert short.usage.output_tokens > 0
    window: Any = [*(item.to_dict(warnings=False) for item in short.output), {"role": "user", "content": "and now?"}]
    assert client.responses.create(model="scripted", input=window).output_text == "Hello!"


def test_a_kept_conversation_is_made_shorter(client: openai.OpenAI) -> None:
    first = client.responses.create(model="scripted", input="hi")
    short = client.responses.compact(model="scripted", previous_response_id=first.id)
    assert [item.type for item in short.output] == ["message", "compaction"]
    with pytest.raises(openai.BadRequestError, match="not found"):
        client.responses.compact(model="scripted", previous_response_id="resp_x")


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_that_is_a_summary(client: openai.OpenAI, stream: bool) -> None:
    given: Any = [*WEATHER, {"type": "compaction_trigger"}]
    if stream:
        with client.responses.stream(model="scripted", input=given) as events:
            kinds = [event.type for event in events]
            answer = events.get_final_response()
        assert kinds[2:-1] == ["response.output_item.added", "response.output_item.done"]
    else:
        answer = client.responses.create(model="scripted", input=given)
    (summary,) = answer.output
    assert summary.type == "compaction"
    assert unsealed(summary.encrypted_content) == SUMMARY
    short = client.responses.input_tokens.count(model="scripted", input="on", previous_response_id=answer.id).input_tokens
    whole = client.responses.input_tokens.count(model="scripted", input=[*WEATHER, {"role": "user", "content": "on"}])
    assert short != whole.input_tokens
    assert client.responses.create(model="scripted", input="on", previous_response_id=answer.id).output_text == "Hello!"
