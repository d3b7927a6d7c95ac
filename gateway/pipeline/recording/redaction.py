"""What is written down of texts: secrets never, and what was said only where that is allowed.

Whatever is replaced keeps its length, so that pieces can be cut in the same places.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from gateway.chat.plan import Plan

from .secrets import is_secret_name, without_secrets

WORD = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\.)|\w+", re.DOTALL)
"""An escape, which stays unless it is a letter's, or a word."""
LETTER = r"\u0078"
NUMBER = re.compile(r"\d+(?:[eE]\d*)?")
PLAIN = frozenset({"true", "false", "null", "none", "nan", "True", "False", "None"})

Hide = Callable[[Any], Any]
"""Gives a value of JSON as it may be written."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """`masks`: all that was said. `secrets`: texts that are hidden wherever they stand, such as the engine's key."""

    masks: bool = False
    secrets: tuple[str, ...] = ()

    def text(self, text: str, kept: frozenset[str] = frozenset()) -> str:
        """As it may be written. `kept`: words that say nothing of what was said."""
        for secret in self.secrets:
            text = text.replace(secret, "*" * len(secret))
        text = without_secrets(text)
        return WORD.sub(lambda found: _masked(found[0], kept), text) if self.masks else text

    def deep(self, kept: frozenset[str]) -> Hide:
        """The same for all texts in a value of JSON."""

        def hidden(value: Any, name: str = "") -> Any:
            if isinstance(value, str):
                return "*" * len(value) if is_secret_name(name) else self.text(value, kept)
            if isinstance(value, Mapping):
                return {key: inner if key in ("role", "type") else hidden(inner, str(key)) for key, inner in value.items()}
            return [hidden(inner) for inner in value] if isinstance(value, list | tuple) else value

        return hidden


def kept_words(plan: Plan) -> frozenset[str]:
    """Words that belong to the format or to the tools rather than to what was said."""
    texts = [*_texts(plan.format.turn), *_names(plan.request.response_format.schema)]
    if not plan.request.continues:  # else the client's words are in it
        texts.append(plan.prompt.opening)
    for tool in plan.tools:
        texts += [tool.name, *_names(tool.parameters)]
    return PLAIN.union(*(re.findall(r"\w+", text) for text in texts))


def _masked(word: str, kept: frozenset[str]) -> str:
    if word.startswith("\\u") and len(word) == len(LETTER):
        return LETTER if int(word[2:], 16) >= ord("0") else word
    if word in kept or word[0] == "\\":
        return word
    if NUMBER.fullmatch(word):
        return re.sub(r"\d", "1", word)
    return re.sub(r"[^\W_]", "x", word)


def _texts(node: Any) -> Iterator[str]:
    """All texts in a description."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, tuple):
        for inner in node:
            yield from _texts(inner)
    elif is_dataclass(node):
        for field in fields(node):
            yield from _texts(getattr(node, field.name))


def _names(schema: Any) -> Iterator[str]:
    """Names of properties at any depth, and the values that a schema lists."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, Mapping) else ()
        for key, inner in schema.items():
            if key in ("enum", "const"):
                yield from _strings(inner)
            yield from _names(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from _names(inner)


def _strings(value: Any) -> Iterable[str]:
    return [each for each in (value if isinstance(value, list | tuple) else [value]) if isinstance(each, str)]
