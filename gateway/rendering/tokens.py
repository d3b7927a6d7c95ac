"""Token ids in which control tokens come from the template alone.

Control tokens that client text spells are hidden behind placeholders before rendering. Afterwards the prompt is cut at the
control tokens that remain (only the template can have written those), and the text between is encoded by a tokenizer that
knows no control tokens. A prompt without placeholders takes the ordinary path, so its ids are the ordinary ones.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer

from .opening import is_thinking

_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACEHOLDER = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_LOOKS_LIKE_CONTROL = re.compile(r"<[|｜].*|[<\[]?[｜|].*|\[/?[A-Z_]+\]|<unused\d+>|<reserved.*|</?(?:tool|think|func)[a-z_]*>")
_BENIGN = ("Hello, how are you?", " two  spaces\n\n\ttab ", "naïve 東京 🎉 x = {'a': [1, 2.5]}", "</b> <i>html</i> [x] <y>", "\n")


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
        return _PLACEHOLDER.sub(lambda match: self._hidden[int(match[1])], text) if self._hidden else text

    def _placeholder(self, match: re.Match[str]) -> str:
        self._hidden.append(match[0])
        return f"{_OPEN}{len(self._hidden) - 1}{_CLOSE}"

    def _hide_spoken(self, text: str) -> str:
        return self._pattern.sub(lambda match: match[0] if is_thinking(match[0]) else self._placeholder(match), text)


class PromptEncoder:
    """Encodes rendered prompts of one model. `literals` is the template's own text, which tells control tokens from words."""

    def __init__(self, tokenizer_json: str, *, literals: str) -> None:
        description = json.loads(tokenizer_json)
        controls = [token for token in description["added_tokens"] if _is_control(token, literals)]
        self._ordinary = Tokenizer.from_str(tokenizer_json)
        self._controls = {token["content"]: token for token in controls}
        names = "|".join(re.escape(name) for name in sorted(self._controls, key=len, reverse=True))
        self._control = re.compile(names or r"(?!)")
        # the placeholder's own characters are hidden too, so that a client cannot forge one
        self._hidden = re.compile(f"{names}|[{_OPEN}{_CLOSE}]" if names else f"[{_OPEN}{_CLOSE}]")
        self._plain = Tokenizer.from_str(json.dumps(_without_controls(description, self._controls)))
        self._plain.encode_special_tokens = True
        self._check()

    def shield(self) -> Shield:
        """A fresh one for one conversation."""
        return Shield(self._hidden)

    def encode(self, text: str, shield: Shield) -> tuple[int, ...]:
        """Ids of a rendered prompt whose placeholders are this shield's."""
        if not shield.used:
            return tuple(self._ordinary.encode(text, add_special_tokens=False).ids)
        return tuple(self._segments(text, shield))

    def _segments(self, text: str, shield: Shield) -> list[int]:
        ids: list[int] = []
        at = 0
        for match in self._control.finditer(text):
            token = self._controls[match[0]]
            if match.start() < at:
                continue
            between = text[at : match.start()]
            ids += self._plain_ids(between.rstrip() if token["lstrip"] else between, shield)
            ids.append(token["id"])
            at = match.end()
            while token["rstrip"] and at < len(text) and text[at].isspace():
                at += 1
        return ids + self._plain_ids(text[at:], shield)

    def _plain_ids(self, text: str, shield: Shield) -> list[int]:
        return self._plain.encode(shield.restore(text), add_special_tokens=False).ids if text else []

    def _check(self) -> None:
        """Both paths must agree where no client text interferes; else prompts under attack are spelled a little differently."""
        names = list(self._controls)[:8]
        probes = [*_BENIGN, *(f"{name}{text}" for name, text in zip(names, _BENIGN * 2, strict=False))]
        for text in probes:
            if self._segments(text, self.shield()) != self._ordinary.encode(text, add_special_tokens=False).ids:
                logging.getLogger(__name__).warning("safe and ordinary token ids differ for %r", text)
                return


def _is_control(token: Mapping[str, Any], literals: str) -> bool:
    """Not whitespace runs or HTML tags, which some vocabularies add: those are ordinary text."""
    content = token["content"]
    if not content.strip():
        return False
    return bool(token["special"] or content in literals or _LOOKS_LIKE_CONTROL.fullmatch(content))


def _without_controls(description: Mapping[str, Any], controls: Mapping[str, Any]) -> dict[str, Any]:
    added = [{**token, "special": token["content"] in controls} for token in description["added_tokens"]]
    return {**description, "added_tokens": added, "post_processor": None}
