"""A vocabulary in which the markers of the families are tokens, as they are in the vocabularies of these families' own models.

A model of noise then meets them as one token each: it writes them inside strings, it can be drawn to them, and a bias on those
that end something lets it come to an end where nothing but chance would end a text.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import parsers
from parsers import Format, Tool
from parsers.description import Marker, TaggedArguments
from parsers.grammars.shapes import Watched
from parsers.grammars.tree import thinking_of, walk
from parsers.grammars.turn import Wanted, turn_shape

FAMILIES = tuple(name for name in parsers.names() if Path(str(parsers.get(name).template)).stem == name)
"""Those with a chat template of their own here."""
ENDS = ('"', '"}', '",', "}", "}}", "]", ",", ")", "'", "')", "null", "@")
"""What ends strings, numbers, lists, objects, recursion and the first half of an address, in JSON and in Python."""
PULL = 11.0
"""Added to the logits of what ends something: noise then takes one of these tokens more often than all others together."""
STRONGER = 1.5
"""Added on top to what ends free text: a value, reasoning, the turn; and where a call shall begin in it."""


@cache
def framing(family: str) -> tuple[str, ...]:
    """The markers of a family that its models have as tokens, and those that end its values."""
    fmt = parsers.get(family)
    written = [node.text.strip() for node in walk(fmt.turn) if isinstance(node, Marker)]
    texts = dict.fromkeys((*written, *triggers(fmt), *ends(fmt)))
    return tuple(text for text in texts if len(text) > 2 and set(text) & set("<[|"))


def ends(fmt: Format) -> tuple[str, ...]:
    """What ends reasoning and values outside of JSON."""
    thinking = thinking_of(fmt.turn)
    tagged = [node for node in walk(fmt.turn) if isinstance(node, TaggedArguments)]
    return (*(thinking.closers if thinking else ()), *(("\n" if leaf.trim else "") + leaf.close.strip() for leaf in tagged))


def triggers(fmt: Format) -> tuple[str, ...]:
    """The first of the markers with which calls begin in free text, as its own grammar watches for it."""
    tool = Tool("watched_for", parameters={"type": "object", "properties": {}})
    found = _watched(turn_shape(fmt, Wanted((tool,), must=False, parallel=True, opening="")))
    return tuple([text for text in found if tool.name not in text][:1])


def _watched(shape: Any) -> Iterator[str]:
    """The texts that are watched for, anywhere in a shape."""
    if isinstance(shape, tuple):
        for part in shape:
            yield from _watched(part)
    elif isinstance(shape, Watched):
        yield from (text for text, _ in shape.rules)
    elif is_dataclass(shape):
        for field in fields(shape):
            yield from _watched(getattr(shape, field.name))


def extend(source: Path, target: Path) -> None:
    """Write the tokenizer of a folder into another one, with the markers of all families as tokens behind its own."""
    target.mkdir(parents=True, exist_ok=True)
    tokenizer = json.loads((source / "tokenizer.json").read_text("utf-8"))
    known = {token["content"] for token in tokenizer["added_tokens"]}
    wanted = sorted({text for family in FAMILIES for text in framing(family)} - known)
    first = max(token["id"] for token in tokenizer["added_tokens"]) + 1
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    added = [{"id": first + at, "content": text, **plain} for at, text in enumerate(wanted)]
    tokenizer["added_tokens"] += added
    config = json.loads((source / "tokenizer_config.json").read_text("utf-8"))
    config["added_tokens_decoder"] |= {str(token["id"]): {"content": token["content"], **plain} for token in added}
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        (target / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Bias:
    """Token biases for the requests to one model."""

    ids: Mapping[str, int]
    end_of_turn: str

    @classmethod
    def of(cls, folder: Path) -> "Bias":
        """Those of the model in this folder."""
        tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        ids = {**tokenizer["model"]["vocab"], **{token["content"]: token["id"] for token in tokenizer["added_tokens"]}}
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        return cls(ids, config["eos_token"])

    def to_end(self, family: str) -> dict[str, float]:
        """Towards what ends strings, numbers, lists, values and reasoning."""
        pulls = {**dict.fromkeys(ENDS, PULL), **dict.fromkeys(ends(parsers.get(family)), PULL + STRONGER)}
        return {str(self.ids[text]): pull for text, pull in pulls.items() if text in self.ids}

    def to_call(self, family: str, *, and_stop: bool) -> dict[str, float]:
        """The same, and towards the beginning of a call; `and_stop`: also towards the end of the turn."""
        drawn = (*triggers(parsers.get(family)), *([self.end_of_turn] if and_stop else ()))
        return {**self.to_end(family), **{str(self.ids[text]): PULL + STRONGER for text in drawn}}
