"""The judge of the scale proof sees what is wrong, and its tools are what they claim to be."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest

import parsers
from tests.e2e.scale import tools
from tests.e2e.scale.any_tool import drawn
from tests.e2e.scale.asks import KINDS, Ask, Kind, asks
from tests.e2e.scale.outcomes import Answer, judged
from tests.e2e.scale.tools import CORPUS, Sample
from tests.e2e.scale.vocabulary import FAMILIES, framing, triggers

COUNT = Sample("count", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, "test")
DAY = Sample("day", {"type": "object", "properties": {"on": {"type": "string", "format": "date"}}}, "test")
GOOD = ("count", '{"n": 3}')


def ask(kind: Kind) -> Ask:
    return Ask(1, "hermes", kind, (COUNT, DAY), strict=True, stream=True)


def answer(*calls: tuple[str, str], finish: str | None = "tool_calls", content: str = "") -> Answer:
    return Answer(names=[name for name, _ in calls], arguments=[text for _, text in calls], finish=finish, content=content)


@pytest.mark.parametrize(
    ("kind", "given", "verdict"),
    [
        ("required", answer(GOOD, ("day", '{"on": "2026-11-30"}')), "valid"),
        ("named", answer(GOOD, finish="stop"), "valid"),
        ("auto", answer(content="No.", finish="stop"), "silent"),
        ("auto", answer(GOOD, content="Let me count."), "valid"),
        ("required", answer(GOOD, ("count", '{"n": '), finish="length"), "cut"),
        ("required", answer(GOOD, content="<tool_call>", finish="length"), "cut"),
        ("required", answer(finish="stop"), "wrong"),
        ("required", answer(("count", '{"n": "3"}')), "wrong"),
        ("required", answer(("count", '{"n": '), GOOD, finish="length"), "wrong"),
        ("required", answer(("day", '{"on": "yesterday"}')), "wrong"),
        ("required", answer(("count", "3")), "wrong"),
        ("required", answer(("launch", "{}")), "wrong"),
        ("required", answer(GOOD, content="Let me count."), "wrong"),
        ("required", answer(GOOD, finish="stop"), "wrong"),
        ("named", answer(("day", "{}"), finish="stop"), "wrong"),
        ("named", answer(GOOD), "wrong"),
        ("single", answer(GOOD, GOOD), "wrong"),
        ("single auto", answer(GOOD, GOOD), "wrong"),
        ("required", answer(GOOD, finish=None), "wrong"),
    ],
)
def test_an_answer(kind: Kind, given: Answer, verdict: str) -> None:
    assert judged(ask(kind), given).verdict == verdict


@pytest.mark.parametrize(
    ("status", "error", "warnings", "verdict"),
    [
        (400, {"code": "invalid_function_parameters", "message": "Invalid schema for function 'count': ..."}, "", "refused"),
        (400, {"code": "invalid_value", "message": "seed"}, "", "wrong"),
        (502, {"code": "tool_call_invalid", "message": "The call to 'count' ..."}, "", "leaked"),
        (
            502,
            {"code": "tool_call_invalid", "message": "The call to 'count' ..."},
            "function 'count': properties.n.not only checked after decoding",
            "failed",
        ),
        (
            502,
            {"code": "tool_call_invalid", "message": "The call to 'count' ..."},
            "function 'day': properties.on.not only checked after decoding",
            "leaked",
        ),
        (502, {"code": "backend_error", "message": "The engine failed"}, "", "engine"),
        (500, {"message": "The server had an error"}, "", "engine"),
    ],
)
def test_an_error(status: int, error: Mapping[str, Any], warnings: str, verdict: str) -> None:
    assert judged(ask("required"), Answer(status=status, error=error, warnings=warnings)).verdict == verdict


def test_the_written_tools_are_many_and_sound() -> None:
    written = tools.written()
    assert len({sample.name for sample in written}) == len(written) > 100
    for sample in written:
        jsonschema_rs.Draft202012Validator(sample.schema)
        assert sample.schema["type"] == "object"


def test_a_corpus_gives_more_of_them(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "corpus.jsonl"
    schemas = [{"type": "object", "maxProperties": at} for at in range(5)]
    listed = [[{"function": {"name": f"tool_{at}", "parameters": schema}}] * 2 for at, schema in enumerate(schemas)]
    file.write_text("".join(json.dumps({"tools": each}) + "\n" for each in listed), "utf-8")
    monkeypatch.setenv(CORPUS, str(file))
    assert [sample.name for sample in tools.corpus()] == [f"tool_{at}" for at in range(5)]
    chosen = tools.chosen(len(tools.written()) + 3)
    assert sum(sample.source == "corpus" for sample in chosen) == 3


def test_requests_are_of_every_kind_for_every_family() -> None:
    made = list(asks(120, ("hermes", "glm47", "mistral"), tools.written()))
    assert {(each.family, each.kind, each.stream) for each in made} == {
        (family, kind, stream) for family in ("hermes", "glm47", "mistral") for kind in KINDS for stream in (True, False)
    }
    assert all(each.strict for each in made if not each.forced)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_of_noise_can_be_drawn_to_a_call(family: str) -> None:
    (trigger,) = triggers(parsers.get(family))
    assert trigger in framing(family)


def test_any_tool_is_the_same_again() -> None:
    assert drawn(5, seed=3) == drawn(5, seed=3) != drawn(5, seed=4)
