"""JSON text that is the same for the same value. Key order carries meaning (decoders write properties in it) and is kept."""

import json
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def canonical(value: Any) -> str:
    """The value as JSON text without white space. Engines keep compiled grammars by such texts, and so do we."""
    try:
        return _encode(value).decode()
    except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError, TypeError, RecursionError):
        # Integers of more than 64 bits, half characters and other things that the fast encoder does not take.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
