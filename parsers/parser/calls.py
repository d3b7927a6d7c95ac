"""The calls of a turn: the one that is being read, and how those before it ended."""

import re

from ..events import ToolCallArguments, ToolCallEnd, ToolCallStart
from ..message import Tool, Tools
from .output import Output

_OWN_NAMESPACE = re.compile(r"\A(?:functions?|tools?|default_api)[.:]")
"""What prompts call the tools of a request as a whole; models put it before a tool's name."""
Counts = tuple[int, int, bool]
"""The index of the latest call, how many are complete, and whether one was cut off."""
NO_CALLS: Counts = (-1, 0, False)


class Calls:
    """What is known of the call that is being read, and the events of an open one."""

    __slots__ = (
        "_output",
        "announced",
        "completed",
        "id",
        "index",
        "muted",
        "name",
        "open",
        "tool",
        "tools",
        "truncated",
    )

    def __init__(self, tools: Tools, output: Output) -> None:
        declared = None if tools is None else [Tool.of(tool) for tool in tools]
        self.tools: dict[str, Tool] | None = None if declared is None else {tool.name: tool for tool in declared}
        self._output = output
        self.index, self.completed, self.truncated = NO_CALLS
        self.name: str | None = None
        """As the model wrote it, until the call opens."""
        self.id: str | None = None
        self.tool: Tool | None = None
        """The tool of the open call."""
        self.open = False
        self.muted = False
        """The open call is to no tool that is declared: it is text."""
        self.announced = False
        """A marker longer than a bracket began the latest call."""

    @property
    def counts(self) -> Counts:
        """What to go back to with `reset`."""
        return self.index, self.completed, self.truncated

    def reset(self, counts: Counts) -> None:
        """Those after `counts` never were, and none is being read."""
        self.index, self.completed, self.truncated = counts
        self.open = self.muted = False
        self.name = self.id = self.tool = None

    def declared(self, name: str) -> str | None:
        """The declared tool that a name as the model wrote it means; None when there is none."""
        if self.tools is None or name in self.tools:
            return name
        bare = name.strip().strip("\"'`").removesuffix("()")
        return next((tool for tool in (bare, _OWN_NAMESPACE.sub("", bare)) if tool in self.tools), None)

    def start(self, name: str, call_id: str | None) -> None:
        """A call to a declared tool opens."""
        self.open = True
        self.index += 1
        self.tool = self.tools[name] if self.tools is not None else None
        self._output.events.append(ToolCallStart(self.index, name, call_id))

    def mute(self) -> None:
        """A call opens that is text, to its end."""
        self.open = self.muted = True

    def arguments(self, fragment: str) -> None:
        """JSON text of the open call's arguments."""
        if fragment and not self.muted:
            self._output.events.append(ToolCallArguments(self.index, fragment))

    def end(self, *, complete: bool) -> None:
        """The open call is over."""
        if not self.muted:
            self._output.events.append(ToolCallEnd(self.index, complete, self.id))
            self._output.behind_call = True
            self.completed += complete
            self.truncated = self.truncated or not complete
        self.open = self.muted = False
        self.id = self.tool = None

    def finish_reason(self, reason: str) -> str:
        """Why the turn ended, when the engine says that it stopped for this reason."""
        if self.truncated:
            return "length"
        return "tool_calls" if reason == "stop" and self.completed else reason
