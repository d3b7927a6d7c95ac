"""Conversations to prompts, through the model's own chat template."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gateway.chat.plan import Prompt
from gateway.errors import UnrenderableChat
from parsers import Tool

from .adapt import Adapter, Chat
from .capabilities import Capabilities, probe
from .continuing import continued
from .environment import Clock, RenderFailure, Shown, Template
from .loading import Vocabulary, encoder_of, load
from .opening import common_prefix, opening_of
from .placeholders import blind
from .sharing import Shared
from .switches import forwarded
from .tokens import PromptEncoder, Shield

Messages = Sequence[Mapping[str, Any]]
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which JSON can spell and no tokenizer can read
_REMEMBERED = 32  # tool lists, and ends of prompts
_SEARCHED = 64  # messages tried one by one to find the one a template refuses


class _Known:
    """A template with what was found out about it."""

    def __init__(self, text: str, special: Mapping[str, str], clock: Clock) -> None:
        self.template = Template(text, variables=special, clock=clock)
        self.can = probe(self.template)


_templates: Shared[_Known] = Shared()


class _Voice:
    """One template in use by one renderer."""

    def __init__(self, text: str, special: Mapping[str, str], clock: Clock) -> None:
        self._known = _templates.of((text, *sorted(special.items()), clock), lambda: _Known(text, special, clock))
        self.template, self.can = self._known.template, self._known.can
        self._tools: list[tuple[tuple[Tool, ...], list[Chat]]] = []
        self._generations: dict[object, str] = {}

    def described(self, tools: Sequence[Tool], adapter: Adapter, shield: Shield | None) -> list[Chat]:
        """The tools as the template takes them. Those without control tokens are remembered: agents send them with every turn."""
        given = tuple(tools)
        for known, described in self._tools:
            if known == given:
                return described
        described = adapter.tools(tools)
        if shield:
            described = shield.hide(described)
        if shield is None or not shield.used:
            described = [Shown({**tool, "function": Shown(tool["function"])}) for tool in described]
            self._tools = [(given, described), *self._tools[: _REMEMBERED - 1]]
        return described

    def asking(self, chat: Sequence[Chat], described: Sequence[Chat], extra: Mapping[str, Any]) -> tuple[str, str]:
        """The prompt for a new turn, and what the template wrote of it."""
        text = self.template.render(chat, described, generation=True, extra=extra)
        return text, opening_of(self._generation(text, chat, described, extra), self.can.header)

    def _generation(self, text: str, chat: Sequence[Chat], described: Sequence[Chat], extra: Mapping[str, Any]) -> str:
        """The end of this prompt that asks for the assistant's turn: what is missing without `add_generation_prompt`.

        It is remembered by what it may depend on, and used again where the prompt ends with it.
        """
        last = chat[-1] if chat else {}
        key = (last.get("role"), bool(last.get("tool_calls")), bool(described), len(chat) > 1, repr(extra))
        known = self._generations.get(key)
        if known and text.endswith(known):
            return known
        bare = self.template.render(chat, described, generation=False, extra=extra)
        found = text[len(common_prefix(bare, text)) :]
        if len(self._generations) < _REMEMBERED and "\ue000" not in found:
            self._generations[key] = found
        return found


class Renderer:
    """Renders for one model. A `tool_use` template is used where tools are present."""

    def __init__(
        self,
        template: str | Mapping[str, str],
        vocabulary: Vocabulary = Vocabulary(),  # noqa: B008 - frozen
        *,
        clock: Clock = datetime.now,
    ) -> None:
        texts = {"default": template} if isinstance(template, str) else template
        voices = {
            name: _Voice(text, vocabulary.special, clock) for name, text in texts.items() if name in ("default", "tool_use")
        }
        self._default = voices.get("default") or next(iter(voices.values()))
        self._tool_use = voices.get("tool_use") or self._default
        self._vocabulary = vocabulary  # as long as it is held, others that name its tokenizer share it
        self._bos = vocabulary.special.get("bos_token") or ""
        self._encoder = encoder_of(vocabulary, literals=self._default.template.literals + "\0" + self._tool_use.template.literals)

    @classmethod
    def load(cls, tokenizer: str | None, chat_template: str | None = None, *, clock: Clock = datetime.now) -> "Renderer":
        """For a tokenizer folder or hub id, or None; `chat_template`: None (its own), a path, or `toolwire/<name>`."""
        templates, vocabulary = load(tokenizer, chat_template)
        return cls(templates, vocabulary, clock=clock)

    @property
    def capabilities(self) -> Capabilities:
        """What the template that renders tools can do."""
        return self._tool_use.can

    @property
    def template(self) -> Template:
        """The template that renders tools."""
        return self._tool_use.template

    @property
    def bos(self) -> str:
        """The text of the token that begins every prompt; empty where none is known."""
        return self._bos

    @property
    def encoder(self) -> PromptEncoder | None:
        """What makes token ids of prompts; None where the engine does."""
        return self._encoder

    def count(self, text: str) -> int | None:
        """How many tokens a text has; None where only the engine knows."""
        return self._encoder.count(text) if self._encoder else None

    @property
    def template_text(self) -> str:
        """The source of the template that renders tools."""
        return self._tool_use.template.text

    def render(
        self,
        messages: Messages,
        tools: Sequence[Tool] = (),
        template_kwargs: Mapping[str, Any] | None = None,
        *,
        continues: bool = False,
    ) -> Prompt:
        """The prompt for the assistant's next turn, or for the rest of the last message, an assistant's, where it `continues`.

        UnrenderableChat when the template refuses the conversation.
        """
        return self.render_with(self._encoder, messages, tools, template_kwargs, continues=continues)

    def render_with(
        self,
        encoder: PromptEncoder | None,
        messages: Messages,
        tools: Sequence[Tool] = (),
        template_kwargs: Mapping[str, Any] | None = None,
        *,
        continues: bool = False,
    ) -> Prompt:
        """The prompt with another encoder's token ids."""
        voice = self._tool_use if tools else self._default
        if tools and not voice.can.tools:
            raise UnrenderableChat(
                "This model's chat template ignores tools. Serve the model with `chat_template: toolwire/<name>`, "
                "or send the request without tools.",
                param="tools",
            )
        extra, warnings = forwarded(template_kwargs or {}, voice.template.reads)
        adapter = Adapter(voice.can)
        chat = adapter.conversation(messages, with_tools=bool(tools))
        shield = encoder.shield() if encoder else None
        try:
            described = voice.described(tools, adapter, shield)
            if shield:
                chat, extra = [shield.hide_message(message) for message in chat], shield.hide(extra)
        except RecursionError:
            raise UnrenderableChat("A tool's schema or a call's arguments are nested too deeply.") from None
        try:
            if continues:
                text, opening = continued(voice.template, chat, described, extra)
            else:
                text, opening = voice.asking(chat, described, extra)
        except RenderFailure as failure:
            if continues:
                raise _not_continued(failure, messages) from failure
            raise self._refusal(failure, voice, messages, tools) from failure
        text, warnings = _LONE_SURROGATE.sub("\ufffd", self._one_bos(text)), (*warnings, *adapter.warnings)
        if shield is None or encoder is None:
            return Prompt(text, None, opening, warnings)
        return Prompt(shield.restore(text), encoder.encode(text, shield), blind(opening), warnings)

    def history(self, messages: Messages, tools: Sequence[Tool] = (), template_kwargs: Mapping[str, Any] | None = None) -> str:
        """The conversation as it would stand in a prompt, with nothing opened for the next turn."""
        voice = self._tool_use if tools else self._default
        extra, _ = forwarded(template_kwargs or {}, voice.template.reads)
        adapter = Adapter(voice.can)
        try:
            chat = adapter.conversation(messages, with_tools=bool(tools))
            return voice.template.render(chat, adapter.tools(tools), generation=False, extra=extra)
        except RenderFailure as failure:
            raise self._refusal(failure, voice, messages, tools) from failure

    def _one_bos(self, text: str) -> str:
        if not self._bos:
            return text
        while text.startswith(self._bos * 2):
            text = text[len(self._bos) :]
        return self._bos + text if self._vocabulary.adds_bos and not text.startswith(self._bos) else text

    def _refusal(self, failure: RenderFailure, voice: _Voice, messages: Messages, tools: Sequence[Tool]) -> UnrenderableChat:
        index = _refused_index(str(failure), voice, messages, tools)
        if index is None:
            return UnrenderableChat(f"The model's chat template refuses this conversation: {failure}", param="messages")
        return UnrenderableChat(f"The model's chat template refuses messages[{index}]: {failure}", param=f"messages[{index}]")


def _not_continued(failure: RenderFailure, messages: Messages) -> UnrenderableChat:
    place = f"messages[{len(messages) - 1}]"
    return UnrenderableChat(
        f"This model's chat template cannot continue {place}: {failure}. Let the conversation end with the user's message.",
        param=place,
    )


def _refused_index(reason: str, voice: _Voice, messages: Messages, tools: Sequence[Tool]) -> int | None:
    """The first message with which the conversation so far fails in the same way."""
    for end in range(1, min(len(messages), _SEARCHED) + 1):
        adapter = Adapter(voice.can)
        try:
            voice.template.render(
                adapter.conversation(messages[:end], with_tools=bool(tools)), adapter.tools(tools), generation=True
            )
        except RenderFailure as failure:
            if str(failure) == reason:
                return end - 1
    return None
