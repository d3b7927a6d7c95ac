"""Granite 3: an array of calls behind a marker that is a token in 3.0 and text in 3.1; nothing closes it.

    <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]

Granite 3.2 and 3.3 may think in prose, announced by "Here is my thought process:" and ended by "Here is my response:".
"""

from ..description import (
    Format,
    array_end,
    content,
    either,
    gap,
    interleaved,
    json_call,
    many,
    marker,
    optional,
    reasoning,
    seq,
    unwritten,
)

FORMAT = Format(
    name="granite3",
    aliases=("granite",),
    models="Granite 3.0, 3.1, 3.2, 3.3",
    stop=("<|end_of_text|>", "<|end_of_role|>"),
    turn=seq(
        optional(
            marker("Here is my thought process:", "Here's my thought process:"),
            gap("\n"),
            reasoning,
            gap("\n\n"),
            marker("Here is my response:", "Here's my response:"),
            gap("\n"),
        ),
        interleaved(
            content,
            seq(
                marker("<|tool_call|>", "<tool_call>"),
                either(seq(marker("["), many(json_call, separator=", ", tight=True), array_end), json_call),
                unwritten(marker("</tool_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/ibm-granite/granite-3.3-8b-instruct",),
)
