"""The turns of one response: after a search by the gateway the model goes on, with the tools that were found."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import structs

from gateway.chat.events import Batch, Usage
from gateway.chat.flow import Leaving, Take, Wait
from gateway.chat.request import ChatRequest, ToolChoice
from gateway.pipeline import Turn
from parsers import Event, Finish, Message, ToolCall, fold

from .encode import StreamEncoder
from .items import found_text
from .output import json_object
from .search import search
from .tool_set import ToolSet, shown_together

Enter = Callable[[ChatRequest], Awaitable[Turn]]


class Turns:
    """Run like a single turn. Only a response whose tools are searched here has more than one."""

    def __init__(
        self,
        first: Turn,
        request: tuple[ChatRequest, ToolSet],
        encoder: StreamEncoder,
        enter: Enter,
        *,
        executing: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        self._turn = first
        self._chat, self._tools = request
        self._encoder = encoder
        self._enter = enter
        self._executing = executing
        self._spent = Usage(0, 0)
        self._searches = 0
        self._kept_back = False
        self.warnings: Sequence[str] = first.warnings

    def keep_back(self) -> None:
        """Let nothing of a turn leave before it is whole."""
        self._kept_back = True
        self._turn.keep_back()

    @property
    def usage(self) -> Usage:
        """Tokens spent in all turns."""
        return self._spent + self._turn.usage

    async def run(self, take: Take[list[Batch]], leaving: Leaving | None = None) -> None:
        """Give everything to `take`, by the reads of the engine in which it came; see Turn."""
        if not self._tools.searched_here:
            await self._turn.run(take, leaving)
            return
        while True:
            events: list[Event] = []
            await self._turn.run(partial(_endless, take, events))
            following = await self._following(fold(events))
            if following is None:
                if (wait := take([Batch(0, [event for event in events if type(event) is Finish])])) is not None:
                    await wait()
                return
            self._spent = self.usage
            self._chat = following
            self._turn = await self._enter(following)
            if self._kept_back:
                self._turn.keep_back()

    async def _following(self, answer: Message) -> ChatRequest | None:
        """The request for the next turn; None when this one was the last. Calls that the client must run end a response."""
        searches = [call for call in answer.tool_calls if call.name == self._tools.search and call.complete]
        results = [(call, await self._found(call)) for call in searches]
        if not results or len(results) < len(answer.tool_calls):
            return None
        self._searches += 1
        again = self._searches < self._tools.most_searches
        tools = tuple(tool for tool in self._tools.tools if again or tool.name != self._tools.search)
        choice = ToolChoice("auto") if self._chat.tool_choice.mode == "named" else self._chat.tool_choice
        return replace(
            self._chat,
            messages=(*self._chat.messages, *_exchange(answer, results, self._searches)),
            tools=tools,
            continues=False,
            tool_places=(),
            tool_choice=choice if tools else ToolChoice("none"),
        )

    async def _found(self, call: ToolCall) -> str:
        """Search, load and tell."""
        given = json_object(call.arguments)
        query = given.get("query")
        text = query if isinstance(query, str) else " ".join(str(value) for value in given.values())
        with self._executing(call.name):
            names = await asyncio.to_thread(search, text, self._tools.deferred)
        shown = shown_together([self._tools.deferred[name] for name in names])
        for name in names:
            self._tools.load(name)
        self._encoder.found(shown)
        return found_text(shown)


def _endless(take: Take[list[Batch]], events: list[Event], batches: list[Batch]) -> Wait | None:
    """Pass on all but how the turn finishes, which may not be the end; and keep the events."""
    events += [event for batch in batches for event in batch.events]
    going_on = [[event for event in batch.events if type(event) is not Finish] for batch in batches]
    return take([structs.replace(batch, events=kept) for batch, kept in zip(batches, going_on, strict=True)])


def _exchange(answer: Message, results: Sequence[tuple[ToolCall, str]], number: int) -> list[dict[str, Any]]:
    """The turn that searched, and what it found, as history."""
    ids = [f"search_{number}_{place}" for place in range(len(results))]
    calls = [
        {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call_id, (call, _) in zip(ids, results, strict=True)
    ]
    turn: dict[str, Any] = {"role": "assistant", "content": answer.content, "tool_calls": calls}
    if answer.reasoning:
        turn["reasoning_content"] = answer.reasoning
    told = [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, (_, text) in zip(ids, results, strict=True)]
    return [turn, *told]
