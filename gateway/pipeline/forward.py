"""Requests that go on to the engine as they came, on endpoints where there is nothing to parse; counted like all others."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from gateway.backends.base import Forwards
from gateway.backends.sse import SSEDecoder
from gateway.errors import BackendError, BackendGarbled, GatewayError, RequestError
from gateway.planning.catalog import ModelSpec
from gateway.planning.claim import of_body
from gateway.telemetry.record import Record

from . import Pipeline
from .restarts import Restarts
from .running import Running

Open = Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]]
DONE = b"[DONE]"
OPERATIONS = {"/v1/completions": "text_completion", "/v1/embeddings": "embeddings"}
"""What each endpoint does, in OpenTelemetry's words."""


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int | None = None


class _Answer(msgspec.Struct):
    usage: _Usage | None = None
    choices: list[Any] = []


class Forwarded:
    """An engine's own answer on its way, under the name that the client gave the model."""

    def __init__(self, open_: Open, record: Record, running: Running, *, model: str, engine_model: str) -> None:
        self._open = open_
        self._engine = AsyncExitStack()
        self._blocks: AsyncIterator[bytes]
        self._record = record
        self._running = running
        self._theirs, self._ours = (f'"model":{json.dumps(name, ensure_ascii=False)}'.encode() for name in (engine_model, model))

    async def start(self) -> None:
        """Have the engine begin; GatewayError when it does not."""
        await self._engine.aclose()
        self._blocks = await self._engine.enter_async_context(self._open())

    async def stop(self) -> None:
        """Have the engine stop, wherever it is."""
        await self._engine.aclose()

    async def whole(self) -> bytes:
        """The answer in one piece, taken again where its engine breaks off."""
        restarts = Restarts(self._record)
        while True:
            try:
                body = b"".join([block async for block in self._blocks])
                self._read(body)
                return self._renamed(body)
            except BackendError as error:
                if not restarts.after(error):
                    raise
            await self.start()

    async def events(self, *, usage: bool) -> AsyncIterator[bytes]:
        """The data of each event of a stream but its [DONE]. `usage`: also of the one that tells only what it cost."""
        events, done = SSEDecoder(), False
        try:
            with self._running.interruptible():
                async for block in self._blocks:
                    for data in events.feed(block):
                        if data.startswith(b'{"error"'):
                            self._record.failed(BackendError.status, "backend_error")
                        done = done or data == DONE
                        if not done and (not self._tells_usage_only(data) or usage):
                            yield self._renamed(data)
            if not done:
                raise BackendGarbled("The engine's stream broke off before the answer was complete.")
        except GatewayError as error:
            self._record.failed(error.status, error.code or error.type)
            raise

    def _tells_usage_only(self, data: bytes) -> bool:
        return b'"usage":{' in data and not self._read(data).choices

    def _read(self, body: bytes) -> _Answer:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BackendGarbled(f"The engine's answer cannot be read ({error}).") from None
        if answer.usage is not None:
            self._record.prompt_tokens = answer.usage.prompt_tokens
            self._record.completion_tokens = answer.usage.completion_tokens or 0
        return answer

    def _renamed(self, body: bytes) -> bytes:
        return body.replace(self._theirs, self._ours, 1)


@asynccontextmanager
async def forward(pipeline: Pipeline, path: str, body: Mapping[str, Any]) -> AsyncIterator[Forwarded]:
    """The engine's answer to this body. Entering returns once the engine has accepted it; leaving stops the work."""
    operation = OPERATIONS[path]
    async with pipeline.received(body["model"], operation=operation) as (record, spec):
        if not isinstance(spec.backend, Forwards):
            what = OPERATIONS[path].replace("_", " ").removesuffix("s")
            message = f"The model `{spec.name}` cannot be asked for a {what}: its engine has no {path}. Name a model on vLLM."
            raise RequestError(message, param="model", code="unsupported_value")
        sent = {**body, **_within(body, spec), "model": spec.engine_model}
        await pipeline.reserve(record, (of_body(sent, spec),))
        asking = partial(spec.backend.forward, path, sent)
        answer = Forwarded(asking, record, pipeline.running, model=body["model"], engine_model=spec.engine_model)
        try:
            await answer.start()
            yield answer
        finally:
            await answer.stop()


def _within(body: Mapping[str, Any], spec: ModelSpec) -> dict[str, int]:
    """`max_tokens` cut to what the model's entry allows, where the request has more."""
    asked = body.get("max_tokens")
    return {"max_tokens": spec.max_tokens} if asked and spec.max_tokens is not None and asked > spec.max_tokens else {}
