"""The one walk every request takes: plan, engine, parsers, demand. Protocols open it and encode what comes out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from gateway.backends.base import CountsTokens
from gateway.chat.events import Batch, Piece, Usage
from gateway.chat.plan import Plan
from gateway.chat.request import ChatRequest
from gateway.errors import BackendGarbled, GatewayError, RequestError
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.planning.planner import plan as make_plan
from gateway.planning.planner import prompt_of
from gateway.telemetry.observer import Observer, Record

from .choice import Choice

__all__ = ["Pipeline", "Turn"]

CLIENT_GONE = 499


class Turn:
    """One running generation. Iterate it once: each item holds what one read of the engine gave, of every choice in it."""

    def __init__(self, spec: ModelSpec, plan: Plan, record: Record) -> None:
        self.spec = spec
        self.plan = plan
        self.reads: AsyncIterator[Sequence[Piece]]
        report_only = spec.strict == "report"
        self._choices = [Choice(plan, record, report_only=report_only) for _ in range(plan.sampling.n)]
        self._record = record
        self._usage: Usage | None = None

    @property
    def model(self) -> str:
        """The served model's own name, whichever alias was asked for."""
        return self.spec.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was accepted but is not, or not wholly, in effect."""
        return self.plan.warnings

    @property
    def usage(self) -> Usage:
        """Tokens spent so far: the engine's figures, else counted from what came."""
        counted = sum(choice.tokens for choice in self._choices)
        reasoning = sum(choice.reasoning_tokens for choice in self._choices)
        known = self._usage
        if known is None:
            return Usage(len(self.plan.prompt.token_ids or ()), counted, reasoning_tokens=reasoning)
        reasoning = known.reasoning_tokens or min(reasoning, known.completion_tokens)
        return Usage(known.prompt_tokens, known.completion_tokens, known.cached_tokens, reasoning)

    async def __aiter__(self) -> AsyncIterator[list[Batch]]:
        try:
            async for pieces in self.reads:
                batches = self._batches(pieces)
                if batches:
                    yield batches
                if self._cut_short():
                    return
            if not all(choice.done for choice in self._choices):
                raise BackendGarbled("The engine's answer ended before its turn did.")
        except GatewayError as error:
            # a protocol answers it inside its stream, so it may never reach the context that opened this turn
            self._record.failed(error.status, error.code or error.type)
            raise

    def _batches(self, pieces: Sequence[Piece]) -> list[Batch]:
        batches: list[Batch] = []
        for piece in pieces:
            if piece.usage is not None:
                self._usage = piece.usage
            if not piece.text and piece.finish_reason is None and not piece.logprobs:
                continue
            if not 0 <= piece.choice < len(self._choices):
                raise BackendGarbled(f"The engine answered with choice {piece.choice}, which was not asked for.")
            choice = self._choices[piece.choice]
            if choice.done:
                continue
            events = choice.take(piece)
            if events or piece.logprobs:
                batches.append(Batch(piece.choice, events, piece.logprobs, piece.stop))
        return batches

    def _cut_short(self) -> bool:
        """All choices are over, one of them by our own cut: the engine need not go on."""
        return any(choice.cut for choice in self._choices) and all(choice.done for choice in self._choices)


class Pipeline:
    """Takes requests to their models."""

    def __init__(self, catalog: Catalog, observer: Observer) -> None:
        self.catalog = catalog
        self.observer = observer

    async def count_tokens(self, request: ChatRequest) -> int:
        """How many tokens this request's prompt has; RequestError where neither the gateway nor the engine can tell."""
        spec = self.catalog.find(request.model)
        prompt = await asyncio.to_thread(prompt_of, request, spec)
        if prompt.token_ids is not None:
            return len(prompt.token_ids)
        if isinstance(spec.backend, CountsTokens):
            return await spec.backend.count_tokens(prompt.text)
        raise RequestError(
            f"Tokens cannot be counted for the model `{spec.name}`: it has no tokenizer here. Set `tokenizer` in its entry.",
            param="model",
            code="unsupported_value",
        )

    @asynccontextmanager
    async def open(self, request: ChatRequest) -> AsyncIterator[Turn]:
        """A running turn. Entering returns once the engine has accepted it (else a GatewayError is raised, so the client gets a
        real status); leaving, at any point, stops the generation."""
        record = Record()
        ran = False
        try:
            spec = self.catalog.find(request.model)
            record.model, record.format = spec.name, spec.format.name
            self.observer.begin(spec.name)
            ran = True
            plan = await asyncio.to_thread(make_plan, request, spec)
            _note_plan(record, plan, spec)
            turn = Turn(spec, plan, record)
            async with spec.backend.stream(plan) as turn.reads:
                try:
                    yield turn
                finally:
                    _note_usage(record, turn.usage)
        except GatewayError as error:
            record.failed(error.status, error.code or error.type)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            record.failed(CLIENT_GONE, "client_gone")
            raise
        except Exception:
            record.failed(500, "server_error")
            raise
        finally:
            self.observer.end(record, ran=ran)


def _note_plan(record: Record, plan: Plan, spec: ModelSpec) -> None:
    record.backend = type(spec.backend).__name__.removesuffix("Backend").lower()
    record.tool_choice = plan.request.tool_choice.mode
    record.tools = len(plan.request.tools)
    record.constraint = plan.constraint.kind if plan.constraint else ""


def _note_usage(record: Record, usage: Usage) -> None:
    record.prompt_tokens, record.completion_tokens = usage.prompt_tokens, usage.completion_tokens
    record.cached_tokens = usage.cached_tokens
