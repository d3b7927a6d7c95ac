"""The hidden function with which a model may decline a call that is required: it answers in words instead.

Clients never see it. Its words become content.
"""

from collections.abc import Iterable

from parsers import Tool

NAME = "answer_without_tool"
WORDS = "answer"
PARAMETERS = {
    "type": "object",
    "properties": {WORDS: {"type": "string", "description": "The complete answer to the user."}},
    "required": [WORDS],
    "additionalProperties": False,
}
DESCRIPTION = "Answers the user in words. To be called only when none of the other functions fits the request."


def no_tool(taken: Iterable[str]) -> Tool:
    """The function, under a name that none of the client's has."""
    names, name = set(taken), NAME
    while name in names:
        name += "_"
    return Tool(name, DESCRIPTION, PARAMETERS, strict=True)
