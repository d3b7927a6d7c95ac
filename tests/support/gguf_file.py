"""Model files in the GGUF layout, written piece by piece: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md"""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gateway.backends import gguf

ALIGNMENT = 32
FLOAT32 = 0
KINDS = {str: gguf.STRING, bool: 7, float: 6, int: 4}
NUMBERS = {bool: "<?", float: "<f", int: "<I"}


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def strings(*values: str) -> bytes:
    return struct.pack("<IQ", gguf.STRING, len(values)) + b"".join(map(text, values))


def head(*entries: bytes, version: int = 3, tensors: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, len(entries)) + b"".join(entries)


def said(key: str, value: str | bool | float | int | Sequence[str] | Sequence[int]) -> bytes:
    """The entry of a plain value, or of a list of texts or whole numbers."""
    if isinstance(value, str | bool | float | int):
        packed = text(value) if isinstance(value, str) else struct.pack(NUMBERS[type(value)], value)
        return entry(key, KINDS[type(value)], packed)
    if all(isinstance(each, str) for each in value):
        return entry(key, gguf.ARRAY, strings(*map(str, value)))
    return entry(key, gguf.ARRAY, struct.pack(f"<IQ{len(value)}i", 5, len(value), *value))


def write(path: Path, entries: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    """A whole file: what its head says, and arrays of floats by name, whose last axis is the innermost."""
    described, data = b"", b""
    for name, values in tensors.items():
        shape = values.shape[::-1]
        described += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, FLOAT32, len(data))
        data += _aligned(values.astype(np.float32).tobytes())
    start = head(*(said(key, value) for key, value in entries.items()), tensors=len(tensors)) + described
    path.write_bytes(_aligned(start) + data)


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
