"""Prompts that a client wrote itself: to the engine and back as they are, counted and limited like every other request."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from gateway.chat.events import Piece, Usage
from gateway.chat.flow import Reads
from gateway.chat.plan import Plan, Prompt
from gateway.chat.request import ChatRequest
from gateway.errors import BackendGarbled, GatewayError
from gateway.planning.catalog import ModelSpec
from gateway.planning.claim import of_plan
from gateway.planning.planner import plan_of_prompt
from gateway.telemetry.record import Record
from parsers import Finish

from . import Pipeline
from .running import Running


class RawTurn:
    """One request's prompts, answered one after the other. Iterate it once: each item is what one read of the engine gave, with
    the choices numbered over all prompts."""

    def __init__(self, spec: ModelSpec, plans: Sequence[Plan], record: Record, running: Running) -> None:
        self.warnings = plans[0].warnings
        self.usage = Usage(0, 0)
        """Tokens of all prompts and answers so far: the engine's figures, else counted from what came."""
        self._spec = spec
        self._plans = plans
        self._record = record
        self._running = running
        self._engine = AsyncExitStack()
        self._reads: Reads[list[Piece]]

    async def start(self, plan: Plan) -> None:
        """Have the engine begin with this prompt; GatewayError when it does not."""
        await self._engine.aclose()
        self._reads = await self._engine.enter_async_context(self._spec.backend.stream(plan))

    async def stop(self) -> None:
        """Have the engine stop, wherever it is."""
        await self._engine.aclose()

    async def __aiter__(self) -> AsyncIterator[list[Piece]]:
        try:
            with self._running.interruptible():
                for place, plan in enumerate(self._plans):
                    if place:
                        await self.start(plan)
                    async for pieces in self._answer(plan):
                        yield [replace(piece, choice=place * plan.sampling.n + piece.choice) for piece in pieces]
        except GatewayError as error:
            self._record.failed(error.status, error.code or error.type)  # it may be told inside the stream only
            raise

    async def _answer(self, plan: Plan) -> AsyncIterator[list[Piece]]:
        """What there is to tell of one prompt's answer."""
        before, counted, ended = self.usage, 0, 0
        async for pieces in self._reads:
            ends = [Finish(piece.finish_reason) for piece in pieces if piece.finish_reason is not None]
            self._record.count(ends)
            ended += len(ends)
            counted += sum(1 for piece in pieces if piece.text)
            told = next((piece.usage for piece in pieces if piece.usage is not None), None)
            self.usage = before + (told or Usage(len(plan.prompt.token_ids or ()), counted))
            yield [piece for piece in pieces if piece.text or piece.finish_reason is not None or piece.logprobs]
        if ended != plan.sampling.n:
            raise BackendGarbled("The engine's answer ended before its turn did.")


@asynccontextmanager
async def open_raw(pipeline: Pipeline, request: ChatRequest, prompts: Sequence[Prompt]) -> AsyncIterator[RawTurn]:
    """The running answers to these prompts. Entering returns once the engine has accepted the first; leaving stops it."""
    async with pipeline.received(request.model, operation="text_completion") as (record, spec):
        plans = [plan_of_prompt(request, spec, prompt) for prompt in prompts]
        await pipeline.reserve(record, [of_plan(plan, spec) for plan in plans])
        turn = RawTurn(spec, plans, record, pipeline.running)
        await turn.start(plans[0])
        try:
            yield turn
        finally:
            record.prompt_tokens, record.completion_tokens = turn.usage.prompt_tokens, turn.usage.completion_tokens
            record.cached_tokens = turn.usage.cached_tokens
            await turn.stop()
