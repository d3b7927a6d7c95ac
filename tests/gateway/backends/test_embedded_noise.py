"""The embedded engine over vocabularies made for it, which have the markers that the default model's lacks."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import parsers
from gateway.backends import gguf
from gateway.backends.embedded import EmbeddedBackend
from gateway.backends.guidance import UNMASKABLE
from gateway.chat.plan import Constraint
from parsers import Tool
from tests.e2e.scale import noise_file

COUNT = Tool("count", parameters={"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]})
SHORT = {"type": "string", "maxLength": 6}


@pytest.fixture(autouse=True)
def _engine() -> None:
    pytest.importorskip("xllamacpp")


@contextmanager
def loaded(file: Path, **sizes: Any) -> Iterator[EmbeddedBackend]:
    backend = EmbeddedBackend(file, **{"context": 512, "threads": 1, "parallel": 1, **sizes})
    try:
        yield backend
    finally:
        asyncio.run(backend.close())


def test_behind_the_last_call_of_gpt_oss_the_turn_is_over(tmp_path: Path, kit: Any) -> None:
    """llama.cpp lets llguidance end its turns with `<|end|>`, and itself goes on behind that."""
    fmt = parsers.get("harmony")
    file = noise_file.make("harmony", tmp_path)
    pulls = {**noise_file.biases(file, fmt)[0], str(gguf.read(file).control["<|end|>"]): 40.0}
    constraint = Constraint("lark", parsers.constraint(fmt, (COUNT,), "required", dialect="lark"))
    fields = {"constraint": constraint, "stop_token_texts": fmt.stop, "logit_bias": pulls, "max_tokens": 200}
    with loaded(file) as engine:
        for seed in range(3):
            pieces = asyncio.run(kit.read_all(engine, kit.plan("Hi", seed=seed, **fields)))
            parser = parsers.Parser(fmt, tools=(COUNT,))
            message = parsers.fold(parser.feed(kit.text_of(pieces)) + parser.finish("stop"))
            assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["stop"]
            assert (message.content, len(message.tool_calls)) == (None, 1)


def test_no_constraint_is_promised_over_a_vocabulary_that_cannot_be_masked(tmp_path: Path) -> None:
    file = noise_file.make("hermes", tmp_path, remainder=UNMASKABLE)
    assert gguf.read(file).tokens % 32 == UNMASKABLE
    with loaded(file) as engine:
        assert engine.dialect is None


@pytest.mark.parametrize("remainder", [0, 1, UNMASKABLE - 1])
def test_over_others_it_is_kept(tmp_path: Path, kit: Any, remainder: int) -> None:
    file = noise_file.make("hermes", tmp_path, remainder=remainder)
    constraint = Constraint("json_schema", SHORT)
    with loaded(file) as engine:
        assert engine.dialect == "lark"
        for seed in range(5):
            pieces = asyncio.run(kit.read_all(engine, kit.plan("Hi", constraint=constraint, max_tokens=40, seed=seed)))
            assert len(json.loads(kit.text_of(pieces))) <= SHORT["maxLength"]


def test_models_that_generate_at_once_keep_to_their_own_constraints(tmp_path: Path, kit: Any) -> None:
    """llama.cpp keeps the last grammar's vocabulary in one place for all models, which nothing guards."""

    async def ask(engine: EmbeddedBackend, seed: int) -> Any:
        constraint = Constraint("json_schema", SHORT)
        return json.loads(
            kit.text_of(await kit.read_all(engine, kit.plan("Hi", constraint=constraint, max_tokens=40, seed=seed)))
        )

    async def both(engines: list[EmbeddedBackend]) -> list[Any]:
        return await asyncio.gather(*(ask(engine, seed) for seed in range(10) for engine in engines))

    files = [noise_file.make(family, tmp_path) for family in ("hermes", "kimi_k2")]
    with loaded(files[0], parallel=2) as first, loaded(files[1], parallel=2) as second:
        answers = asyncio.run(both([first, second]))
    assert all(isinstance(answer, str) and len(answer) <= SHORT["maxLength"] for answer in answers)
