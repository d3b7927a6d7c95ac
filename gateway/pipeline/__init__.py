"""The one walk every request takes: plan, engine, parsers, demand. Protocols open it and encode what comes out."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial

from gateway.backends.base import CountsTokens
from gateway.chat.events import Usage
from gateway.chat.plan import Plan
from gateway.chat.request import ChatRequest
from gateway.errors import ContextTooLong, GatewayError, RequestError
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.planning.claim import Claim, of_plan
from gateway.planning.planner import plan as make_plan
from gateway.planning.planner import prompt_of
from gateway.planning.truncating import left_out, shorter
from gateway.planning.weight import is_light
from gateway.telemetry.observer import Observer
from gateway.telemetry.record import Record

from .admission import Admission
from .instead import elsewhere, fits, notice
from .recorded import Fits, Recorded
from .recording import Recordings
from .running import Running
from .traced import content_attributes, request_attributes, result_events
from .turn import Turn

__all__ = ["Pipeline", "Turn"]

log = logging.getLogger(__name__)


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
        self.running = Running()
        self._admission = admission
        self._recordings = recordings

    def admitted(self, record: Record) -> AbstractAsyncContextManager[None]:
        """The time of one request, within the limits of the caller's key; LimitError when one is reached."""
        return nullcontext() if self._admission is None else self._admission.admitted(record)

    async def reserve(self, record: Record, claims: Iterable[Claim]) -> None:
        """Set aside, within the limits of the caller's key, what a request may take; LimitError when there is no room for it."""
        if self._admission is not None:
            await self._admission.reserve(record, claims)

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
    async def received(
        self, model: str, *, operation: str = "chat", by: Fits | None = None
    ) -> AsyncIterator[tuple[Record, ModelSpec]]:
        """The time of one request to the model of this name. `by`: whether its fallback will do while it cannot be served."""
        told = Recorded(model, self.catalog, self.observer, operation=operation, by=by)
        with self.running.one(), told as (record, spec):
            async with self.admitted(record):
                yield record, spec

    @asynccontextmanager
    async def open(self, request: ChatRequest) -> AsyncIterator[Turn]:
        """A running turn. Entering returns once the engine has accepted it (else a GatewayError is raised, so the client gets a
        real status); leaving, at any point, stops the generation."""
        async with self.received(request.model, by=partial(fits, request)) as (record, spec):
            turn = await self._begun(request, spec, record)
            try:
                yield turn
            except GatewayError as error:
                error.warnings = tuple(turn.warnings)
                raise
            finally:
                _note_usage(record, turn.usage)
                if record.span is not None and self.observer.tells_content:
                    record.span.set_attributes(content_attributes(request, turn.answers()))
                await turn.stop()

    async def _begun(self, request: ChatRequest, spec: ModelSpec, record: Record) -> Turn:
        """The turn, once an engine has accepted it: the model's own, or else one of its fallback."""
        another = None if record.instead_of else self.catalog.instead_of(request.model)
        if another is not None and not fits(request, another):
            another = None
        try:
            turn = await self._planned(request, spec, record)
        except RequestError:
            self.catalog.find(request.model)  # what a fallback cannot do is no news; that the model cannot be served is
            raise
        try:
            turn = await self._accepted(turn, request, record, awaited=another is not None)
        except GatewayError as error:
            await turn.stop()
            if another is None or not elsewhere(error):
                raise
            other = await self._other(request, another, record)
            if other is None:
                raise
            turn = other
        return turn

    async def _accepted(self, turn: Turn, request: ChatRequest, record: Record, *, awaited: bool) -> Turn:
        """The turn, once its engine has accepted it: without the oldest messages where it finds them too many and they may go."""
        whole = request
        while True:
            try:
                await turn.start(awaited=awaited)
                return turn
            except ContextTooLong as problem:
                following = shorter(request, problem) if request.truncates else None
                if following is None:
                    raise
                request = following
            await turn.stop()
            turn = await self._planned(left_out(whole, request), turn.spec, record)

    async def _other(self, request: ChatRequest, spec: ModelSpec, record: Record) -> Turn | None:
        """The fallback's turn, once its engine has accepted it; None when it cannot take the request either."""
        before = record.model
        self.observer.moved(record, spec.name, spec.format.name, spec.backend.name)
        try:
            turn = await self._planned(request, spec, record)
            await turn.start()
        except GatewayError as error:
            log.warning("%s cannot answer instead of %s: %s", spec.name, before, error)
            return None
        return turn

    async def _planned(self, request: ChatRequest, spec: ModelSpec, record: Record) -> Turn:
        plan = make_plan(request, spec) if is_light(request, spec) else await asyncio.to_thread(make_plan, request, spec)
        if record.instead_of:
            plan = replace(plan, warnings=(*plan.warnings, notice(request.model, spec)))
        if record.lease:
            await self.reserve(record, (of_plan(plan, spec),))
        _note_plan(record, plan)
        if record.span is not None:
            record.span.set_attributes(request_attributes(plan))
            for event in result_events(request):
                record.span.add_event("toolwire.tool_result", event)
        return Turn(spec, plan, record, self.running, recording=self._recordings.of(spec, record) if self._recordings else None)


def _note_plan(record: Record, plan: Plan) -> None:
    record.tool_choice = plan.request.tool_choice.mode
    record.tools = len(plan.request.tools)
    record.guards = plan.guards
    record.constraint = plan.constraint.kind if plan.constraint else ""


def _note_usage(record: Record, usage: Usage) -> None:
    record.prompt_tokens, record.completion_tokens = usage.prompt_tokens, usage.completion_tokens
    record.cached_tokens, record.reasoning_tokens = usage.cached_tokens, usage.reasoning_tokens
