"""Whether decoding that is held to calls could write a turn: the grammar that would be sent, run here on the turn's bytes."""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gateway.chat.plan import Dialect
from gateway.planning import xgrammar_check


def accepts(dialect: Dialect, constraint: Any, text: str) -> bool | None:
    """None where the dialect's library is not installed."""
    return _ACCEPTORS[dialect](constraint, text)


def _tag(constraint: Any, text: str) -> bool | None:
    return xgrammar_check.tag_accepts(json.dumps(constraint), text)


def _lark(constraint: Any, text: str) -> bool | None:
    try:
        from llguidance import LLMatcher, grammar_from
    except ImportError:
        return None
    matcher = LLMatcher(_bytes(), grammar_from("lark", constraint))
    tokens = list(text.encode())
    return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


@lru_cache(maxsize=1)
def _bytes() -> Any:
    from llguidance import LLTokenizer

    return LLTokenizer("byte")


_ACCEPTORS: dict[Dialect, Callable[[Any, str], bool | None]] = {"structural_tag": _tag, "lark": _lark}
