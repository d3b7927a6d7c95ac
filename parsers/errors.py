"""Exceptions of `parsers`. They are for people who write code or descriptions; a model that misbehaves is data."""


class ParsersError(Exception):
    """Base of everything this package raises."""


class FormatError(ParsersError):
    """A description cannot be compiled: it is ambiguous or incomplete."""


class UnwritableError(ParsersError):
    """This message has no text in this format."""


class UnknownFormat(ParsersError, KeyError):
    """No format has this name or alias; the message names the nearest one."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""


class ConstraintError(ParsersError):
    """No constraint can be built from these tools. `tool` and `path` say where.

    `path` is the place in the tool's schema, as keys and indices.
    """

    def __init__(self, message: str, *, tool: str | None = None, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.tool = tool
        self.path = path
