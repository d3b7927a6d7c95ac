"""Custom tools through the official `openai` client over a real socket, streamed and whole."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.server import Gateway, replay_model, serving

CODE = 'print("å 😀")\n# \\ </tool_call>'


def call(name: str, **arguments: Any) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}\n</tool_call>'


TURNS: list[dict[str, Any]] = [
    {"match": "done", "role": "tool", "text": "It ran."},
    {"match": "run", "pieces": list("I run it.\n" + call("run_code", input=CODE))},
    {"match": "both", "text": call("run_code", input="1") + "\n" + call("ping") + "\n" + call("run_code", input="2")},
    {"match": "other", "text": call("run_code", code="1")},
    {"match": "sum", "text": call("add", input="4 + 4")},
    {"match": "wrong", "text": call("add", input="4 plus 4")},
    {"match": "cut", "text": '<tool_call>\n{"name": "run_code", "arguments": {"input": "pri', "finish": "length"},
    {"match": None, "text": "Hello."},
]
RUN = {"type": "custom", "custom": {"name": "run_code", "description": "Runs Python."}}
PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
LARK = 'start: INT (" + " INT)*\n%import common.INT'


def add(syntax: str, definition: str) -> dict[str, Any]:
    grammar = {"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}}
    return {"type": "custom", "custom": {"name": "add", "format": grammar}}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Any:
    """Calls as (type, name, text), the content and the finish reason; whole, or put together from the chunks."""

    def asked(messages: str | list[Any], **fields: Any) -> tuple[list[tuple[str, str, str]], str | None, str]:
        given: dict[str, Any] = {"model": "scripted", "tools": [RUN, PING], **fields}
        given["messages"] = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        if request.param == "streamed":
            return joined(list(client.chat.completions.create(stream=True, **given)))
        choice = client.chat.completions.create(**given).choices[0]
        return (
            [shown(made.model_dump()) for made in choice.message.tool_calls or []],
            choice.message.content,
            choice.finish_reason,
        )

    return asked


def shown(made: dict[str, Any]) -> tuple[str, str, str]:
    assert made["id"].startswith("call_")
    inner = made[made["type"]]
    return made["type"], inner["name"], inner["input" if made["type"] == "custom" else "arguments"]


def joined(chunks: list[Any]) -> tuple[list[tuple[str, str, str]], str | None, str]:
    calls: dict[int, dict[str, Any]] = {}
    for piece in (piece.model_dump() for chunk in chunks for piece in chunk.choices[0].delta.tool_calls or []):
        made = calls.setdefault(piece["index"], piece)
        inner = made[made["type"]]
        if made is not piece:
            key = "input" if made["type"] == "custom" else "arguments"
            inner[key] += piece[made["type"]][key]
    content = "".join(chunk.choices[0].delta.content or "" for chunk in chunks) or None
    return [shown(calls[index]) for index in sorted(calls)], content, chunks[-1].choices[0].finish_reason


def test_a_call_carries_text(ask: Any) -> None:
    assert ask("run") == ([("custom", "run_code", CODE)], "I run it.", "tool_calls")


def test_beside_functions(ask: Any) -> None:
    calls = [("custom", "run_code", "1"), ("function", "ping", "{}"), ("custom", "run_code", "2")]
    assert ask("both") == (calls, None, "tool_calls")


def test_arguments_of_another_shape_are_shown_as_they_are(ask: Any) -> None:
    assert ask("other")[0] == [("custom", "run_code", '{"code": "1"}')]


def test_a_cut_call(ask: Any) -> None:
    assert ask("cut") == ([("custom", "run_code", "pri")], None, "length")


def test_the_text_comes_piece_by_piece(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "run"}]
    tools: Any = [RUN]
    stream = client.chat.completions.create(model="scripted", messages=messages, tools=tools, stream=True)
    pieces = [piece.model_dump() for chunk in stream for piece in chunk.choices[0].delta.tool_calls or []]
    assert pieces[0]["type"] == "custom"
    assert pieces[0]["custom"] == {"name": "run_code", "input": ""}
    assert [set(piece["custom"]) for piece in pieces[1:]] == [{"input"}] * len(CODE)


@pytest.mark.parametrize("choice", [{"type": "custom", "custom": {"name": "run_code"}}, {"type": "custom", "name": "run_code"}])
def test_the_named_tool(ask: Any, choice: dict[str, Any]) -> None:
    assert ask("run", tool_choice=choice)[::2] == ([("custom", "run_code", CODE)], "stop")


def test_allowed_tools(ask: Any) -> None:
    allowed = {"mode": "required", "tools": [{"type": "custom", "custom": {"name": "run_code"}}]}
    assert ask("run", tool_choice={"type": "allowed_tools", "allowed_tools": allowed})[0] == [("custom", "run_code", CODE)]


def test_history(ask: Any) -> None:
    made = {"id": "call_1", "type": "custom", "custom": {"name": "run_code", "input": CODE}}
    messages = [
        {"role": "user", "content": "run"},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    ]
    assert ask(messages) == ([], "It ran.", "stop")


@pytest.mark.parametrize("tool", [add("regex", r"\d+( \+ \d+)*"), add("lark", LARK)])
def test_a_grammar_is_kept(ask: Any, tool: dict[str, Any]) -> None:
    assert ask("sum", tools=[tool]) == ([("custom", "add", "4 + 4")], None, "tool_calls")
    with pytest.raises(openai.APIError) as refused:
        ask("wrong", tools=[tool])
    assert refused.value.code == "tool_call_invalid"


@pytest.mark.parametrize(
    ("tool", "param", "words"),
    [
        (add("lark", 'start: "(" start ")" | "x"'), "tools[0].custom.format.grammar.definition", "start refers to itself"),
        (add("regex", "(a"), "tools[0].custom.format.grammar.definition", "not a regular expression"),
        (add("regex", "a(?=b)"), "tools[0].custom.format.grammar.definition", "lookaround is not supported"),
        (add("regex", "(a)\\1"), "tools[0].custom.format.grammar.definition", "a backreference"),
        (add("regex", "a" * 40000), "tools[0].custom.format.grammar.definition", "too large"),
        (add("ebnf", "x"), "tools[0].custom.format.grammar.syntax", "Supported values are: 'lark' and 'regex'"),
        ({"type": "custom"}, "tools[0].custom", "Missing required parameter"),
        ({"type": "custom", "custom": {"name": "x", "format": {"type": "grammar"}}}, "tools[0].custom.format.grammar", "Missing"),
    ],
)
def test_what_is_refused(client: openai.OpenAI, tool: Any, param: str, words: str) -> None:
    messages: Any = [{"role": "user", "content": "hi"}]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="scripted", messages=messages, tools=[tool])
    assert refused.value.param == param
    assert words in refused.value.message
