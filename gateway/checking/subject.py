"""What is checked, with what is known of it, for all checks to look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import parsers
from gateway.chat.plan import Dialect
from gateway.rendering import Renderer
from gateway.rendering.adapt import Adapter
from gateway.rendering.capabilities import Capabilities
from gateway.rendering.environment import Template
from gateway.rendering.probing import USER, History, Messages, Probe, Tools
from gateway.rendering.round_trip import nearest
from gateway.rendering.samples import Lost, Sample, ending_of, samples_of
from parsers import Format, Tool
from parsers.dialect import spelled_formats

from .ours import of_its_layout

Sends = Literal["ids", "text"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A template to check. `configured`: the format it must speak, None to find it. `dialect`: that of the engine's constraints.

    `sends`: whether the engine gets token ids; None where there is no engine.
    """

    name: str
    renderer: Renderer
    configured: Format | None = None
    dialect: Dialect | None = None
    sends: Sends | None = None


@dataclass(frozen=True)
class Look:
    """A subject with its samples rendered. `format` is the one the checks are made for."""

    subject: Subject
    samples: list[Sample | Lost] = field(default_factory=list)
    format: Format | None = None
    found: str | None = None
    """The format that detection finds."""

    @classmethod
    def at(cls, subject: Subject) -> "Look":
        return cls(subject, samples_of(subject.renderer))

    @property
    def renderer(self) -> Renderer:
        return self.subject.renderer

    @property
    def template(self) -> Template:
        return self.subject.renderer.template

    @property
    def can(self) -> Capabilities:
        return self.subject.renderer.capabilities

    @property
    def probe(self) -> Probe:
        return Probe(self.template, as_parts=self.can.text_lists)

    @property
    def history(self) -> History:
        """Calls in the form this template takes."""
        return History(self.can.arguments, self.can.call_content, self.can.id_rule)

    @property
    def said(self) -> list[Sample]:
        """The messages that the template can say."""
        return [sample for sample in self.samples if isinstance(sample, Sample)]

    @property
    def ending(self) -> str:
        return ending_of(self.renderer)

    @cached_property
    def believed(self) -> Format | None:
        """Its format, else the one of which its call is nearly one, else the one whose markers its own words spell."""
        if self.format is not None:
            return self.format
        near = nearest(self.said[0]) if self.said and self.said[0].message.tool_calls else None
        names = [near[0]] if near else spelled_formats(self.template.literals)
        return parsers.get(names[0]) if names else None

    @cached_property
    def ours(self) -> list[str]:
        """Templates of ours that can stand in for it: its format's where the layout agrees, any of its layout where it knows no
        tools at all."""
        if self.believed is not None:
            return of_its_layout(self.template, self.believed)
        return [] if self.can.tools else of_its_layout(self.template)

    @property
    def instead(self) -> str:
        """What to do where the template is at fault."""
        if not self.ours:
            return "None of our templates has its layout: correct it in a copy, and name that (chat_template: FILE)."
        if self.believed is not None:
            return f"Serve it with chat_template: {self.ours[0]}."
        return f"If the model was trained to call tools, serve it with chat_template: {' or '.join(self.ours)}."

    def shows(self, messages: Messages, *needles: str, tools: Tools = ()) -> bool:
        return self.probe.shows(messages, *needles, tools=tools)

    def failure(self, messages: Messages, tools: Tools = ()) -> str:
        """Why the template refuses a conversation; empty when it does not."""
        probe = self.probe
        return "" if probe.text(messages, tools) is not None else probe.failure or "it refuses"

    def prompt(self, extra: Mapping[str, Any] | None = None) -> str:
        """The prompt for a user's message; empty where the template refuses it."""
        return self.probe.text([USER], generation=True, extra=extra) or ""

    def with_tools(self, tools: Tools) -> str | None:
        """A user's message beside these tools, adapted as a request would be."""
        adapter = Adapter(self.can)
        return self.probe.text(
            adapter.conversation([USER], with_tools=True), adapter.tools([Tool.of(tool) for tool in tools]), generation=True
        )
