"""A response while it is made: the turn, its encoder, and the record that is kept of it."""

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from gateway.chat.events import Batch, Usage
from gateway.chat.flow import Leaving, Take
from gateway.chat.request import ChatRequest
from gateway.errors import StoreUnavailable, ToolSchemaInvalid
from gateway.pipeline import Pipeline, Turn
from gateway.protocols.answer import told

from .conversations import NotFound
from .encode import StreamEncoder
from .records import Record, Records
from .shape import Shape
from .tool_set import ToolSet
from .turns import Turns

Json = dict[str, Any]
log = logging.getLogger(__name__)


NOT_STRICT = "functions that do not say they are strict are not: this engine takes no constraints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request, and how its answer is to be written and kept."""

    chat: ChatRequest
    tools: ToolSet
    shape: Shape
    input: Sequence[Json]
    """The request's own items, each with an id."""
    owner: str
    stream: bool
    store: bool
    background: bool
    conversation: str | None = None
    """Where the input and what comes of it are added."""
    headless: bool = False
    """Its answer has no headers, or is looked at where there are none: warnings stand in the response itself."""

    def warn(self, warnings: Iterable[str]) -> None:
        """Note what was accepted but is not, or not wholly, in effect."""
        if known := list(dict.fromkeys((*self.shape.echo.get("warnings", ()), *warnings))) if self.headless else []:
            self.shape.echo["warnings"] = known


@asynccontextmanager
async def opened(pipeline: Pipeline, asked: Incoming, encoder: StreamEncoder) -> AsyncIterator[Turns]:
    """The running turns. Functions that were only taken for strict are not, where that cannot be enforced."""
    async with AsyncExitStack() as stack:

        async def enter(chat: ChatRequest) -> Turn:
            await stack.aclose()  # the turn before is over
            turn = await stack.enter_async_context(pipeline.open(chat))
            turn.answered_as(asked.shape.id)
            asked.shape.echo["model"] = turn.instead or asked.shape.echo["model"]
            asked.warn(turn.warnings)
            return turn

        chat = _as_it_can_be_held(asked, pipeline)
        try:
            turn = await enter(chat)
        except ToolSchemaInvalid:
            if not asked.tools.loosen():
                raise
            chat = replace(chat, tools=asked.tools.tools)
            turn = await enter(chat)
        yield Turns(turn, (chat, asked.tools), encoder, enter, executing=pipeline.observer.executing)


def _as_it_can_be_held(asked: Incoming, pipeline: Pipeline) -> ChatRequest:
    """The request, in which nothing is strict that was only taken for it where the engine takes no constraints: a model that
    nothing holds would fail calls of which nobody demanded more than OpenAI's default."""
    if pipeline.catalog.answering(asked.chat.model).backend.dialect is not None or not asked.tools.loosen():
        return asked.chat
    return replace(asked.chat, tools=asked.tools.tools, warnings=(*asked.chat.warnings, NOT_STRICT))


@dataclass(frozen=True, slots=True)
class Taking:
    """Gives what the turn gives, and keeps the response before its end is told: the client may refer to it at once."""

    turns: Turns
    encoder: StreamEncoder
    records: Records
    asked: Incoming

    @property
    def warnings(self) -> Sequence[str]:
        return self.turns.warnings

    @property
    def usage(self) -> Usage:
        return self.turns.usage

    async def run(self, take: Take[list[Batch]], leaving: Leaving | None = None) -> None:
        """Give everything to `take`, as the turns do."""
        try:
            await self.turns.run(take, leaving)
        except Exception as error:
            known = told(error)
            self.encoder.fail(known)
            await keep(self.records, self.asked, self.encoder)
            if known is error:
                raise
            raise known from error
        await self._conclude()

    async def whole(self) -> Json:
        """The response, once it is there."""
        await self.turns.run(self._written)
        await self._conclude()
        return self.encoder.result

    def _written(self, batches: Sequence[Batch]) -> None:
        self.encoder.encode(batches)

    async def _conclude(self) -> None:
        self.encoder.conclude(self.turns.usage)
        await keep(self.records, self.asked, self.encoder)
        await join(self.records, self.asked, self.encoder)


async def keep(records: Records, asked: Incoming, encoder: StreamEncoder) -> None:
    """Keep the response as it is now. When that fails the answer is told nevertheless, but as one that is not stored."""
    if not asked.store and records.nearby is None:
        return
    try:
        await records.keep(asked.owner, Record(encoder.result, asked.input), lasting=asked.store)
    except StoreUnavailable as error:
        log.error("response %s was not kept: %s", encoder.shape.id, error)
        encoder.result["store"] = False


async def join(records: Records, asked: Incoming, encoder: StreamEncoder) -> None:
    """Add what was said to the conversation that it belongs to. Where that is gone, the answer is told nevertheless."""
    if asked.conversation is None:
        return
    try:
        items = [*asked.input, *encoder.result["output"]]
        await records.conversations.add(asked.owner, asked.conversation, items)
    except (StoreUnavailable, NotFound) as error:
        log.error("response %s was not added to its conversation: %s", encoder.shape.id, error)
