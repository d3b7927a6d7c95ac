"""Opens the shortcut from engine to client where the text of a turn passes unchanged, and closes it again."""

import time
from collections.abc import Callable, Sequence

from gateway.chat.events import Batch
from gateway.chat.flow import Leave, Leaving, Shortcut, Wait
from gateway.telemetry.record import Record
from parsers import Delta, Passage, ReasoningDelta

from .choice import Choice

Waited = Callable[[Wait], Wait]
"""What waits for a client, and accounts for it."""


class Shortening:
    """Looks after the `shortcut` of a turn with one choice."""

    def __init__(self, choice: Choice, record: Record, leaving: Leaving, waited: Waited) -> None:
        self.shortcut = Shortcut()
        self._choice = choice
        self._record = record
        self._leaving = leaving
        self._waited = waited
        self._passage: Passage | None = None
        """For which the shortcut's `leave` was made, while nothing but such deltas has come."""

    def after(self, batches: Sequence[Batch]) -> None:
        """To be told what has come the long way, each time."""
        shortcut = self.shortcut
        if not batches and shortcut.pattern is None:
            return  # where nothing has been said nothing has begun that could pass
        if self._passage is not None and batches and not _is_delta(batches, self._passage.kind):
            self._passage = None
        passage = self._choice.passage()
        if passage is not None and passage is not self._passage:
            leave = self._way(passage)
            if leave is None:
                passage = None
            else:
                self._passage, shortcut.leave = passage, leave
        shortcut.pattern = None if passage is None else passage.pattern

    def _way(self, passage: Passage) -> Leave | None:
        kind, passed = passage.kind, passage.passed
        write = self._leaving(kind)
        kept = None if write is None else self._choice.spared(kind)
        if write is None or kept is None:
            return None
        choice, record, waited, clock = self._choice, self._record, self._waited, time.perf_counter
        thinks = kind is ReasoningDelta

        def leave(texts: list[str]) -> Wait | None:
            record.engine_wait += clock() - record.idle_since
            if len(texts) > 1:
                texts = [text for text in texts if text]
            choice.tokens += len(texts)
            texts = passed(texts)
            if thinks:
                choice.reasoning_tokens += len(texts)
            for those in kept:
                those.extend(texts)
            wait = write(texts) if texts else None
            record.idle_since = clock()
            return wait if wait is None else waited(wait)

        return leave


def _is_delta(batches: Sequence[Batch], kind: Delta) -> bool:
    return len(batches) == 1 and len(batches[0].events) == 1 and type(batches[0].events[0]) is kind
