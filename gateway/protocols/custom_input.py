"""The input of a custom tool: to the model, the one text argument of a function; to the client, text.

It is read out of the arguments `{"input": "..."}` while they are written, each character once, whatever the cutting.
"""

import json
import re

INPUT = "input"
SPACE = r"\s{0,64}"
OPENER = re.compile(rf'{SPACE}\{{{SPACE}"{INPUT}"{SPACE}:{SPACE}"')
LONGEST_OPENER = 4 * 64 + len(f'{{"{INPUT}":"')
HEX4 = r"[0-9a-fA-F]{4}"
LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
HIGH = rf"\\u[dD][89abAB][0-9a-fA-F]{{2}}(?:{LOW}|(?=[^\\])|(?=\\[^u])|(?=\\u(?:[^dD]|[dD][^c-fC-F])))"
WHOLE = re.compile(rf'(?:[^"\\]|\\["\\/bfnrt]|{HIGH}|\\u(?![dD][89abAB]){HEX4})*')
"""Characters and whole escapes; the first half of a pair waits for what follows it."""
LONGEST_UNIT = 12
REST = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)


class InputText:
    """Arguments in, text out. What does not have the expected shape is the text itself, once it is whole."""

    def __init__(self) -> None:
        self._pending = ""
        self._inside = False
        self._stuck = False
        """Nothing more can be told before the end."""
        self._late: list[str] = []
        """What came since."""

    def feed(self, fragment: str) -> str:
        """The text that this fragment adds."""
        if self._stuck:
            self._late.append(fragment)
            return ""
        self._pending += fragment
        if not self._inside and not self._opened():
            return ""
        match = WHOLE.match(self._pending)
        raw = match[0] if match else ""
        self._pending = self._pending[len(raw) :]
        self._stuck = self._pending[:1] == '"' or len(self._pending) >= LONGEST_UNIT
        return unescaped(raw)

    def _opened(self) -> bool:
        opener = OPENER.match(self._pending)
        if opener is None:
            self._stuck = len(self._pending) >= LONGEST_OPENER
            return False
        self._inside = True
        self._pending = self._pending[opener.end() :]
        return True

    def finish(self) -> str:
        """What is left to be told at the end."""
        left = self._pending + "".join(self._late)
        if self._inside:
            rest = REST.match(left)
            return unescaped(rest[0]) if rest else ""
        return _input_of_other(left)


def input_of(arguments: str) -> str:
    """The input in whole arguments."""
    reader = InputText()
    return reader.feed(arguments) + reader.finish()


def arguments_of(text: str) -> str:
    """The arguments that carry this input."""
    return json.dumps({INPUT: text}, ensure_ascii=False)


def _input_of_other(arguments: str) -> str:
    try:
        given = json.loads(arguments)
        found = given.get(INPUT, "" if not given else None)
    except (ValueError, AttributeError, RecursionError):
        return arguments
    return found if isinstance(found, str) else arguments


def unescaped(raw: str) -> str:
    """What the inside of a JSON string says; the text itself where it is none."""
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw
