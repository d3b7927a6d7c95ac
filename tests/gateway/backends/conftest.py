"""Plans to give to backends, a way to collect what they yield, and the real small model."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

import parsers
from gateway.backends.base import Backend
from gateway.backends.embedded import EmbeddedBackend
from gateway.backends.models import default_model
from gateway.chat.events import Piece
from gateway.chat.plan import Constraint, Plan, Prompt
from gateway.chat.request import ChatRequest, Sampling

Result = TypeVar("Result")
Run = Callable[[Coroutine[Any, Any, Result]], Result]


def make_plan(
    text: str = "Hi",
    *,
    ids: tuple[int, ...] | None = None,
    constraint: Constraint | None = None,
    messages: tuple[dict[str, Any], ...] | None = None,
    stop_token_texts: tuple[str, ...] = (),
    **sampling: Any,
) -> Plan:
    """A plan for a rendered prompt; sampling settings by name."""
    request = ChatRequest("model", messages or ({"role": "user", "content": text},))
    prompt = Prompt(text, ids, "")
    return Plan(request, "model", parsers.get("hermes"), prompt, (), Sampling(**sampling), constraint, stop_token_texts)


async def read_all(backend: Backend, plan: Plan) -> list[Piece]:
    """All pieces of an answer."""
    async with backend.stream(plan) as batches:
        return [piece async for batch in batches for piece in batch]


def text_of(pieces: list[Piece], choice: int = 0) -> str:
    """One choice's text."""
    return "".join(piece.text for piece in pieces if piece.choice == choice)


class Kit:
    """The helpers above for test modules."""

    plan = staticmethod(make_plan)
    read_all = staticmethod(read_all)
    text_of = staticmethod(text_of)


@pytest.fixture(scope="session")
def kit() -> type[Kit]:
    return Kit


@pytest.fixture(scope="session")
def run() -> Iterator[Run[Any]]:
    """Runs coroutines, all in one loop, as a server does."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def smol(run: Run[Any]) -> Iterator[EmbeddedBackend]:
    """The default model, really running."""
    pytest.importorskip("xllamacpp")
    backend = EmbeddedBackend(default_model(), context=2048, threads=1, parallel=2)
    yield backend
    run(backend.close())
