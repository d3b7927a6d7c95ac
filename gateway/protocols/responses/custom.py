"""The input of a custom tool, read out of the arguments `{"input": "..."}` while they are written."""

import json
import re

from .tools import INPUT

OPENER = re.compile(rf'\s*\{{\s*"{INPUT}"\s*:\s*"')
WHOLE = re.compile(r'(?:[^"\\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u])*')
"""Characters and whole escapes; the first half of a pair waits for the second."""
REST = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)


class InputText:
    """Arguments in, text out. What does not have the expected shape is the text itself, once it is whole."""

    def __init__(self) -> None:
        self._pending = ""
        self._inside = False
        self._arguments: list[str] = []

    def feed(self, fragment: str) -> str:
        """The text that this fragment adds."""
        self._arguments.append(fragment)
        self._pending += fragment
        if not self._inside:
            opener = OPENER.match(self._pending)
            if opener is None:
                return ""
            self._inside = True
            self._pending = self._pending[opener.end() :]
        match = WHOLE.match(self._pending)
        raw = match[0] if match else ""
        self._pending = self._pending[len(raw) :]
        return _unescaped(raw)

    def finish(self) -> str:
        """What is left to be told at the end."""
        if self._inside:
            rest = REST.match(self._pending)
            return _unescaped(rest[0]) if rest else ""
        arguments = "".join(self._arguments)
        try:
            found = json.loads(arguments).get(INPUT)
        except (ValueError, AttributeError, RecursionError):
            return arguments
        return found if isinstance(found, str) else arguments


def _unescaped(raw: str) -> str:
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw
