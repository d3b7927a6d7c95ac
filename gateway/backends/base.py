"""What every engine looks like from the inside of the gateway."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from gateway.chat.events import Piece
from gateway.chat.flow import Reads
from gateway.chat.plan import Dialect, Plan

broke_off: ContextVar[set[str] | None] = ContextVar("broke_off", default=None)
"""Addresses of engines that broke off in the middle of the answer that is asked for; where it is asked for again, they come last.
None where it would not be."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the engine says of itself. None = it does not say."""

    engine: str
    model: str | None = None
    max_model_len: int | None = None
    version: str | None = None
    root: str | None = None
    """The folder or hub id that the served model was loaded from."""
    listed: tuple[str, ...] = ()
    """All names under which it serves models."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is right or wrong with how an engine was set up. `remedy` is empty where there is nothing to do."""

    id: str
    status: Literal["pass", "warn", "fail"]
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """How one of several engines of a model is."""

    place: str
    """Its address."""
    ready: bool
    """Whether it gets requests."""
    state: str
    """The same in words, with the reason where it gets none."""
    running: int
    """Requests it has from this gateway."""
    version: str | None = None
    findings: tuple[Finding, ...] = ()


class Backend(Protocol):
    """One engine.

    `name`: what kind of engine it is, in one word. `takes_token_ids`: prompts may be token ids. `dialect`: the language its
    constraints are written in, None when it has none (then `required` and `strict` are validated after decoding only).
    """

    name: str
    takes_token_ids: bool
    dialect: Dialect | None

    def stream(self, plan: Plan) -> AbstractAsyncContextManager[Reads[list[Piece]]]:
        """Generate. Entering returns once the engine has accepted the request (else a BackendError is raised, so that the
        client gets a real HTTP status); each item is what one read gave; leaving, at any point and also while entering,
        stops the generation at the engine. Every choice ends with exactly one piece that has a finish_reason; an engine
        that breaks off raises BackendGarbled or BackendUnavailable from the reads."""
        ...

    async def facts(self) -> EngineFacts:
        """What the engine says of itself; BackendUnavailable when it cannot be asked."""
        ...

    async def healthy(self) -> bool:
        """Whether it would take a request now; cheap, never a generation."""
        ...

    async def close(self) -> None:
        """Release connections, threads and memory."""
        ...


@runtime_checkable
class Encodes(Protocol):
    """An engine that is asked for the ids of prompts with control tokens in client text."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text without control tokens. Blocks: for threads."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """An engine that tells how many tokens it makes of a prompt's text."""

    async def count_tokens(self, text: str) -> int: ...


@runtime_checkable
class Forwards(Protocol):
    """An engine with endpoints of OpenAI's own, which takes a request on one of them as it came."""

    def forward(self, path: str, body: Mapping[str, Any]) -> AbstractAsyncContextManager[Reads[bytes]]:
        """The body of its answer, as it is read. Entering returns once the engine has accepted the request; leaving stops it."""
        ...


@runtime_checkable
class Replicated(Protocol):
    """An engine that is several."""

    def replicas(self) -> tuple[ReplicaState, ...]:
        """How each of them is now, as far as is known; nothing is asked for it."""
        ...


@runtime_checkable
class Changes(Protocol):
    """An engine that may be started again with another model. It has then to be opened anew."""

    def changed(self) -> bool:
        """Whether it serves something else, wholly, than it said at first."""
        ...

    def announce(self) -> None:
        """It has taken the place of the one before: from now on it tells how it is."""
        ...

    async def retire(self) -> None:
        """Returns once its last request has ended; nothing new is to be sent to it."""
        ...
