"""What stands in a prompt for a control token of a client's text until the prompt is encoded.

It is two private-use characters around a number. Where a template writes JSON, marks before the second one count how often the
text it stands for must be escaped.
"""

import json
import re
from collections.abc import Sequence

OPEN, CLOSE = "\ue000", "\ue001"
END = "\ue004"
"""Stands behind the text of a turn that goes on, until the prompt is cut there."""
_AS_JSON, _AS_ASCII = "\ue002", "\ue003"
_WHOLE = re.compile(f"{OPEN}(\\d+)([{_AS_JSON}{_AS_ASCII}]*){CLOSE}")
_ESCAPED = re.compile(r"\\ue000(\d+)((?:\\ue00[23])*)\\ue001")


def placeholder(number: int) -> str:
    """The placeholder for the text of this number."""
    return f"{OPEN}{number}{CLOSE}"


def within_json(text: str, *, ascii_only: bool) -> str:
    """JSON that was just written, its placeholders marked as standing in it."""
    if ascii_only:
        text = _ESCAPED.sub(lambda match: json.loads(f'"{match[0]}"'), text)
    if CLOSE not in text:
        return text
    mark = _AS_ASCII if ascii_only else _AS_JSON
    return _WHOLE.sub(lambda match: f"{OPEN}{match[1]}{match[2]}{mark}{CLOSE}", text)


def restored(text: str, hidden: Sequence[str]) -> str:
    """The text with what was hidden in the places of its placeholders."""
    return _WHOLE.sub(lambda match: _escaped(hidden[int(match[1])], match[2]), text) if hidden else text


def blind(text: str) -> str:
    """The text with a sign that means nothing in the places of its placeholders."""
    return _WHOLE.sub("\ufffd", text)


def _escaped(text: str, marks: str) -> str:
    for mark in marks:
        text = json.dumps(text, ensure_ascii=mark == _AS_ASCII)[1:-1]
    return text
