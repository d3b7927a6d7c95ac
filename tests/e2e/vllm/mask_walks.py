"""Walks through constraints as an engine of noise takes them, without the engine. Runs in the engine's own environment.

python mask_walks.py TOKENIZER_FOLDER VOCABULARY_SIZE < jobs > walks

Each line of `jobs` is a JSON object: `tag`, a structural tag; `bias`, as a request has it, towards what ends something; `stop`,
the token that ends the turn; `seed`. Each line of `walks` tells what came of one: `text`, the whole turn, or as far as it came;
`ended`; and `faults`, in words. A walk takes any token that the mask allows. Before each step mask and matcher are compared: the
matcher, which an engine asks next, must take tokens that the mask allows, and none that the mask refuses.
"""

import json
import math
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgrammar
from transformers import AutoTokenizer

LONGEST = 300
"""Tokens of a walk."""
ENDING = (0.2, 0.9)
"""How often a walk takes what ends something where it may: at first, and once it has become long."""
LONG = 60
TRIED = 24
"""Tokens of each kind that are tried at each step."""
TOLD = 120


class Vocabulary:
    """The tokens of a model, and the engine's compiler for them."""

    def __init__(self, folder: str, size: int) -> None:
        info = xgrammar.TokenizerInfo.from_huggingface(AutoTokenizer.from_pretrained(folder), vocab_size=size)
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self.texts: list[bytes] = info.decoded_vocab
        self._mask = xgrammar.allocate_token_bitmask(1, size)
        self.spelled = np.array([bool(text) for text in self.texts])
        self.mixed = np.array([any(byte < 128 and not chr(byte).isalnum() for byte in text.strip()) for text in self.texts])
        """Tokens with more than letters and digits: a part of one may be allowed where another is not."""

    def allowed_by(self, matcher: xgrammar.GrammarMatcher) -> np.ndarray:
        """Whether a token is allowed, for each."""
        self._mask.fill_(-1)  # where the matcher allows all, it may leave the mask as it is
        matcher.fill_next_token_bitmask(self._mask)
        return np.unpackbits(self._mask.numpy().view(np.uint8), bitorder="little")[: len(self.texts)].astype(bool)


class Walk:
    """One turn."""

    def __init__(self, vocabulary: Vocabulary, job: dict[str, Any]) -> None:
        self._vocabulary = vocabulary
        self._matcher = xgrammar.GrammarMatcher(vocabulary.compiler.compile_structural_tag(job["tag"]))
        self._weights = {int(token): math.exp(pull) for token, pull in job["bias"].items()}
        self._stop = int(job["stop"])
        self._chance = random.Random(job["seed"])
        self._taken: list[int] = []
        self.faults: list[str] = []

    @property
    def ended(self) -> bool:
        return bool(self._matcher.is_terminated())

    @property
    def text(self) -> bytes:
        return b"".join(self._vocabulary.texts[token] for token in self._taken if token != self._stop)

    def run(self) -> None:
        """Walk until the turn has ended, or is too long, or mask and matcher do not agree."""
        while len(self._taken) < LONGEST and not self.ended and not self.faults:
            allowed = self._vocabulary.allowed_by(self._matcher)
            self.faults += [f"{fault} behind {self.text[-TOLD:]!r}" for fault in self._compared(allowed)]
            if allowed.any():
                self._take(self._next(allowed))

    def _compared(self, allowed: np.ndarray) -> Iterator[str]:
        if not allowed.any():
            yield "the mask allows nothing"
        for token in self._some(allowed):
            if not self._would_take(token):
                yield f"the mask allows {self._vocabulary.texts[token]!r}, which the matcher refuses,"
        for token in self._some(~allowed & self._vocabulary.spelled):
            if self._would_take(token):
                yield f"the mask refuses {self._vocabulary.texts[token]!r}, which the matcher takes,"

    def _some(self, tokens: np.ndarray) -> Iterator[int]:
        for kind in (tokens & self._vocabulary.mixed, tokens & ~self._vocabulary.mixed):
            found = np.flatnonzero(kind)
            yield from (int(found[place]) for place in self._chance.sample(range(len(found)), min(TRIED, len(found))))

    def _would_take(self, token: int) -> bool:
        if taken := self._matcher.accept_token(token):
            self._matcher.rollback(1)
        return bool(taken)

    def _next(self, allowed: np.ndarray) -> int:
        long = len(self._taken) > LONG
        if long and allowed[self._stop]:
            return self._stop
        ends = [token for token in self._weights if allowed[token]]
        if ends and self._chance.random() < ENDING[long]:
            return self._chance.choices(ends, [self._weights[token] for token in ends])[0]
        mixed = allowed & self._vocabulary.mixed
        return int(self._chance.choice(np.flatnonzero(mixed if mixed.any() and self._chance.random() < 1 / 2 else allowed)))

    def _take(self, token: int) -> None:
        if self._matcher.accept_token(token):
            self._taken.append(token)
        else:
            self.faults.append(f"the matcher refuses {self._vocabulary.texts[token]!r} behind {self.text[-TOLD:]!r}")


def main() -> None:
    vocabulary = Vocabulary(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        walk = Walk(vocabulary, json.loads(line))
        walk.run()
        found = {"text": walk.text.decode("utf-8", "replace"), "ended": walk.ended, "faults": walk.faults}
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
