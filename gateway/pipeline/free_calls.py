"""Counts whole calls that break the schema of a tool that nothing holds them to: the client gets them all the same."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gateway.chat.plan import Plan
from gateway.planning import schemas
from gateway.telemetry.record import Record
from parsers import Event, ToolCallArguments, ToolCallEnd, ToolCallStart

LONGEST = 64 * 1024
"""Characters of arguments that are looked at: it is done while everybody waits."""


class FreeCalls:
    """Watches one choice. `schemas`: those of the tools, by name."""

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]], record: Record) -> None:
        self._schemas = schemas
        self._record = record
        self._name = ""
        self._fragments: list[str] | None = None

    @classmethod
    def of(cls, plan: Plan, held: Collection[str], record: Record) -> "FreeCalls | None":
        """For one choice; None where there is nothing to watch. `held`: names of tools whose calls are checked elsewhere."""
        found = {tool.name: tool.parameters for tool in plan.tools if tool.parameters and tool.name not in held}
        return cls(found, record) if found else None

    def see(self, events: Iterable[Event]) -> None:
        """To be told of all events, in order."""
        for event in events:
            kind = type(event)
            if kind is ToolCallArguments:
                if self._fragments is not None:
                    self._fragments.append(event.fragment)  # type: ignore[union-attr]
            elif kind is ToolCallStart:
                self._name = event.name  # type: ignore[union-attr]
                self._fragments = [] if self._name in self._schemas else None
            elif kind is ToolCallEnd and self._fragments is not None:
                if event.complete:  # type: ignore[union-attr]
                    self._check("".join(self._fragments) or "{}")
                self._fragments = None

    @property
    def fragments(self) -> list[str] | None:
        """The arguments of the open call so far; None where they are not looked at. What is not told to `see` is to be added."""
        return self._fragments

    def _check(self, arguments: str) -> None:
        if len(arguments) <= LONGEST and schemas.is_violated(arguments, self._schemas[self._name]):
            self._record.invalid += 1
