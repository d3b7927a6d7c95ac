"""The strict reading of a description again, for decoders: tools to a constraint in a dialect that an engine understands."""

from collections.abc import Callable, Mapping
from typing import Any

from ..description import Format
from ..errors import ConstraintError
from ..message import Tool, Tools
from .lark import lark
from .shapes import Shape
from .structural_tag import json_tag, structural_tag, unenforced
from .turn import Wanted, turn_shape

__all__ = ["constraint", "json_tag", "unenforced"]

WORDS = ("none", "auto", "required")
DIALECTS: dict[str, Callable[[Shape], dict[str, Any] | str]] = {"structural_tag": structural_tag, "lark": lark}


def constraint(  # noqa: PLR0913 - the public face, fixed
    fmt: Format,
    tools: Tools,
    choice: str | Mapping[str, Any] = "auto",
    *,
    parallel: bool = True,
    dialect: str = "structural_tag",
    opening: str = "",
) -> dict[str, Any] | str | None:
    """What holds a turn to valid calls while it is decoded; None when nothing is to be held: choice "none", or no tools.

    `choice`: "none", "auto" (free text, valid calls), "required" (calls only), a function's name, or OpenAI's object for it (the
    way to name a function that is called like one of these words).
    `parallel`: more than one call. `opening`: what the prompt already wrote of the turn. ConstraintError when it cannot be said.
    """
    declared = tuple(Tool.of(tool) for tool in tools or ())
    word = choice if isinstance(choice, str) and choice in WORDS else None
    if word == "none" or not declared:
        return None
    if dialect not in DIALECTS:
        raise ConstraintError(f"there is no dialect {dialect!r} (known: {', '.join(DIALECTS)})")
    called = declared if word else _named(declared, _name(choice))
    several = parallel and fmt.parallel and word is not None
    shape = turn_shape(fmt, Wanted(called, must=word != "auto", parallel=several, opening=opening))
    return DIALECTS[dialect](shape)


def _named(declared: tuple[Tool, ...], name: str) -> tuple[Tool, ...]:
    found = tuple(tool for tool in declared if tool.name == name)
    if not found:
        raise ConstraintError(f"there is no function {name!r} among the tools", tool=name)
    return found


def _name(choice: str | Mapping[str, Any]) -> str:
    if isinstance(choice, str):
        return choice
    function = choice.get("function")
    name = function.get("name") if isinstance(function, Mapping) else choice.get("name")
    if not isinstance(name, str):
        raise ConstraintError("the tool choice names no function")
    return name
