"""Content of the wire's items as content of the conversation."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.protocols.validation import missing, not_among, wrong_type

Json = dict[str, Any]
TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "summary_text": "text", "refusal": "refusal"}


def decoded_content(content: Any, place: str) -> Any:
    """A string, or parts in Chat's shape; whether the model takes images and files is for its template to tell."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong_type(place, "one of a string or array of objects", content)
    return [_part(part, f"{place}[{index}]") for index, part in enumerate(content)]


def decoded_output(output: Any, place: str) -> Any:
    """A tool's result; some clients send the plain value instead of a string."""
    if output is None:
        return ""
    if isinstance(output, list) and all(isinstance(part, Mapping) and "type" in part for part in output):
        return decoded_content(output, place)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def plain_text(content: Any) -> str:
    """The text in decoded content."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _part(part: Any, place: str) -> Json:
    if not isinstance(part, Mapping):
        raise wrong_type(place, "an object", part)
    kind = part.get("type")
    if kind is not None and not isinstance(kind, str):
        raise wrong_type(f"{place}.type", "a string", kind)
    if kind in TEXTS:
        text = part.get(TEXTS[kind])
        if text is None:
            raise missing(f"{place}.{TEXTS[kind]}")
        if not isinstance(text, str):
            raise wrong_type(f"{place}.{TEXTS[kind]}", "a string", text)
        return {"type": "text", "text": text}
    match kind:
        case None:
            raise missing(f"{place}.type")
        case "input_image":
            return {"type": "image_url", "image_url": {"url": part.get("image_url"), "detail": part.get("detail", "auto")}}
        case "input_file":
            return {"type": "file", "file": {key: value for key, value in part.items() if key != "type"}}
        case _:
            raise not_among(f"{place}.type", kind, ("input_text", "input_image", "output_text", "refusal"))
