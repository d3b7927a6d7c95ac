"""One running generation: what the engine gives becomes events, once more where the answer breaks what was demanded."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial

from gateway.chat.events import Batch, Piece, Usage, joined
from gateway.chat.flow import Leave, Leaving, Reads, Take, Wait
from gateway.chat.plan import Plan
from gateway.errors import AnswerInvalid, BackendError, BackendGarbled, GatewayError, RequestError
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan_again
from gateway.telemetry.record import Record
from parsers import Delta, Message

from .again import second_request
from .choice import Choice
from .recording import Recording
from .restarts import Restarts
from .running import Running
from .shortening import Shortening


class _CutShort(Exception):
    """All choices are over, one of them by our own cut: the engine need not go on."""


class Turn:
    """One running generation. `run` it once."""

    def __init__(
        self, spec: ModelSpec, plan: Plan, record: Record, running: Running, *, recording: Recording | None = None
    ) -> None:
        self.spec = spec
        self.plan = plan
        self.instead: str | None = spec.name if record.instead_of else None
        """The model that answers, where it is not the one that was asked for."""
        self.warnings = plan.warnings
        """What was accepted but is not, or not wholly, in effect."""
        self._engine = AsyncExitStack()
        self._reads: Reads[list[Piece]]
        self._early: Sequence[Piece] = ()
        """The first read, where it was waited for at the start."""
        self._record = record
        self._running = running
        self._restarts: Restarts | None = None
        """None where what it gives leaves at once."""
        self._recording = recording
        self._spent = Usage(0, 0)
        self._attempts = 2 if spec.strict == "retry" and plan.sampling.n == 1 else 1
        self._prepare(plan)

    async def start(self, *, awaited: bool = False) -> None:
        """Have the engine begin; GatewayError when it does not. `awaited`: return with its first piece only."""
        began = time.perf_counter()
        try:
            self._reads = await self._engine.enter_async_context(self.spec.backend.stream(self.plan))
            if awaited:
                self._early = await anext(self._reads, ())
        except GatewayError as error:
            self._tape(error)
            raise
        finally:
            self._record.engine_wait += time.perf_counter() - began

    def answered_as(self, response_id: str, call_id: Callable[[int, int], str] | None = None) -> None:
        """The id under which the client gets this turn, and those of its calls by choice and place, where they are known."""
        self._record.response_id, self._record.call_id = response_id, call_id

    def answers(self) -> list[tuple[Message, str]]:
        """What the choices said so far, and how each ended; empty unless it is kept."""
        return answers_of(self._choices)

    def keep_back(self) -> None:
        """Let nothing leave before the turn is whole: it is then taken again, unseen, when its engine breaks off."""
        self._restarts = Restarts(self._record)

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

    async def run(self, take: Take[list[Batch]], leaving: Leaving | None = None) -> None:
        """Give everything to `take`, by the reads of the engine in which it came; returns once the turn is whole. `leaving`: text
        that nothing changes may also leave so."""
        try:
            with self._running.interruptible():
                while self._attempts:
                    self._attempts -= 1
                    try:
                        await (self._attempt(take, leaving) if self._restarts is None else self._whole(take))
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
        self._choices = [Choice(plan, self._record, policy=policy, place=place) for place in range(plan.sampling.n)]
        self._usage: Usage | None = None
        self._record.finishes.clear()
        if self._recording is not None:
            self._recording.begin(plan, policy)

    async def _whole(self, take: Take[list[Batch]]) -> None:
        """An attempt that is given once it is over, whichever engine it takes. Of one that is to be asked again, what a stream
        would have sent."""
        broken: AnswerInvalid | None = None
        while True:
            kept: list[list[Batch]] = []
            try:
                await self._attempt(kept.append, partial(self._keeping, kept))
                break
            except AnswerInvalid as problem:
                broken = problem
                break
            except BackendError as error:
                if self._restarts is None or not self._restarts.after(error):
                    raise
                self._tape(error)
            await self.stop()
            self._prepare(self.plan)
            await self.start()
        for batches in kept:
            if (wait := take(batches)) is not None:
                await wait()
        if broken is not None:
            raise broken

    def _keeping(self, kept: list[list[Batch]], kind: Delta) -> Leave:
        """Keeps what goes the short way with what went the long one."""
        make = self._choices[0].making(kind)
        return lambda texts: kept.append([Batch(0, [make("".join(texts))])])

    async def _attempt(self, take: Take[list[Batch]], leaving: Leaving | None = None) -> None:
        early, self._early = self._early, ()
        shortening = None
        if leaving is not None and len(self._choices) == 1 and self._recording is None:
            shortening = Shortening(self._choices[0], self._record, leaving, partial(partial, self._waited))
        long_way = partial(self._pass, take, shortening)
        self._record.idle_since = time.perf_counter()
        with suppress(_CutShort):
            if early and (wait := long_way(early)) is not None:
                await wait()
            await self._reads.run(long_way, None if shortening is None else shortening.shortcut)
        if not all(choice.done for choice in self._choices):
            raise BackendGarbled("The engine's answer ended before its turn did.")

    def _pass(self, take: Take[list[Batch]], shortening: Shortening | None, pieces: Sequence[Piece]) -> Wait | None:
        """Make of pieces what the client may have of them."""
        record = self._record
        record.engine_wait += time.perf_counter() - record.idle_since
        batches = self._batches(pieces)
        wait = take(batches) if batches else None
        if shortening is not None:
            shortening.after(batches)
        record.idle_since = time.perf_counter()
        if wait is None and not self._cut_short():
            return None
        return partial(self._waited, wait)

    async def _waited(self, wait: Wait | None) -> None:
        """Wait for the client, and end the attempt where we have cut it short."""
        if wait is not None:
            await wait()
            now = time.perf_counter()
            self._record.client_wait += now - self._record.idle_since
            self._record.idle_since = now
        if self._cut_short():
            raise _CutShort

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
        elif self._restarts is not None and len(pieces) > 1 and len(self._choices) == 1:
            pieces = joined(pieces)  # nobody sees what it came in
        for piece in pieces:
            if piece.usage is not None:
                self._usage = piece.usage
        choices = self._choices
        for piece in pieces:
            place = piece.choice
            if not piece.text and piece.finish_reason is None and not piece.logprobs:
                continue
            if not 0 <= place < len(choices):
                raise BackendGarbled(f"The engine answered with choice {place}, which was not asked for.")
            choice = choices[place]
            if choice.done:
                continue
            events = choice.take(piece)
            logprobs = choice.logprobs(piece, events)
            if events or logprobs:
                batches.append(Batch(place, events, logprobs, piece.stop))
        return batches

    def _tape(self, error: GatewayError | None = None, *, gone: bool = False) -> None:
        """Have the attempt recorded, if it has not been."""
        if self._recording is not None:
            self._recording.end(partial(answers_of, self._choices), error, gone=gone)

    def _cut_short(self) -> bool:
        for choice in self._choices:
            if not choice.done:
                return False
        return any(choice.cut for choice in self._choices)


def answers_of(choices: Sequence[Choice]) -> list[tuple[Message, str]]:
    """What they said so far, and how each ended."""
    return [(choice.answer(), choice.finish) for choice in choices]
