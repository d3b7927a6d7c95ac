"""Random turns of a family: its own markers, pieces of them, JSON, names, prose, and written messages that were damaged."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import strategies as st

import parsers
from parsers.automaton import opening_texts, reachable
from parsers.description import JsonArguments, JsonCall, Marker, NameKeyedCall, PythonCall, TaggedArguments, Text
from parsers.parser import compiled

TOOLS = [
    parsers.Tool(
        "get_weather",
        parameters={"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    ),
    parsers.Tool(
        "save",
        parameters={
            "$defs": {"tags": {"type": "array", "items": {"type": "string"}}},
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "tags": {"$ref": "#/$defs/tags"},
                "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "options": {"type": "object"},
                "share": {"type": "number"},
                "sure": {"type": "boolean"},
            },
        },
    ),
    parsers.Tool("now"),
]
NESTING = (JsonArguments, JsonCall, NameKeyedCall, PythonCall, TaggedArguments)
"""Leaves that hold any JSON value."""
TOOLSETS = (None, TOOLS, ())

NAMES = ("get_weather", "save", "now", "launch", "get_wea", '"now"', "函数", "a.b-c")
KEYS = ("city", "days", "text", "tags", "when", "options", "share", "sure", "arguments", "input", "x")
JSON_PIECES = (
    '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    '{"name": "get_weather", "parameters": {"city": "Oslo", "days": 3}}',
    '{"arguments": {"city": "Oslo"}, "name": "get_weather"}',
    '{"name": "now"}',
    '{"name": "now", "arguments": null}',
    '{"name": "now", "arguments": ""}',
    '{"name": "save", "arguments": "{\\"text\\": \\"a\\"}"}',
    '{"name": "launch", "arguments": {}}',
    '{"type": "function", "function": {"name": "now", "arguments": {}}}',
    '{"function": "now", "parameters": {}}',
    '"name": "now"',
    '"arguments": {"text": "a\\n\\u00e9\\"',
    '{"city": "Oslo"}',
    '{"text": "</tool_call> {[\\\\"}',
    "{'text': 'it''s', 'sure': True, 'when': None,}",
    '{"text": "raw\nline\ttab"}',
    '"\\ud83c\\udf89"',
    "[1, 2.50, -0.1e+5, 123456789012345678901234567890]",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    ": ",
    "(",
    ")",
    "=",
    ">",
    "<",
    "null",
    "true",
    "None",
    "1.0",
)
PYTHON_PIECES = (
    "[get_weather(city='Oslo', days=3)]",
    "[now(), save(text=\"it's\", tags=['a', 'b'])]",
    "get_weather(city='",
    "now()",
    "save(options={'a': (1, 2), 'b': {}}, share=-.5, sure=True)",
    "launch(x=1)",
)  # fmt: skip
PROSE = (
    "Let me look.",
    "The ",
    "tag wraps",
    "a < b",
    "x",
    "é",
    "e\u0301",
    "🎉",
    "東京",
    "\u00a0",
    "\u200b",
    "\x00",
    "｜",
    "▁",
    "```",
    "```json",
)
LONG = ("y" * 300, " " * 300, "\n" * 300, '"' + "k" * 300, "<" + "p" * 600)
SPACE = ("\n", " ", "\n\n", "\t", "\r\n", "  \n ")


@cache
def markers(name: str) -> tuple[str, ...]:
    """Every fixed text of a family: markers with their spellings, beginnings of regions, closers of values, ends of the turn."""
    fmt = parsers.get(name)
    found: dict[str, None] = dict.fromkeys(fmt.stop)
    for position in reachable(compiled(fmt)):
        leaf = position.leaf
        if isinstance(leaf, Marker):
            found.update(dict.fromkeys(leaf.texts()))
        if isinstance(leaf, TaggedArguments):
            found.update(dict.fromkeys((*opening_texts(leaf), leaf.close.strip(), *_headers(leaf))))
    return tuple(found)


def _headers(leaf: TaggedArguments) -> Iterator[str]:
    for key in KEYS:
        for string in ("true", "false") if "{string}" in leaf.header else ("",):
            yield leaf.header.replace("{key}", key).replace("{string}", string).strip()
        yield leaf.header.replace("{key}", key).replace(' string="{string}"', "").strip()


@cache
def openings(name: str) -> tuple[str, ...]:
    """What a prompt may have written of the turn: nothing, an open block of reasoning, a closed one."""
    pairs: list[str] = [""]
    for position in reachable(compiled(parsers.get(name))):
        text = position.text
        if isinstance(position.leaf, Marker) and text is not None and text.leaf == Text("reasoning"):
            closers = [marker for marker, target in text.markers.items() if target.text is not None]
            opener = position.leaf.text
            pairs += [opener, f"{opener}\n", *(f"{opener}\n\n{closer}\n\n" for closer in closers[:1])]
    return tuple(dict.fromkeys(pairs))


@cache
def prompts(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What may be known of the prompt."""
    return st.fixed_dictionaries({"opening": st.sampled_from(openings(name)), "prompt_known": st.booleans()})


words = st.lists(st.sampled_from("alpha beta gamma Oslo été 東京 🎉 don't 3.5".split()), min_size=1, max_size=4).map(" ".join)
"""Plain text, with nothing in it that any family uses as a marker."""

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | words
    | st.sampled_from((1.5, "line\nline", 'say "hi"', "true", "12"))
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("a", "b c", "é")), inner, max_size=2),
    max_leaves=5,
)


def _arguments(members: dict[str, object]) -> str:
    return json.dumps(members, ensure_ascii=False)


def _calls(name: str) -> st.SearchStrategy[parsers.ToolCall]:
    nests = any(isinstance(p.leaf, NESTING) for p in reachable(compiled(parsers.get(name))))
    return st.builds(
        lambda tool, members: parsers.ToolCall(tool, _arguments(members)),
        st.sampled_from(("get_weather", "save", "now", "launch")),
        st.dictionaries(
            st.sampled_from(("city", "days", "text", "tags", "when", "x1")), values if nests else scalars, max_size=3
        ),
    )


def messages(name: str) -> st.SearchStrategy[parsers.Message]:
    """Messages of plain words and JSON arguments, as far as the family has a place for them.

    Where a value inside a value has no type of its own, arguments are scalars here.
    """
    reasoning = st.none() | words if len(openings(name)) > 1 else st.none()
    tool_calls = st.lists(_calls(name), max_size=3 if parsers.get(name).parallel else 1).map(tuple)
    return st.builds(parsers.Message, content=st.none() | words, reasoning=reasoning, tool_calls=tool_calls)


def _damaged(text: str, edits: list[tuple[int, int, str]]) -> str:
    for at, length, inserted in edits:
        start = at % (len(text) + 1)
        text = text[:start] + inserted + text[start + length :]
    return text


def _written(fmt: parsers.Format, message: parsers.Message) -> str:
    try:
        return parsers.write(fmt, message)
    except parsers.UnwritableError:
        return "."


@cache
def turns(name: str) -> st.SearchStrategy[str]:
    """Turns as no one would write them, near to what the model does."""
    fmt = parsers.get(name)
    known = st.sampled_from(markers(name))
    fragment = st.builds(lambda text, a, b: text[a % (len(text) + 1) :][: b + 1], known, st.integers(0, 9), st.integers(0, 9))
    piece = st.one_of(
        known, known, fragment, st.sampled_from(JSON_PIECES), st.sampled_from(PYTHON_PIECES), st.sampled_from(NAMES),
        st.sampled_from(PROSE), st.sampled_from(SPACE), st.sampled_from(SPACE), st.sampled_from(LONG),
    )  # fmt: skip
    mixed = st.lists(piece, max_size=14).map("".join)
    edit = st.tuples(st.integers(0, 400), st.integers(0, 12), st.just("") | piece)
    edits = st.lists(edit, max_size=3)
    damaged = st.builds(lambda message, changes: _damaged(_written(fmt, message), changes), messages(name), edits)
    return st.one_of(mixed, damaged, st.builds("".join, st.tuples(mixed, damaged)))


def cut(text: str, lengths: list[int]) -> list[str]:
    """The text in pieces of these lengths, over and over."""
    pieces: list[str] = []
    at = count = 0
    while at < len(text):
        length = lengths[count % len(lengths)]
        pieces.append(text[at : at + length])
        at, count = at + length, count + 1
    return pieces


def read(
    fmt: parsers.Format, pieces: list[str], *, finish: str = "stop", tools: parsers.Tools = None, **prompt: Any
) -> list[parsers.Event]:
    """All events of a turn that arrives in these pieces; `prompt` is what Parser is told of it."""
    parser = parsers.Parser(fmt, tools=tools, **prompt)
    events: list[parsers.Event] = []
    for piece in pieces:
        events += parser.feed(piece)
    return events + parser.finish(finish)
