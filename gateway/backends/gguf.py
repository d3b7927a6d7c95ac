"""What the head of a GGUF file says of a model: name, context, chat template, token texts. Tensors are never read.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from gateway.errors import SettingsError

NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
CONTROL, ADDED = 3, 4
"""The kinds of token that is never shown unless asked for, and of one that always stands for its text."""
MOST_KEYS, MOST_ITEMS, LONGEST_STRING = 4096, 4_000_000, 16 * 1024 * 1024
"""Beyond these a file is damaged or hostile: the largest vocabularies have 0.3 million tokens and 0.6 million merges."""
ENDS_OF_TURN = frozenset((
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>", "<|endoftext|>",
    "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>",
    "<|tool_response>",
))  # fmt: skip
"""Tokens that llama.cpp knows by their text to end a turn, whatever the file says of them."""

BOS_BY_KIND = frozenset(("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"))
"""Byte-level vocabularies whose prompts begin with the bos token unless the file says otherwise."""


class _Damaged(Exception):
    """The head cannot be read."""


@dataclass(frozen=True, slots=True)
class GgufModel:
    """One model file's head. Token texts are as the vocabulary writes them; None where the file has none."""

    path: Path
    name: str | None
    context: int | None
    chat_template: str | None
    bos: str | None
    eos: str | None
    bos_id: int | None
    ends: frozenset[str]
    """Texts of the tokens that end a generation."""
    control: Mapping[str, int]
    """The control tokens: text -> id."""
    added: Mapping[str, int]
    """Other tokens that always stand for one text: text -> id."""
    adds_bos: bool
    """Whether prompts begin with the bos token."""
    tokens: int
    """How many there are in the vocabulary."""


@lru_cache(maxsize=16)
def read(path: Path) -> GgufModel:
    """What the head of a model file says; SettingsError when it is none."""
    return _model(path, entries(path))


def entries(path: Path) -> dict[str, Any]:
    """All keys and values of the head of a model file; SettingsError when it is none."""
    try:
        with path.open("rb") as file:
            return _Reader(file).head()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}; give the path of a GGUF file") from None
    except (_Damaged, struct.error, UnicodeDecodeError, MemoryError) as error:
        raise SettingsError(f"{path}: not a GGUF model file ({error}); download it again or give another") from None


class _Reader:
    """Reads the head's keys and values in order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def head(self) -> dict[str, Any]:
        if self._bytes(4) != b"GGUF":
            raise _Damaged("it does not begin with GGUF")
        version = self._number("<I")
        if version not in (2, 3):
            raise _Damaged(f"GGUF version {version}")
        self._number("<Q")  # how many tensors
        keys = self._number("<Q")
        if keys > MOST_KEYS:
            raise _Damaged(f"{keys} keys")
        return {self._string(): self._value(self._number("<I")) for _ in range(keys)}

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            return self._array()
        if kind not in NUMBERS:
            raise _Damaged(f"value of kind {kind}")
        return self._number(NUMBERS[kind])

    def _array(self) -> list[Any]:
        kind, length = self._number("<I"), self._number("<Q")
        if length > MOST_ITEMS or kind == ARRAY:
            raise _Damaged(f"array of {length} items of kind {kind}")
        if kind in NUMBERS:
            one = NUMBERS[kind]
            return list(struct.unpack(f"<{length}{one[1]}", self._bytes(length * struct.calcsize(one))))
        return [self._value(kind) for _ in range(length)]

    def _string(self) -> str:
        length = self._number("<Q")
        if length > LONGEST_STRING:
            raise _Damaged(f"string of {length} bytes")
        return self._bytes(length).decode("utf-8", "replace")

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._bytes(struct.calcsize(form)))[0]

    def _bytes(self, length: int) -> bytes:
        found = self._file.read(length)
        if len(found) < length:
            raise _Damaged("it is cut short")
        return found


def _model(path: Path, head: Mapping[str, Any]) -> GgufModel:
    tokens = [token for token in _list(head, "tokens") if isinstance(token, str)]
    kinds = _list(head, "token_type")
    control, added = (
        {text: i for i, (text, kind) in enumerate(zip(tokens, kinds, strict=False)) if kind == wanted}
        for wanted in (CONTROL, ADDED)
    )
    named = (_token(head, tokens, role) for role in ("eos", "eot", "eom"))
    return GgufModel(
        path=path,
        name=_text(head.get("general.name")),
        context=_whole(head.get(f"{head.get('general.architecture')}.context_length")),
        chat_template=_text(head.get("tokenizer.chat_template")),
        bos=_token(head, tokens, "bos"),
        eos=_token(head, tokens, "eos"),
        bos_id=_whole(head.get("tokenizer.ggml.bos_token_id")),
        ends=frozenset(filter(None, named)) | ENDS_OF_TURN.intersection(tokens),
        control=control,
        added=added,
        adds_bos=_adds_bos(head),
        tokens=len(tokens),
    )


def _adds_bos(head: Mapping[str, Any]) -> bool:
    """What the file says, else what llama.cpp takes for granted of this kind of vocabulary."""
    said = head.get("tokenizer.ggml.add_bos_token")
    if isinstance(said, bool):
        return said
    return head.get("tokenizer.ggml.model") == "llama" or head.get("tokenizer.ggml.pre") in BOS_BY_KIND


def _list(head: Mapping[str, Any], name: str) -> list[Any]:
    found = head.get(f"tokenizer.ggml.{name}")
    return found if isinstance(found, list) else []


def _token(head: Mapping[str, Any], tokens: list[str], role: str) -> str | None:
    index = _whole(head.get(f"tokenizer.ggml.{role}_token_id"))
    return tokens[index] if index is not None and 0 <= index < len(tokens) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
