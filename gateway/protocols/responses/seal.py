"""Text in a form that clients keep and send back but do not show. It is not secret: whoever has it may know what it says."""

import base64
import binascii
from typing import Any

SEAL = "toolwire."


def seal(text: str) -> str:
    """The text, sealed."""
    return SEAL + base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()


def unsealed(blob: Any) -> str:
    """The text in it; nothing when it is not one of ours."""
    if not isinstance(blob, str) or not blob.startswith(SEAL):
        return ""
    try:
        return base64.urlsafe_b64decode(blob.removeprefix(SEAL)).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        return ""
