"""Law: the decode-time grammar lets through what a family writes, not what breaks a schema; what it lets through is calls."""

import json
from itertools import islice

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import parsers
from parsers.grammars.tree import thinking_of
from parsers.writer import written
from tests.support.decoders import refusal, wander
from tests.support.turns import markers

DIALECTS = ("structural_tag", "lark")
WEATHER = parsers.Tool(
    "get_weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 16},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "place": {"$ref": "#/$defs/place"},
            "share": {"type": "number"},
            "sure": {"type": ["boolean", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city", "unit"],
        "additionalProperties": False,
        "$defs": {
            "place": {
                "type": "object",
                "properties": {"lat": {"type": "number"}, "indoors": {"type": "boolean"}},
                "required": ["lat"],
                "additionalProperties": False,
            }
        },
    },
)
NOW = parsers.Tool("now")
TOOLS = (WEATHER, NOW)
CHECKS = {
    "get_weather": jsonschema_rs.validator_for(dict(WEATHER.parameters)),
    "now": jsonschema_rs.validator_for({"type": "object", "additionalProperties": False}),
}
BROKEN: list[dict[str, object]] = [
    {"city": "Oslo", "days": "many", "unit": "celsius"},
    {"city": "Oslo", "days": 17, "unit": "celsius"},
    {"city": "Oslo", "unit": "kelvin"},
    {"city": "Oslo", "unit": "celsius", "sure": "perhaps"},
    {"city": "Oslo", "unit": "celsius", "place": {"indoors": True}},
    {"city": "Oslo", "unit": "celsius", "mood": "good"},
    {"unit": "celsius"},
    {},
]
PIECES = (
    '"',
    "}",
    "]",
    ", ",
    ",",
    ": ",
    " ",
    "\n",
    "a",
    "Oslo",
    "été",
    "🎉",
    "1",
    "12",
    "-",
    "0.5",
    "true",
    "null",
    "'",
    "\\n",
    "<",
    "</",
)

text = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), max_size=20)
place = st.one_of(
    st.builds(lambda lat: {"lat": lat}, st.integers(-90000, 90000).map(lambda n: n / 1000)),
    st.builds(lambda lat, indoors: {"lat": lat, "indoors": indoors}, st.integers(-90, 90), st.booleans()),
)
weather = st.fixed_dictionaries(
    {"city": text, "unit": st.sampled_from(["celsius", "fahrenheit"])},
    optional={
        "days": st.integers(1, 16),
        "place": place,
        "share": st.integers(-(10**9), 10**9).map(lambda n: n / 1000),
        "sure": st.none() | st.booleans(),
        "tags": st.lists(text, max_size=2),
    },
).map(lambda found: {key: found[key] for key in WEATHER.parameters["properties"] if key in found})
calls = st.one_of(weather.map(lambda found: _call(found)), st.just(parsers.ToolCall("now", "{}")))
family = pytest.mark.parametrize("name", parsers.names())
dialects = pytest.mark.parametrize("dialect", DIALECTS)
few = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def _call(arguments: dict[str, object]) -> parsers.ToolCall:
    return parsers.ToolCall("get_weather", json.dumps(arguments, ensure_ascii=False))


def _written(name: str, message: parsers.Message) -> str:
    try:
        return parsers.write(parsers.get(name), message)
    except parsers.UnwritableError:
        assume(False)
        raise


def _read(name: str, text: str, opening: str = "") -> parsers.Message:
    parser = parsers.Parser(parsers.get(name), tools=TOOLS, opening=opening)
    return parsers.fold(parser.feed(text) + parser.finish("stop"))


def _valid(call: parsers.ToolCall) -> bool:
    return call.complete and CHECKS[call.name].is_valid(json.loads(call.arguments))


def _begin_a_marker(name: str, several: list[parsers.ToolCall]) -> bool:
    """Whether texts in a JSON value hold the beginning of a marker, which is kept out of values between tags."""
    texts = [text for call in several for text in json.loads(call.arguments).get("tags", ())]
    return any(marker[:2] in text for marker in markers(name) for text in texts)


# ---- what the family writes is let through
@family
@dialects
@few
@given(data=st.data())
def test_written_turns_are_let_through(name, dialect, data):
    fmt = parsers.get(name)
    several = data.draw(st.lists(calls, min_size=1, max_size=3 if fmt.parallel else 1))
    assume(not _begin_a_marker(name, several))
    required = _written(name, parsers.Message(tool_calls=tuple(several)))
    assert refusal(parsers.constraint(fmt, TOOLS, "required", dialect=dialect), required) is None, required
    free = _written(name, parsers.Message(content="Let me look.", tool_calls=tuple(several)))
    assert refusal(parsers.constraint(fmt, TOOLS, "auto", dialect=dialect), free) is None, free


@family
@dialects
def test_text_alone_is_free_only_when_no_call_is_required(name, dialect):
    fmt = parsers.get(name)
    plain = parsers.write(fmt, parsers.Message(content="It is sunny, 3 < 4."))
    assert refusal(parsers.constraint(fmt, TOOLS, "auto", dialect=dialect), plain) is None
    assert refusal(parsers.constraint(fmt, TOOLS, "required", dialect=dialect), plain) is not None


@family
@dialects
def test_one_call_only(name, dialect):
    fmt = parsers.get(name)
    call = parsers.ToolCall("now", "{}")
    one = parsers.write(fmt, parsers.Message(tool_calls=(call,)))
    for choice in ("auto", "required", "now", {"type": "function", "function": {"name": "now"}}):
        assert refusal(parsers.constraint(fmt, TOOLS, choice, parallel=False, dialect=dialect), one) is None
    other = parsers.constraint(fmt, TOOLS, "get_weather", dialect=dialect)
    assert refusal(other, one) is not None
    try:
        two = parsers.write(fmt, parsers.Message(tool_calls=(call, call)))
    except parsers.UnwritableError:
        return
    assert (refusal(parsers.constraint(fmt, TOOLS, "required", dialect=dialect), two) is None) == fmt.parallel
    for choice in ("auto", "required", "now"):
        assert refusal(parsers.constraint(fmt, TOOLS, choice, parallel=False, dialect=dialect), two) is not None


# ---- what breaks a schema is not
@family
@dialects
def test_broken_arguments_are_refused(name, dialect):
    fmt = parsers.get(name)
    for broken in BROKEN:
        assert not CHECKS["get_weather"].is_valid(broken)
        turn = written(fmt, parsers.Message(tool_calls=(_call(broken),)))
        for choice in ("auto", "required"):
            assert refusal(parsers.constraint(fmt, TOOLS, choice, dialect=dialect), turn) is not None, turn


@family
@dialects
def test_undeclared_tools_are_refused(name, dialect):
    fmt = parsers.get(name)
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("launch", "{}"),)))
    assert refusal(parsers.constraint(fmt, TOOLS, "required", dialect=dialect), turn) is not None


# ---- what is let through is calls
@family
@dialects
@pytest.mark.parametrize("choice", ["auto", "required", "get_weather"])
def test_whatever_is_let_through_parses_to_valid_calls(name, dialect, choice):
    fmt = parsers.get(name)
    constraint = parsers.constraint(fmt, TOOLS, choice, dialect=dialect)
    pieces = [*(marker for marker in markers(name) if marker not in fmt.stop), *PIECES]
    pieces += [parsers.write(fmt, parsers.Message(tool_calls=(_call({"city": "a", "unit": "celsius"}),)))] * 4
    thinking = thinking_of(fmt.turn)
    pieces += [closer + thinking.after for closer in thinking.closers] * 2 if thinking is not None else []
    walks = (wander(constraint, pieces, seed=seed) for seed in range(25))
    turns = list(islice((turn for turn in walks if turn is not None), 3))
    assert turns, "no walk came to an end"
    for turn in turns:
        message = _read(name, turn)
        assert all(map(_valid, message.tool_calls)), turn
        if choice != "auto":
            assert message.tool_calls, turn
            assert not (message.content or "").strip(), turn


# ---- thinking
@family
@dialects
def test_thinking_cannot_replace_a_call(name, dialect):
    fmt = parsers.get(name)
    thinking = thinking_of(fmt.turn)
    call = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("now", "{}"),)))
    if thinking is None:
        return
    whole = parsers.write(fmt, parsers.Message(reasoning="hm", tool_calls=(parsers.ToolCall("now", "{}"),)))
    opener = next(text for text in thinking.openers if text in whole)
    behind = whole.partition(opener)[2]
    ahead = parsers.constraint(fmt, TOOLS, "required", dialect=dialect)
    still_open = parsers.constraint(fmt, TOOLS, "required", dialect=dialect, opening=opener)
    over = parsers.constraint(
        fmt, TOOLS, "required", dialect=dialect, opening=f"{opener}\n\n{thinking.closers[0]}{thinking.after}"
    )
    assert refusal(ahead, whole) is None
    assert refusal(ahead, call) is None
    assert refusal(still_open, behind) is None
    assert refusal(over, call) is None
    assert refusal(over, whole) is not None
    only_thought = whole.partition(call)[0]
    assert refusal(ahead, only_thought) is not None
    assert refusal(still_open, only_thought.partition(opener)[2]) is not None


# ---- what has no constraint
@dialects
def test_nothing_to_constrain(dialect):
    fmt = parsers.get("hermes")
    assert parsers.constraint(fmt, TOOLS, "none", dialect=dialect) is None
    assert parsers.constraint(fmt, (), "auto", dialect=dialect) is None
    assert parsers.constraint(fmt, None, "required", dialect=dialect) is None


@pytest.mark.parametrize(
    ("choice", "dialect", "told"),
    [
        ("launch", "lark", "launch"),
        ({"type": "function", "function": {"name": "launch"}}, "structural_tag", "launch"),
        ({"type": "function"}, "structural_tag", "names no function"),
        ("auto", "gbnf", "gbnf"),
    ],
)
def test_what_cannot_be_constrained_is_refused_in_words(choice, dialect, told):
    with pytest.raises(parsers.ConstraintError, match=told):
        parsers.constraint(parsers.get("hermes"), TOOLS, choice, dialect=dialect)


@family
@dialects
def test_equal_tools_give_equal_constraints(name, dialect):
    fmt = parsers.get(name)
    first, second = (json.dumps(parsers.constraint(fmt, list(TOOLS), "auto", dialect=dialect)) for _ in range(2))
    assert first == second
