"""Token ids in which control tokens come from the template alone.

Control tokens that client text spells are hidden behind placeholders before rendering. Afterwards the prompt is cut at the
control tokens that remain (only the template can have written those), and the text between is encoded by a tokenizer that
knows no control tokens. A prompt without placeholders takes the ordinary path, so its ids are the ordinary ones.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from .memory import Remembered
from .opening import is_thinking
from .patterns import any_of
from .placeholders import CLOSE, END, OPEN, placeholder, restored
from .sharing import Shared

_LOOKS_LIKE_CONTROL = re.compile(r"<[|｜].*|[<\[]?[｜|].*|\[/?[A-Z_]+\]|<unused\d+>|<reserved.*|</?(?:tool|think|func)[a-z_]*>")
Encode = Callable[[str], Sequence[int]]
_BENIGN = ("Hello, how are you?", " two  spaces\n\n\ttab ", "naïve 東京 🎉 x = {'a': [1, 2.5]}", "</b> <i>html</i> [x] <y>", "\n")


@dataclass(frozen=True, slots=True)
class EngineTokens:
    """An engine's vocabulary. `special`: control tokens, text -> id, which `encode` never gives. `added`: other tokens that stand
    for one text, which `encode` always gives. `encode`: the ids of a text, with none added; called in threads."""

    special: Mapping[str, int]
    added: Mapping[str, int]
    encode: Encode


class Shield:
    """Hides and restores the control tokens of one conversation's client text."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._hidden: list[str] = []

    @property
    def used(self) -> bool:
        """Whether anything had to be hidden."""
        return bool(self._hidden)

    def hide(self, value: Any) -> Any:
        """The same value with every control token in its strings and keys behind a placeholder."""
        if isinstance(value, str):
            return self._pattern.sub(self._placeholder, value)
        if isinstance(value, Mapping):
            return {self.hide(key): self.hide(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.hide(item) for item in value]
        return value

    def hide_message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message; thinking markers in an assistant's own text stay, because templates split on them."""
        if message["role"] != "assistant":
            return {key: self.hide(value) for key, value in message.items()}
        return {key: self._hide_spoken(value) if isinstance(value, str) else self.hide(value) for key, value in message.items()}

    def restore(self, text: str) -> str:
        """Placeholders back to what the client wrote."""
        return restored(text, self._hidden)

    def _placeholder(self, match: re.Match[str]) -> str:
        self._hidden.append(match[0])
        return placeholder(len(self._hidden) - 1)

    def _hide_spoken(self, text: str) -> str:
        return self._pattern.sub(lambda match: match[0] if is_thinking(match[0]) else self._placeholder(match), text)


@dataclass(frozen=True, slots=True)
class Control:
    """A control token: its id, and whether it takes in the white space before or behind it."""

    id: int
    lstrip: bool = False
    rstrip: bool = False


class PromptEncoder:
    """Encodes rendered prompts of one model.

    `plain` encodes text without ever seeing a control token in it; `ordinary` encodes as servers do, None where the engine
    itself encodes prompts that hold nothing of the kind.
    """

    def __init__(self, controls: Mapping[str, Control], *, plain: Encode, ordinary: Encode | None) -> None:
        self._controls = controls
        self._plain = plain
        self._ordinary = ordinary
        self._heads = Remembered(self._cut)
        self._inner = frozenset("".join(text[1:] for text in controls))
        """Characters that stand behind the first one of some control token."""
        self._agrees = False
        self._ids = frozenset(control.id for control in controls.values())
        self._control = re.compile(f"({any_of(controls)})")
        # our own characters are hidden too, so that a client cannot forge them
        self._hidden = re.compile(any_of([*controls, OPEN, CLOSE, END]))

    @classmethod
    def of_tokenizer(cls, tokenizer_json: str, *, literals: str) -> "PromptEncoder":
        """For a fast tokenizer's description. `literals`: the template's own text, which tells control tokens from words."""
        description = json.loads(tokenizer_json)
        found = [token for token in description["added_tokens"] if is_control(token["content"], token["special"], literals)]
        controls = {token["content"]: Control(token["id"], token["lstrip"], token["rstrip"]) for token in found}
        return _encoders.of((tokenizer_json, *controls), lambda: cls._of_controls(tokenizer_json, description, controls))

    @classmethod
    def _of_controls(
        cls, tokenizer_json: str, description: Mapping[str, Any], controls: Mapping[str, Control]
    ) -> "PromptEncoder":
        whole = Tokenizer.from_str(tokenizer_json)
        blind = Tokenizer.from_str(json.dumps(_without_controls(description, controls)))
        blind.encode_special_tokens = True
        encoder = cls(
            controls,
            plain=Remembered(lambda text: _ids(blind, text)),
            ordinary=lambda text: _ids(whole, text),
        )
        encoder.check()
        return encoder

    @classmethod
    def of_engine(cls, tokens: EngineTokens, *, literals: str) -> "PromptEncoder":
        """For an engine that encodes. It never makes a special token of a text, but always an added one, so that a client's is
        encoded in two pieces."""
        added = {text: number for text, number in tokens.added.items() if is_control(text, False, literals)}
        spelled = re.compile(any_of(added))

        def plain(text: str) -> list[int]:
            cuts = [match.start() + 1 for match in spelled.finditer(text)]
            pieces = [text[a:b] for a, b in zip((0, *cuts), (*cuts, len(text)), strict=True)]
            return [number for piece in pieces if piece for number in tokens.encode(piece)]

        controls = {text: Control(number) for text, number in (*tokens.special.items(), *added.items())}
        return cls(controls, plain=plain, ordinary=None)

    @property
    def controls(self) -> tuple[str, ...]:
        """The control tokens' texts."""
        return tuple(self._controls)

    def is_control(self, number: int) -> bool:
        """Whether this id is a control token's."""
        return number in self._ids

    def holds(self, text: str) -> bool:
        """Whether this text is a single token."""
        return text in self._controls or (self._ordinary is not None and len(self._ordinary(text)) == 1)

    def count(self, text: str) -> int:
        """How many tokens a text has that spells none."""
        return len(self._plain(text))

    def shield(self) -> Shield:
        """A fresh one for one conversation."""
        return Shield(self._hidden)

    def encode(self, text: str, shield: Shield) -> tuple[int, ...] | None:
        """Ids of a rendered prompt whose placeholders are this shield's; None where the engine makes them of its text.

        Segments of earlier prompts are remembered, so they are used for every prompt where they were found to give the ordinary
        ids.
        """
        if shield.used or (self._agrees and self._ordinary is not None):
            return tuple(self._segments(text, shield))
        return None if self._ordinary is None else tuple(self._ordinary(text))

    def _segments(self, text: str, shield: Shield) -> list[int]:
        if shield.used:
            return self._cut(text, shield.restore)
        head = self._head(text)
        return [*self._heads(text[:head]), *self._cut(text[head:])] if head else self._cut(text)

    def _head(self, text: str) -> int:
        """Where a prompt's second message begins, as its first control token comes again: what stands before is the same for
        all turns of a conversation, and holds the tools."""
        first = self._control.match(text)
        if first is None or self._controls[first[0]].lstrip or first[0][0] in self._inner:
            return 0  # what looks like its beginning could be a part of another one
        return max(0, text.find(first[0], first.end()))

    def _cut(self, text: str, restored: Callable[[str], str] = str) -> list[int]:
        plain = self._plain
        ids: list[int] = []
        pieces = iter(self._control.split(text))
        before = next(pieces)
        for spelled, behind in zip(pieces, pieces, strict=True):
            token = self._controls[spelled]
            if token.lstrip:
                before = before.rstrip()
            if before:
                ids += plain(restored(before))
            ids.append(token.id)
            before = behind.lstrip() if token.rstrip else behind
        return [*ids, *plain(restored(before))] if before else ids

    def check(self) -> None:
        """Both paths must agree where no client text interferes; else prompts under attack are spelled a little differently."""
        if self._ordinary is None:
            return
        names = list(self._controls)[:8]
        probes = [*_BENIGN, *(f"{name}{text}" for name, text in zip(names, _BENIGN * 2, strict=False))]
        for text in probes:
            if self._segments(text, self.shield()) != list(self._ordinary(text)):
                logging.getLogger(__name__).warning("safe and ordinary token ids differ for %r", text)
                return
        self._agrees = True


_encoders: Shared[PromptEncoder] = Shared()


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encoding of one text as a batch: only then the interpreter goes on with other threads."""
    return list(tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids)


def is_control(content: str, special: bool, literals: str) -> bool:  # noqa: FBT001 - as the tokenizer says
    """Not whitespace runs or HTML tags, which some vocabularies add: those are ordinary text."""
    if not content.strip():
        return False
    return bool(special or content in literals or _LOOKS_LIKE_CONTROL.fullmatch(content))


def _without_controls(description: Mapping[str, Any], controls: Mapping[str, Any]) -> dict[str, Any]:
    added = [{**token, "special": token["content"] in controls} for token in description["added_tokens"]]
    return {**description, "added_tokens": added, "post_processor": None}
