"""Real constrained decoders over a vocabulary of single bytes: what an engine's mask would let a model write, without a model."""

import importlib
import json
import random
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from gateway.planning import xgrammar_check

END = 256
"""The token that ends a turn."""


class Decoder(Protocol):
    """One turn under a constraint."""

    def allowed(self) -> list[int]:
        """The bytes that may come next, and END where the turn may end."""
        ...

    def take(self, byte: int) -> bool:
        """Write this byte; whether it was allowed."""
        ...


def decoder(constraint: dict[str, Any] | str) -> Decoder:
    """A fresh decoder for a constraint of either dialect."""
    return LarkDecoder(constraint) if isinstance(constraint, str) else TagDecoder(json.dumps(constraint))


def refusal(constraint: dict[str, Any] | str, text: str) -> str | None:
    """Where a text breaks a constraint; None when it is a whole turn under it."""
    decoding = decoder(constraint)
    for place, byte in enumerate(raw := text.encode()):
        if not decoding.take(byte):
            return f"refused at: {raw[max(0, place - 60) : place + 1]!r}"
    return None if END in decoding.allowed() else "the turn may not end there"


def wander(constraint: dict[str, Any] | str, pieces: Iterable[str], *, seed: int, longest: int = 1500) -> str | None:
    """A random turn under a constraint, put together from pieces as far as they are allowed; None when it does not end."""
    chance = random.Random(seed)
    decoding = decoder(constraint)
    characters = [[character.encode() for character in piece] for piece in pieces]
    text = bytearray()
    while len(text) < longest:
        allowed = set(decoding.allowed())
        if END in allowed and (len(allowed) == 1 or chance.random() < 0.2):
            return text.decode()
        fitting = [piece for piece in characters if piece[0][0] in allowed]
        if not fitting:
            byte = min(allowed - {END})
            assert decoding.take(byte)
            text.append(byte)
            continue
        for character in chance.choice(fitting):
            taken = [decoding.take(byte) for byte in character]
            if any(taken) and not all(taken):
                return None  # half a character: no vocabulary of an engine goes on from there
            if not all(taken):
                break
            text += character
    return None


class LarkDecoder:
    """llguidance."""

    def __init__(self, grammar: str) -> None:
        self._matcher = LLMatcher(_byte_tokenizer(), LLMatcher.grammar_from_lark(grammar), log_level=0)
        assert not self._matcher.is_error(), self._matcher.get_error()

    def allowed(self) -> list[int]:
        mask = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        found = np.nonzero(np.unpackbits(mask, bitorder="little")[: END + 1])[0].tolist()
        return [token for token in found if token != END or self._matcher.is_accepting()]

    def take(self, byte: int) -> bool:
        return self._matcher.try_consume_tokens([byte]) == 1


class _Bytes:
    """What llguidance wants to know of a vocabulary."""

    eos_token_id = END
    bos_token_id = None
    tokens = (*(bytes([value]) for value in range(END)), b"</s>")
    special_token_ids = (END,)

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


@lru_cache(maxsize=1)
def _byte_tokenizer() -> LLTokenizer:
    return LLTokenizer(TokenizerWrapper(_Bytes()), slices=[])


class TagDecoder:
    """xgrammar, whose own matcher class imports torch for nothing but the mask's type. Tokens behind END are `pieces`."""

    def __init__(self, tag: str, pieces: tuple[bytes, ...] = ()) -> None:
        core = _xgrammar("base")._core
        self._matcher = core.GrammarMatcher(_compiler(pieces).compile_structural_tag(tag)._handle, None, False, -1, None)
        self._size = END + 1 + len(pieces)
        self._mask = np.zeros((1, -(-self._size // 32)), dtype=np.int32)

    def allowed(self) -> list[int]:
        self._mask.fill(-1)  # where all is allowed it may be left as it is
        self._matcher.fill_next_token_bitmask(self._mask, 0, False)
        return np.nonzero(np.unpackbits(self._mask.view(np.uint8), bitorder="little")[: self._size])[0].tolist()

    def take(self, byte: int) -> bool:
        return bool(self._matcher.accept_token(byte, False))

    def takes(self) -> list[int]:
        """What `take` would take, which is to be what is allowed."""
        return [token for token in range(self._size) if self._would_take(token)]

    def _would_take(self, token: int) -> bool:
        if taken := self.take(token):
            self._matcher.rollback(1)
        return taken


def _xgrammar(module: str) -> Any:
    assert xgrammar_check.available()
    return importlib.import_module(f"xgrammar.{module}")


@lru_cache(maxsize=2)
def _compiler(pieces: tuple[bytes, ...]) -> Any:
    tokenizer = _xgrammar("tokenizer_info")
    vocabulary = [bytes([value]) for value in range(END)] + [b"</s>", *pieces]
    info = tokenizer.TokenizerInfo(vocabulary, vocab_type=tokenizer.VocabType.RAW, stop_token_ids=[END])
    return _xgrammar("compiler").GrammarCompiler(info, max_threads=1)
