"""Llama 4, Llama 3.2 with a pythonic template, ToolACE: a list of Python calls.

    [get_weather(city='Oslo', days=3), now()]

Llama 4 may write it between `<|python_start|>` and `<|python_end|>`, and text around it. Values are Python's literals, JSON's
`true`, `false` and `null` among them. Some checkpoints write their calls as JSON all the same.
"""

from ..description import (
    Format,
    JsonCall,
    array_end,
    bare,
    content,
    either,
    gap,
    interleaved,
    many,
    marker,
    python_call,
    seq,
    soft,
)

_list = seq(marker("["), many(python_call, separator=", ", tight=True), array_end)

FORMAT = Format(
    name="llama4_pythonic",
    aliases=("pythonic", "toolace", "llama4", "llama3_pythonic"),
    models="Llama 4; Llama 3.2 with a pythonic template; ToolACE",
    template="llama4_pythonic.jinja",
    stop=("<|eot|>", "<|eot_id|>", "<|eom|>", "<|end_of_text|>"),
    turn=interleaved(
        content,
        either(
            seq(
                gap("\n"),
                either(
                    _list,
                    seq(marker("<|python_start|>"), either(_list, python_call), soft(marker("<|python_end|>"))),
                    seq(marker("```python", "```"), _list, marker("```")),
                ),
            ),
            bare(
                many(JsonCall(arguments=("parameters", "arguments"), needs_arguments=True), separator="; ", spellings=(";", ","))
            ),
        ),
    ),
    sources=("https://www.llama.com/docs/model-cards-and-prompt-formats/llama4/",),
)
