"""The one walk every request takes: plan, engine, parsers, demand. Protocols open it and encode what comes out."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager, nullcontext

from gateway.backends.base import CountsTokens
from gateway.chat.events import Batch, Piece, Usage
from gateway.chat.plan import Plan
from gateway.chat.request import ChatRequest
from gateway.errors import AnswerInvalid, BackendGarbled, GatewayError, RequestError
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.planning.planner import plan as make_plan
from gateway.planning.planner import plan_again, prompt_of
from gateway.telemetry.observer import Observer, Record
from parsers import Message

from .admission import Admission
from .again import second_request
from .choice import Choice
from .recorded import recorded
from .recording import Recording, Recordings
from .traced import content_attributes, request_attributes

__all__ = ["Pipeline", "Turn"]


class Turn:
    """One running generation. Iterate it once: each item holds what one read of the engine gave, of every choice in it."""

    def __init__(self, spec: ModelSpec, plan: Plan, record: Record, recording: Recording | None = None) -> None:
        self.spec = spec
        self.plan = plan
        self.warnings = plan.warnings
        """What was accepted but is not, or not wholly, in effect."""
        self._engine = AsyncExitStack()
        self._reads: AsyncIterator[Sequence[Piece]]
        self._record = record
        self._recording = recording
        self._spent = Usage(0, 0)
        self._attempts = 2 if spec.strict == "retry" and plan.sampling.n == 1 else 1
        self._prepare(plan)

    async def start(self) -> None:
        """Have the engine begin; GatewayError when it does not."""
        try:
            self._reads = await self._engine.enter_async_context(self.spec.backend.stream(self.plan))
        except GatewayError as error:
            self._tape(error)
            raise

    def answered_as(self, response_id: str) -> None:
        """The id under which the client gets this turn."""
        self._record.response_id = response_id

    def answers(self) -> list[tuple[Message, str]]:
        """What the choices said so far, and how each ended; empty unless it is kept."""
        return [(choice.answer(), choice.finish) for choice in self._choices]

    async def stop(self) -> None:
        """Have the engine stop, wherever it is."""
        self._tape(gone=True)
        await self._engine.aclose()

    @property
    def model(self) -> str:
        """The served model's own name, whichever alias was asked for."""
        return self.spec.name

    @property
    def usage(self) -> Usage:
        """Tokens spent so far, over all attempts: the engine's figures, else counted from what came."""
        return self._spent + self._used()

    def _used(self) -> Usage:
        counted = sum(choice.tokens for choice in self._choices)
        reasoning = sum(choice.reasoning_tokens for choice in self._choices)
        known = self._usage
        if known is None:
            return Usage(len(self.plan.prompt.token_ids or ()), counted, reasoning_tokens=reasoning)
        reasoning = known.reasoning_tokens or min(reasoning, known.completion_tokens)
        return Usage(known.prompt_tokens, known.completion_tokens, known.cached_tokens, reasoning)

    async def __aiter__(self) -> AsyncIterator[list[Batch]]:
        try:
            while self._attempts:
                self._attempts -= 1
                try:
                    async with aclosing(self._attempt()) as attempt:
                        async for batches in attempt:
                            yield batches
                    self._tape()
                    return
                except AnswerInvalid as problem:
                    self._tape(problem)
                    await self._begin_again(problem)
        except GatewayError as error:
            self._tape(error)
            # a protocol answers it inside its stream, so it may never reach the context that opened this turn
            self._record.failed(error.status, error.code or error.type)
            raise

    def _prepare(self, plan: Plan) -> None:
        self.plan = plan
        policy = "fail" if self.spec.strict == "retry" and plan.sampling.n > 1 else self.spec.strict
        self._choices = [Choice(plan, self._record, policy=policy) for _ in range(plan.sampling.n)]
        self._usage: Usage | None = None
        self._record.finishes.clear()
        if self._recording is not None:
            self._recording.begin(plan, policy)

    async def _attempt(self) -> AsyncGenerator[list[Batch]]:
        async for pieces in self._reads:
            batches = self._batches(pieces)
            if batches:
                yield batches
            if self._cut_short():
                return
        if not all(choice.done for choice in self._choices):
            raise BackendGarbled("The engine's answer ended before its turn did.")

    async def _begin_again(self, problem: AnswerInvalid) -> None:
        """Ask once more, with what was wrong in the conversation; the problem itself where there is no attempt left, or where the
        model's template or context does not take the second question."""
        if not self._attempts:
            self._record.steps["failed"] += 1
            raise problem
        request = second_request(self.plan.request, self._choices[0].answer(), problem)
        await self.stop()
        try:
            plan = await asyncio.to_thread(plan_again, request, self.spec)
        except RequestError:
            self._record.steps["failed"] += 1
            raise problem from None
        self._record.steps["retried"] += 1
        self._spent = self.usage
        self._prepare(plan)
        await self.start()

    def _batches(self, pieces: Sequence[Piece]) -> list[Batch]:
        batches: list[Batch] = []
        if self._recording is not None:
            self._recording.take(pieces)
        for piece in pieces:
            self._usage = piece.usage or self._usage
        for piece in pieces:
            if not piece.text and piece.finish_reason is None and not piece.logprobs:
                continue
            if not 0 <= piece.choice < len(self._choices):
                raise BackendGarbled(f"The engine answered with choice {piece.choice}, which was not asked for.")
            choice = self._choices[piece.choice]
            if choice.done:
                continue
            events = choice.take(piece)
            logprobs = choice.logprobs(piece, events)
            if events or logprobs:
                batches.append(Batch(piece.choice, events, logprobs, piece.stop))
        return batches

    def _tape(self, error: GatewayError | None = None, *, gone: bool = False) -> None:
        """Have the attempt recorded, if it has not been."""
        if self._recording is not None:
            self._recording.end(self.answers(), error, gone=gone)

    def _cut_short(self) -> bool:
        """All choices are over, one of them by our own cut: the engine need not go on."""
        return any(choice.cut for choice in self._choices) and all(choice.done for choice in self._choices)


class Pipeline:
    """Takes requests to their models."""

    def __init__(
        self,
        catalog: Catalog,
        observer: Observer,
        admission: Admission | None = None,
        recordings: Recordings | None = None,
    ) -> None:
        self.catalog = catalog
        self.observer = observer
        self._admission = admission
        self._recordings = recordings

    def admitted(self, record: Record) -> AbstractAsyncContextManager[None]:
        """The time of one request, within the limits of the caller's key; LimitError when one is reached."""
        return nullcontext() if self._admission is None else self._admission.admitted(record)

    async def count_tokens(self, request: ChatRequest) -> int:
        """How many tokens this request's prompt has; RequestError where neither the gateway nor the engine can tell."""
        spec = self.catalog.find(request.model)
        async with self.admitted(Record()):
            return await self._count(request, spec)

    async def _count(self, request: ChatRequest, spec: ModelSpec) -> int:
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
    async def _received(self, model: str) -> AsyncIterator[tuple[Record, ModelSpec]]:
        with recorded(model, self.catalog, self.observer) as (record, spec):
            async with self.admitted(record):
                yield record, spec

    @asynccontextmanager
    async def open(self, request: ChatRequest) -> AsyncIterator[Turn]:
        """A running turn. Entering returns once the engine has accepted it (else a GatewayError is raised, so the client gets a
        real status); leaving, at any point, stops the generation."""
        async with self._received(request.model) as (record, spec):
            plan = await asyncio.to_thread(make_plan, request, spec)
            _note_plan(record, plan)
            if record.span is not None:
                record.span.set_attributes(request_attributes(plan))
            turn = Turn(spec, plan, record, self._recordings.of(spec, record) if self._recordings else None)
            await turn.start()
            try:
                yield turn
            finally:
                _note_usage(record, turn.usage)
                if record.span is not None and self.observer.tells_content:
                    record.span.set_attributes(content_attributes(request, turn.answers()))
                await turn.stop()


def _note_plan(record: Record, plan: Plan) -> None:
    record.tool_choice = plan.request.tool_choice.mode
    record.tools = len(plan.request.tools)
    record.guards = plan.guards
    record.constraint = plan.constraint.kind if plan.constraint else ""


def _note_usage(record: Record, usage: Usage) -> None:
    record.prompt_tokens, record.completion_tokens = usage.prompt_tokens, usage.completion_tokens
    record.cached_tokens, record.reasoning_tokens = usage.cached_tokens, usage.reasoning_tokens
