"""Models of noise for the embedded engine: files made on the spot, one for each family, which write thousands of tokens a second.

A file's vocabulary begins with that of the default model and goes on with the family's markers. Its one layer is random. All that
it has learnt, as every model has, is that behind a call the turn ends.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import parsers
from gateway.backends import gguf
from gateway.backends.models import default_model
from parsers import Format, Message, ToolCall
from tests.e2e.scale.vocabulary import ENDS, Bias, framing, triggers
from tests.support import gguf_file

WORDS = 8192
"""Tokens taken from the default model, those that merges make first."""
WIDTH, HEADS, INNER = 64, 2, 128
SIZES = {
    "general.architecture": "llama",
    "general.name": "noise",
    "llama.context_length": 8192,
    "llama.embedding_length": WIDTH,
    "llama.feed_forward_length": INNER,
    "llama.block_count": 1,
    "llama.attention.head_count": HEADS,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
}
NORMAL = 1
END_OF_LIST = "}]"
"""What ends calls that are written as a list."""
SEED = 7
FLAG = 8.0
"""How far the first coordinate of what may end a call stands out; no other token has any of it."""
CERTAINTY = 4.0
"""What the end of the turn makes of that coordinate: some twenty nats above the noise."""
SPREAD = 1.5
"""The deviation of a token's logits."""
CERTAIN = 18.0
"""Added to the logit of a control token that begins calls: no string can hold it, so nothing but the call follows."""
CONTROL_SHAPE = re.compile(r"<\|[^|<>]+\|>|<｜[^｜<>]+｜>|\[[A-Z_]+\]|</?s>")


def biases(file: Path, fmt: Format) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Token biases for requests to the model of this file: for demanded calls, and where it may call."""
    ids = {text: at for at, text in enumerate(gguf.entries(file)["tokenizer.ggml.tokens"])}
    known = Bias(ids, fmt.stop[0])
    (trigger,) = triggers(fmt)
    control = CONTROL_SHAPE.match(trigger)
    if control is None:
        return known.to_end(fmt.name), known.to_call(fmt.name, and_stop=False)
    return known.to_end(fmt.name), {**known.to_end(fmt.name), str(ids[control.group()]): CERTAIN}


def make(family: str, folder: Path, *, remainder: int = 0) -> Path:
    """The file of a model that speaks one family's format. `remainder`: how many tokens it has beyond a multiple of 32."""
    fmt = parsers.get(family)
    plain, merges = _words()
    control, added = _markers(fmt)
    missing = (remainder - len(plain) - len(control) - len(added)) % 32
    control += [f"<|unused_{at}|>" for at in range(missing)]
    tokens = [*plain, *control, *added]
    vocabulary = {
        "model": "gpt2",
        "pre": "smollm",
        "tokens": tokens,
        "token_type": [NORMAL] * len(plain) + [gguf.CONTROL] * len(control) + [gguf.ADDED] * len(added),
        "merges": merges,
        "eos_token_id": tokens.index(fmt.stop[0]),
        "add_bos_token": False,
    }
    said = {**SIZES, **{f"tokenizer.ggml.{key}": value for key, value in vocabulary.items()}}
    target = folder / f"noise-{family}.gguf"
    gguf_file.write(target, said, dict(_weights(tokens, fmt)))
    return target


@cache
def _words() -> tuple[list[str], list[str]]:
    """The tokens of the default model that are kept, and the merges that make them."""
    source = gguf.entries(default_model())
    every, merges = source["tokenizer.ggml.tokens"], source["tokenizer.ggml.merges"]
    texts = [text for text in every if not re.fullmatch("<.+>", text)]
    kept = list(dict.fromkeys((*_byte_letters(), *texts[:WORDS], *ENDS, END_OF_LIST)))
    known = set(kept)
    return kept, [pair for pair in merges if pair.replace(" ", "") in known and set(pair.split(" ")) <= known]


def _byte_letters() -> Iterator[str]:
    """The letters that stand for single bytes in vocabularies of this kind."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    hidden = (byte for byte in range(256) if byte not in shown)
    yield from (chr(byte) for byte in sorted(shown))
    yield from (chr(256 + at) for at, _ in enumerate(hidden))


def _markers(fmt: Format) -> tuple[list[str], list[str]]:
    """A family's markers: control tokens, and others that are always one token."""
    written = [*framing(fmt.name), *fmt.stop]
    control = list(dict.fromkeys(found for text in written for found in CONTROL_SHAPE.findall(text)))
    added = [text for text in dict.fromkeys(written) if not CONTROL_SHAPE.search(text)]
    return control, added


def _weights(tokens: list[str], fmt: Format) -> Iterator[tuple[str, Any]]:
    chance = np.random.default_rng(SEED)

    def noise(rows: int, columns: int, spread: float) -> Any:
        return chance.normal(0, spread, (rows, columns))

    embedding = noise(len(tokens), WIDTH, 1)
    embedding[:, 0] = [FLAG * ends for ends in _may_end_a_call(tokens, fmt)]
    output = noise(len(tokens), WIDTH, SPREAD / WIDTH**0.5)
    output[:, 0] = 0
    output[tokens.index(fmt.stop[0]), 0] = CERTAINTY
    yield "token_embd.weight", embedding
    yield "output.weight", output
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        yield f"{name}.weight", np.ones(WIDTH)
    shapes = {"attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH)}
    shapes |= {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    for name, (rows, columns) in shapes.items():
        values = noise(rows, columns, 0.5 / columns**0.5)
        if name in ("attn_output", "ffn_down"):
            values[0] = 0  # nothing else writes the first coordinate
        yield f"blk.0.{name}.weight", values


def _may_end_a_call(tokens: list[str], fmt: Format) -> list[bool]:
    """Of each token, whether it is what the family ends its calls with: a marker, or what ends JSON."""
    written = parsers.write(fmt, Message(tool_calls=(ToolCall("a", "{}"),))).rstrip()
    markers = {text for text in framing(fmt.name) if written.endswith(text)}
    end = END_OF_LIST if written.endswith(END_OF_LIST) else written[-1]  # a lone bracket also ends markers of the prompt
    return [text in markers if markers else text.endswith(end) for text in tokens]
