"""One model behind a pipeline: what a request gives, event by event, and what was counted."""

import asyncio
import json
from pathlib import Path
from typing import Any

from gateway.chat.events import Batch, Usage
from gateway.chat.request import ChatRequest
from gateway.pipeline import Pipeline, Turn
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from parsers import Event, Finish, Message
from tests.support.planned import scripted


class Walk:
    """One model behind a pipeline, its metrics, and what a request gives."""

    def __init__(self, spec: ModelSpec) -> None:
        self.metrics = Metrics()
        self.pipeline = Pipeline(Catalog([spec]), Observer(self.metrics))
        self.usage: Usage | None = None
        self.left: list[Event] = []
        self.tokens: list[str] = []
        """The tokens whose log probabilities left."""

    def events(self, request: ChatRequest, choice: int = 0) -> list[Event]:
        """All events of one choice; `left` has those that left before a failure."""
        self.left, self.tokens = [], []

        async def walk() -> None:
            async with self.pipeline.open(request) as turn:
                await turn.run(lambda read: self._leaves(read, choice))
                self.usage = turn.usage

        asyncio.run(walk())
        return self.left

    def _leaves(self, read: list[Batch], choice: int) -> None:
        self.tokens += [token.token for batch in read for token in batch.logprobs or ()]
        self.left += [event for batch in read if batch.choice == choice for event in batch.events]

    def steps(self) -> dict[str, float]:
        """What holding turns to their demands came to."""
        names = ("valid", "repaired", "retried", "reported", "failed", "declined")
        found = {name: self.counted("checks_total", model="scripted", format="hermes", step=name) for name in names}
        return {name: value for name, value in found.items() if value}

    def counted(self, name: str, **labels: str) -> float:
        """A metric's value, 0 when nothing was counted."""
        return self.metrics.registry.get_sample_value(f"toolwire_{name}", labels) or 0.0


async def reads_of(turn: Turn) -> list[list[Batch]]:
    """All that a turn gives."""
    reads: list[list[Batch]] = []
    await turn.run(reads.append)
    return reads


def walk(folder: Path, turns: Any, **fields: Any) -> Walk:
    return Walk(scripted(folder, turns, **fields))


def reason(events: list[Event]) -> str:
    assert isinstance(events[-1], Finish)
    assert sum(isinstance(event, Finish) for event in events) == 1
    return events[-1].reason


def calls(message: Message) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
