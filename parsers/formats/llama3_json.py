"""Llama 3.1, 3.2, 3.3: a bare JSON object with `name` and `parameters`; no marker announces it and none ends it.

    {"name": "get_weather", "parameters": {"city": "Oslo"}}

`<|python_tag|>` may stand before it. Several calls are separated by `; `, by a newline, or by nothing. An object is a call only
if it has a name and `parameters` or `arguments`; any other JSON is text. Models trained on several prompts also write
`<function=get_weather>{"city": "Oslo"}</function>`.
"""

from ..description import (
    Format,
    JsonCall,
    array_end,
    call,
    content,
    either,
    interleaved,
    json_arguments,
    many,
    marker,
    seq,
    soft,
    tool_name,
    unwritten,
)
from ..shapes import function_end

_call = JsonCall(arguments=("parameters", "arguments"), needs_arguments=True)
_calls = many(_call, separator="; ", spellings=(";", ","))
_array = seq(marker("["), many(_call, separator=",", tight=True), array_end)

FORMAT = Format(
    name="llama3_json",
    aliases=("llama3", "llama4_json", "llama"),
    models="Llama 3.1, 3.2, 3.3; Llama 4 with a JSON template",
    template="llama3_json.jinja",
    stop=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    turn=interleaved(
        content,
        either(
            seq(unwritten(marker("<|python_tag|>")), _calls),
            _array,
            seq(marker("```json", "```"), either(_call, _array), marker("```")),
            call(marker("<function="), tool_name, soft(marker(">")), json_arguments, soft(function_end)),
        ),
    ),
    sources=("https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/",),
)
